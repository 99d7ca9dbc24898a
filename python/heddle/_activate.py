"""heddle.activate(): replaces CUDA's libraries in this process. `heddle run` sets the environment of a new process; in a running
one, this does the same:

- The dynamic linker loads a library only once for each soname. So libcuda.so.1 and libcudart.so.N are loaded here; libraries that need
  them later, or open them by these names, get Heddle's.
- libheddle-preload.so examines the libraries that are loaded, now and later (the dynamic linker notifies it). It overwrites the
  functions of a CUDA runtime inside a library with jumps to Heddle's (src/cuda/process/preload.c).
- Child processes get the environment of `heddle run`.
"""
import ctypes
import glob
import json
import os
import subprocess
import sys

from heddle import _places
from heddle._report import HeddleError, findings_of

_active = None  # the settings that were activated, as JSON


def activate(check=False, **options):
    """Makes this process and its children use Heddle's CUDA. Call it before the first import of a package that uses CUDA.

    Options are those of `heddle run`, in Python's spelling: activate(device="sm_80", devices=2, step_limit=10**9). With check=True
    every launch is checked, and the options are those of `heddle check`, for example tool="memcheck,racecheck"; heddle.findings()
    returns the findings so far.

    Raises HeddleError if another CUDA library is already loaded, and ValueError for an unknown option. A second call with the same
    options does nothing.
    """
    global _active
    settings = json.dumps([check, options], sort_keys=True, default=str)
    if _active == settings:
        return
    if _active:
        raise HeddleError("heddle.activate() has been called with other options; a process has one set of them")
    folder = _places.cuda_libraries()
    _refuse_others(folder)
    environment = _environment("check" if check else "run", options)
    if check:
        environment["HEDDLE_CHECK"] = _own_check(environment["HEDDLE_CHECK"])
    nvrtc = _nvrtc(environment.get("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH", "")).split(":"))
    if not nvrtc:
        environment.pop("CUDA_PATH", None)  # of headers for ours
    os.environ.update(environment)
    ctypes.CDLL(os.path.join(folder, "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
    for runtime in filter(os.path.isfile, glob.glob(os.path.join(folder, "libcudart.so.[0-9]*"))):
        ctypes.CDLL(runtime)
    for library in nvrtc:
        ctypes.CDLL(library)
    # Where libraries of ours look for its functions.
    ctypes.CDLL(os.path.join(folder, "libheddle-preload.so"), mode=ctypes.RTLD_GLOBAL)
    _active = settings


def findings():
    """Waits for the launches of this process, and returns their findings so far. Needs activate(check=True)."""
    library = ctypes.CDLL(os.path.join(_places.cuda_libraries(), "libcuda.so.1"))
    take = library.heddle_check_findings
    take.restype = ctypes.c_void_p
    text = take()
    if not text:
        return []
    try:
        return findings_of(json.loads(ctypes.string_at(text)))
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(text)


def _nvrtc(folders):
    """Heddle's libnvrtc.so.N, where `heddle run` has a program find them: in the last folder, and in no other. Whoever needs the
    library has the one that is loaded, so that there must be none of NVIDIA's in a wheel, or beside Python, either."""
    wheels = [os.path.join(path, "nvidia", "*", "lib") for path in sys.path]
    others = [*folders[:-1], os.path.join(sys.prefix, "lib"), *wheels]
    theirs = any(glob.glob(os.path.join(folder, "libnvrtc.so.[0-9][0-9]")) for folder in others)
    ours = os.path.realpath(folders[-1]) == os.path.realpath(_places.nvrtc())
    return glob.glob(os.path.join(folders[-1], "libnvrtc.so.[0-9][0-9]")) if ours and not theirs else []


def _refuse_others(folder):
    """A library that is loaded stays, and whoever loaded it has its functions."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if line.count("/") > 0}
    for path in sorted(paths):
        if os.path.basename(path).startswith(("libcuda.so.", "libcudart.so.")) and os.path.dirname(path) != os.path.realpath(folder):
            raise HeddleError(f"{path} is loaded already: call heddle.activate() before the first import of what uses CUDA, or start "
                              "the program by `heddle run`")


def _environment(command, options):
    """What `heddle run` or `heddle check` would have a program find in its environment, where it differs from ours."""
    words = [_places.command(), command]
    for name, value in options.items():
        word = "--" + name.replace("_", "-")
        if word == "--sandbox":
            raise ValueError("a process that runs cannot be confined: use `heddle run --sandbox`")
        if value is not None and value is not False:
            words.append(word if value is True else f"{word}={value}")
    done = subprocess.run([*words, "/usr/bin/env", "-0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    there = dict(v.split("=", 1) for v in os.fsdecode(done.stdout).split("\0") if "=" in v)
    return {name: value for name, value in there.items() if os.environ.get(name) != value and name != "_"}


def _own_check(text):
    """HEDDLE_CHECK for a process that asks for its findings itself."""
    settings = json.loads(text)
    settings.pop("folder")
    settings["process"] = os.getpid()
    return json.dumps(settings)
