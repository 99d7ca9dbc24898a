"""torch.compile on tensors of device `cuda` against the CPU, forward and backward, one check for each module or function of torch.nn,
torch.nn.functional and torch: the result, the gradient of the first input and those of a module's parameters. With CONSTANT_FOLDING=0
inductor does not fold constants, which it does by eager operations on the device."""
import copy
import os
import re

import torch
import torch.nn.functional as F
from torch import nn

from checks import check

OPTIONS = {"joint_graph_constant_folding": False} if os.environ.get("CONSTANT_FOLDING") == "0" else None
ROWS, COLUMNS = 32, 96

torch.manual_seed(0)


def like_x():
    return torch.randn(ROWS, COLUMNS)


def labels():
    return torch.randint(0, COLUMNS, (ROWS,))


def signs():
    return torch.randint(0, 2, (ROWS,)).float() * 2 - 1


def close(what, got, expected):
    got, expected = got.detach().cpu(), expected.detach()
    if got.shape != expected.shape:
        return f"{what} has shape {tuple(got.shape)}, not {tuple(expected.shape)}"
    if not torch.allclose(got, expected, rtol=2e-4, atol=2e-5):
        return f"{what} is off by {(got - expected).abs().max().item():.3g}"


def compare(function, inputs):
    torch.compiler.reset()  # one function after the other: there is a limit for one
    module = isinstance(function, nn.Module)
    there = copy.deepcopy(function).cuda() if module else function
    on_cpu = [x.requires_grad_() if i == 0 and x.is_floating_point() else x for i, x in enumerate(inputs)]
    on_cuda = [x.detach().cuda().requires_grad_(x.requires_grad) for x in on_cpu]
    expected, got = function(*on_cpu), torch.compile(there, options=OPTIONS)(*on_cuda)
    wrong = close("the result", got, expected)
    if wrong:
        return wrong
    weights = torch.randn(expected.shape)
    expected.backward(weights)
    got.backward(weights.cuda())
    gradients = [("the input", on_cuda[0], on_cpu[0])]
    if module:
        gradients += [(f"`{name}`", mine, theirs) for (name, theirs), mine in zip(function.named_parameters(), there.parameters())]
    for name, mine, theirs in gradients:
        wrong = wrong or theirs.grad is not None and close(f"the gradient of {name}", mine.grad, theirs.grad)
    return wrong or None


def run(function, inputs):
    """With the operation that is to blame, where torch names it."""
    try:
        return compare(function, inputs)
    except RuntimeError as e:
        operation = re.search(r"While executing .*target=torch\.ops\.([\w.]+)", str(e))
        if not operation:
            raise
        first = next(line for line in str(e).splitlines() if "Error: " in line)
        raise RuntimeError(f"Error: {operation[1]}: {first}") from e


def residual(x):
    return x + F.gelu(F.layer_norm(x, x.shape[-1:]))


def rotary(x):
    a, b = x.chunk(2, -1)
    angle = torch.arange(a.shape[-1], device=x.device) * 0.01
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def rms_norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def of_rows(make=None):
    """Functions of x, of ROWS rows, and of what `make` gives."""
    return lambda: [like_x(), *(make() if make else ())]


def of_shape(*shape):
    return lambda: [torch.randn(shape)]


