#!/usr/bin/env python3
"""Libraries whose clients go on without them: CUPTI, cuFile, cuSPARSELt and NVSHMEM load, and refuse by name."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import tap  # noqa: E402


def run(code):
    tap.need_loadable_libraries()
    status, out, err = tap.run("run", sys.executable, "-c", "from ctypes import *\n" + code)
    assert status == 0, out + err
    return err


def subscribers_of_cupti_learn_that_nothing_comes():
    for library, version in [("libcupti.so.11.8", 18), ("libcupti.so.12", 28), ("libcupti.so.13", 130001)]:
        err = run(f"""
cupti = CDLL("{library}")
n, subscriber, text = c_uint(), c_void_p(), c_char_p()
assert cupti.cuptiGetVersion(byref(n)) == 0 and n.value == {version}, n.value
assert cupti.cuptiSubscribe(byref(subscriber), None, None) == 0
assert cupti.cuptiSubscribe(byref(subscriber), None, None) == 39
assert cupti.cuptiEnableDomain(1, subscriber, 2) == 27
assert cupti.cuptiActivityEnable(3) == 27 and cupti.cuptiActivityEnable(3) == 27
assert cupti.cuptiGetResultString(27, byref(text)) == 0 and text.value == b"CUPTI_ERROR_NOT_SUPPORTED"
assert cupti.cuptiActivityFlushAll(0) == 0 and cupti.cuptiUnsubscribe(subscriber) == 0 and cupti.cuptiUnsubscribe(subscriber) == 1
""")
        for name in "cuptiEnableDomain", "cuptiActivityEnable":
            assert err.count(f"{name} is not supported by Heddle") == 1, err


def the_others_refuse():
    for library, call, name in [
            ("libcufile.so.0", "l.cuFileDriverOpen.restype = c_ulong; assert l.cuFileDriverOpen() == 5007", "cuFileDriverOpen"),
            ("libcufile.so.0", "l.cuFileRead.restype = c_long; assert l.cuFileRead() == -5007", "cuFileRead"),
            ("libcusparseLt.so.0", "assert l.cusparseLtInit(byref(c_int())) == 10", "cusparseLtInit"),
            ("libnvshmem_host.so.3", "assert l.nvshmemx_hostlib_init_attr(0, None) == 3", "nvshmemx_hostlib_init_attr"),
            ("libnvshmem_host.so.3", "l.nvshmem_malloc.restype = c_void_p; assert l.nvshmem_malloc(c_size_t(8)) is None", "nvshmem_malloc")]:
        err = run(f"l = CDLL('{library}'); {call}")
        assert f"{name} is not supported by Heddle: docs/LIBRARIES.md" in err, err


if __name__ == "__main__":
    tap.main(globals())
