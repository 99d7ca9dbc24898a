"""Where Heddle's own files are.

In a wheel they are beside this package's modules; in a source tree in `build`, or in the folder of HEDDLE_BUILD; else Heddle is
installed on the system, and its command is in PATH.
"""
import glob
import os
import shutil

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_LIBRARIES = ("lib/*-linux-gnu", "lib64", "lib")  # of a prefix: Meson's libdir


def _builds():
    """Folders that may be one of `make`."""
    if os.environ.get("HEDDLE_BUILD"):
        yield os.environ["HEDDLE_BUILD"]
    tree = os.path.dirname(os.path.dirname(_PACKAGE))
    if os.path.exists(os.path.join(tree, "meson.build")):
        yield os.path.join(tree, "build")


def _prefixes():
    """Folders that may be one of `make install`."""
    yield os.path.join(_PACKAGE, "prefix")
    found = shutil.which("heddle")
    if found:
        yield os.path.dirname(os.path.dirname(os.path.realpath(found)))
    yield from ("/usr", "/usr/local")


def _find(name, *folders):
    """A file of a build, which in a prefix is in one of the folders."""
    places = [os.path.join(build, name) for build in _builds()]
    places += [os.path.join(prefix, folder, os.path.basename(name)) for prefix in _prefixes() for folder in folders]
    for place in places:
        for path in glob.glob(place):
            return path
    raise OSError(f"Heddle's {name} is neither in {_PACKAGE}, nor in a build of the source, nor installed on this system: install "
                  "Heddle's wheel, or set HEDDLE_BUILD to the folder that it was built in")


def command():
    """The program `heddle`."""
    return _find("heddle", "bin")


def library():
    return _find("libheddle.so.0", *_LIBRARIES)


def nvrtc():
    """The folder of libnvrtc.so.N."""
    return os.path.dirname(_find("src/toolkit/libnvrtc.so.12", *(f"{folder}/heddle/nvrtc" for folder in _LIBRARIES)))


def cuda_libraries():
    """The folder of libcuda.so.1 and what belongs to it."""
    return os.path.dirname(_find("libcuda.so.1", *(f"{folder}/heddle" for folder in _LIBRARIES)))
