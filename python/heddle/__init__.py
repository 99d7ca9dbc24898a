"""Heddle runs, checks and explains CUDA programs with no GPU.

    import heddle

    heddle.launch("saxpy.ptx", "saxpy", grid=4, block=256, args=(1000, 2.0, x, y))    # arrays are updated in place
    heddle.check("saxpy.ptx", "saxpy", grid=4, block=256, args=(1000, 2.0, x, y)).raise_if_found()

    heddle.activate()       # before the first import of a package that uses CUDA: replaces CUDA's libraries in this process
    import cupy

    pytest -p heddle        # the same for a whole test suite; with --heddle-check, a test with findings fails

NumPy is not needed. Its arrays are accepted, and all other objects that have a buffer or DLPack.
"""
from heddle._activate import activate, findings
from heddle._launch import Launch, check, launch, undefined
from heddle._report import CheckError, Finding, HeddleError, LaunchError, Place, Report

__all__ = ["activate", "check", "findings", "launch", "undefined", "CheckError", "Finding", "HeddleError", "Launch", "LaunchError", "Place",
           "Report"]
__version__ = "0.1.0"

pytest_plugins = ("heddle._pytest",)  # of `pytest -p heddle`