CHECKS = [
    # activations
    (of_rows(), {
        "GELU": nn.GELU(), "GELU (tanh)": nn.GELU("tanh"), "ReLU": nn.ReLU(), "ReLU6": nn.ReLU6(), "SiLU": nn.SiLU(), "ELU": nn.ELU(), "CELU": nn.CELU(), "SELU": nn.SELU(),
        "Softplus": nn.Softplus(), "Mish": nn.Mish(), "Hardswish": nn.Hardswish(), "Hardsigmoid": nn.Hardsigmoid(), "Hardtanh": nn.Hardtanh(),
        "LeakyReLU": nn.LeakyReLU(), "Sigmoid": nn.Sigmoid(), "Tanh": nn.Tanh(), "Softsign": nn.Softsign(), "Tanhshrink": nn.Tanhshrink(),
        "Softshrink": nn.Softshrink(), "Hardshrink": nn.Hardshrink(), "Threshold": nn.Threshold(0.1, 0.5), "LogSigmoid": nn.LogSigmoid(), "PReLU": nn.PReLU(),
        "GLU": nn.GLU(), "Softmax": nn.Softmax(-1), "Softmin": nn.Softmin(-1), "LogSoftmax": nn.LogSoftmax(-1),
    }),
    # norms, shapes
    (of_rows(), {
        "LayerNorm": nn.LayerNorm(COLUMNS), "RMSNorm": nn.RMSNorm(COLUMNS), "BatchNorm1d": nn.BatchNorm1d(COLUMNS), "normalize": F.normalize,
        "Flatten": nn.Sequential(nn.Unflatten(1, (4, 24)), nn.Tanh(), nn.Flatten()), "Dropout (eval)": nn.Sequential(nn.Tanh(), nn.Dropout()).eval(),
        "residual block": residual, "rotary embedding": rotary, "rms_norm by hand": rms_norm,
    }),
    # reductions, selections
    (of_rows(), {
        "logsumexp": lambda x: x.logsumexp(-1), "variance": lambda x: x.var(-1), "standard deviation": lambda x: x.std(0), "norm": lambda x: x.norm(dim=-1),
        "sum": lambda x: x.sum(), "sum of squares": lambda x: (x * x).sum(), "mean of columns": lambda x: x.mean(0), "product": lambda x: (x * 0.1 + 1).prod(-1),
        "cumsum": lambda x: x.cumsum(-1), "maximum": lambda x: x.max(-1).values, "clamp": lambda x: x.clamp(-1, 1), "where": lambda x: torch.where(x > 0, x, x * x),
        "transpose": lambda x: (x.t() * 2).contiguous(), "gather": lambda x: x[:, torch.arange(0, COLUMNS, 3, device=x.device)], "roll": lambda x: x.roll(5, -1) * x,
        "outer product": lambda x: x[0][:, None] * x[1][None, :], "concatenation": lambda x: torch.cat([x.sin(), x.cos()], -1),
    }),
    # losses
    (of_rows(lambda: [like_x()]), {
        "MSELoss": nn.MSELoss(), "L1Loss": nn.L1Loss(), "SmoothL1Loss": nn.SmoothL1Loss(), "HuberLoss": nn.HuberLoss(), "PoissonNLLLoss": nn.PoissonNLLLoss(),
        "CosineSimilarity": nn.CosineSimilarity(), "PairwiseDistance": nn.PairwiseDistance(), "lerp": lambda x, y: torch.lerp(x, y, 0.3),
        "SoftMarginLoss": lambda x, y: F.soft_margin_loss(x, y.sign()), "HingeEmbeddingLoss": lambda x, y: F.hinge_embedding_loss(x, y.sign()),
        "BCEWithLogitsLoss": lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()), "BCELoss": lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
        "KLDivLoss": lambda x, y: F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean"),
        "GaussianNLLLoss": lambda x, y: F.gaussian_nll_loss(x, y, y.exp()),
        "soft cross entropy": lambda x, y: F.cross_entropy(x, y.softmax(-1)), "Gumbel-like softmax": lambda x, y: ((x + y) / 0.7).softmax(-1),
    }),
    (of_rows(lambda: [like_x(), like_x()]), {"TripletMarginLoss": nn.TripletMarginLoss(), "addcmul": lambda x, y, z: torch.addcmul(x, y, z, value=0.5)}),
    (of_rows(lambda: [like_x(), signs()]), {"CosineEmbeddingLoss": nn.CosineEmbeddingLoss()}),
    (of_rows(lambda: [labels()]), {
        "CrossEntropyLoss": nn.CrossEntropyLoss(), "CrossEntropyLoss (smoothed)": nn.CrossEntropyLoss(label_smoothing=0.1),
        "NLLLoss": lambda x, y: F.nll_loss(F.log_softmax(x, -1), y), "MultiMarginLoss": nn.MultiMarginLoss(),
        "index_select": lambda x, i: x.index_select(0, i % ROWS),
    }),
    # of indices
    (lambda: [labels()], {"Embedding": nn.Embedding(COLUMNS, 16), "EmbeddingBag": nn.Sequential(nn.Unflatten(0, (4, 8)), nn.EmbeddingBag(COLUMNS, 16))}),
    # of sequences, images and volumes
    (of_shape(2, 4, 24), {"AvgPool1d": nn.AvgPool1d(3), "AdaptiveAvgPool1d": nn.AdaptiveAvgPool1d(6), "LPPool1d": nn.LPPool1d(2, 3), "InstanceNorm1d": nn.InstanceNorm1d(4, affine=True)}),
    (of_shape(2, 4, 12, 12), {
        "MaxPool2d": nn.MaxPool2d(2), "AvgPool2d": nn.AvgPool2d(2), "AdaptiveAvgPool2d": nn.AdaptiveAvgPool2d(4), "AdaptiveMaxPool2d": nn.AdaptiveMaxPool2d(4),
        "GroupNorm": nn.GroupNorm(2, 4), "BatchNorm2d": nn.BatchNorm2d(4), "BatchNorm2d (eval)": nn.BatchNorm2d(4).eval(), "InstanceNorm2d": nn.InstanceNorm2d(4, affine=True),
        "LocalResponseNorm": nn.LocalResponseNorm(2), "Softmax2d": nn.Softmax2d(), "PixelShuffle": nn.Sequential(nn.Tanh(), nn.PixelShuffle(2)),
        "PixelUnshuffle": nn.Sequential(nn.Tanh(), nn.PixelUnshuffle(2)), "ChannelShuffle": nn.Sequential(nn.Tanh(), nn.ChannelShuffle(2)),
        "Unfold": nn.Unfold(3), "ZeroPad2d": nn.ZeroPad2d((1, 2, 3, 0)), "ReflectionPad2d": nn.ReflectionPad2d(2), "ReplicationPad2d": nn.ReplicationPad2d(2),
        "CircularPad2d": nn.CircularPad2d(2), "Upsample (nearest)": nn.Upsample(scale_factor=2), "Upsample (bilinear)": nn.Upsample(scale_factor=2, mode="bilinear"),
        "Upsample (bicubic)": nn.Upsample(scale_factor=2, mode="bicubic"), "Conv2d": nn.Conv2d(4, 4, 3),
    }),
    (of_shape(2, 4, 6, 6, 6), {"AvgPool3d": nn.AvgPool3d(2), "BatchNorm3d": nn.BatchNorm3d(4)}),
    # of libraries that are machine code
    (of_rows(), {"Linear": nn.Linear(COLUMNS, 16)}),
    (of_shape(2, 4, 16, 8), {"scaled dot product attention": lambda x: F.scaled_dot_product_attention(x, x, x)}),
]
for inputs, functions in CHECKS:
    for name, function in functions.items():
        check(name.replace(" ", "-"), lambda: run(function, inputs()))
