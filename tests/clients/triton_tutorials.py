"""triton_tutorials.py FOLDER [NAME]...: Triton's own tutorials, unchanged: their kernels run, their own checks decide; their benchmarks are left out.
What torch computes beside them by kernels of its own, which its wheel has as machine code alone, is computed on the CPU."""
import glob
import os
import runpy
import sys

folder = sys.argv.pop(1)
import torch
import triton
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from checks import check


class OnTheCpu(TorchDispatchMode):
    """An operation of torch's for which there is no kernel, with its tensors copied there and back; in 32 bits, as a GPU computes with 16."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        try:
            return func(*args, **kwargs)
        except RuntimeError:
            pass  # what is wrong otherwise is so there, too
        copies, halves = {}, set()

        def there(x):
            if isinstance(x, torch.Tensor) and x.is_cuda:
                if x.dtype in (torch.float16, torch.bfloat16):
                    halves.add(x.dtype)
                copies[id(x)] = x, x.cpu().float() if x.dtype in halves else x.cpu()
                return copies[id(x)][1]
            return torch.device("cpu") if isinstance(x, torch.device) else x

        out = func(*tree_map(there, args), **tree_map(there, kwargs))
        if func._schema.is_mutable:
            for x, copy in copies.values():
                x.copy_(copy)
        back = {id(copy): x for x, copy in copies.values()}

        def here(x, narrow=True):
            if not isinstance(x, torch.Tensor):
                return x
            dtype = next(iter(halves)) if halves and narrow and x.dtype == torch.float32 else x.dtype
            return back.get(id(x), x.to("cuda", dtype))

        if func is torch.ops.aten.native_layer_norm.default:
            return here(out[0]), *(here(statistics, narrow=False) for statistics in out[1:])
        return tree_map(here, out)


def tutorial(path):
    def test():
        print(f"# {os.path.basename(path)}", flush=True)
        with OnTheCpu():
            runpy.run_path(path, run_name="__main__")

    return test


show = torch.Tensor.__repr__  # which switches modes off
torch.Tensor.__repr__ = lambda x, **options: show(x.cpu(), **options)
triton.testing.Mark.run = lambda self, *args, **kwargs: None
for path in sorted(glob.glob(os.path.join(folder, "[0-9]*.py"))):
    check(os.path.basename(path)[:-3], tutorial(path))
