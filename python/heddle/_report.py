"""What Heddle has found, as Python objects."""
import json
import linecache
import os
from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Place:
    """A place in a kernel: the line of its source, if the PTX names it (`.loc`: CUDA C++ with -lineinfo, the Python of Triton and
    numba), and the line of PTX. Unknown members are None."""
    file: Optional[str]      # of the source, else of the PTX
    line: Optional[int]
    ptx_file: Optional[str]
    ptx_line: Optional[int]
    ptx_column: Optional[int]
    ptx: Optional[str]       # the line's text
    message: str = ""        # what is said of this place
    code: str = ""           # in short: "data-race", "allocated"
    inlined: Optional[Tuple[str, int]] = None  # file and line in the function that this line calls, where the PTX has it inlined
    calls: Tuple[str, ...] = ()  # of the host's mistakes: the calls that led there, innermost first
    launch: Tuple[str, ...] = ()  # of a kernel's: the calls that launched it, where they say more than main

    def __str__(self):
        return f"{_short(self.file)}:{self.line}" if self.file else "?"


@dataclass(frozen=True)
class Finding:
    """A mistake. The first place is where it happens. Further places are related to it; in a data race, the other access."""
    severity: str            # "error", "warning" or "note"
    code: str                # stable and short: "data-race", "illegal-address"
    message: str
    help: Optional[str]      # what to do about it
    tool: Optional[str]      # "memcheck", "racecheck", "initcheck", "synccheck"
    kernel: Optional[str]    # by its name in the source
    count: int               # how often it was seen
    places: Tuple[Place, ...]

    def __str__(self):
        times = f", {self.count} times" if self.count > 1 else ""
        lines = [*_shown(self.places[0], self.severity, f"{self.message} [{self.code}{times}]")]
        if self.help:
            lines.append(f"  help: {self.help}")
        for place in self.places[1:]:
            lines += _shown(place, "note", f"{place.message} [{place.code}]")
        return "\n".join(lines)


class Report:
    """Findings, in the order of the PTX. `text` is what `heddle check` shows, `json` and `sarif` are for other programs."""

    def __init__(self, findings=(), text="", json="[]", sarif=""):
        self.findings = list(findings)
        self.text, self.json, self.sarif = text, json, sarif

    @property
    def errors(self):
        return [f for f in self.findings if f.severity == "error"]

    @property
    def warnings(self):
        return [f for f in self.findings if f.severity == "warning"]

    def raise_if_found(self):
        """Raises CheckError if there are errors, which makes a test fail."""
        if self.errors:
            raise CheckError(self)

    def __iter__(self):
        return iter(self.findings)

    def __len__(self):
        return len(self.findings)

    def __str__(self):
        return self.text or "nothing was found"

    def __repr__(self):
        return f"<heddle.Report: {len(self.errors)} errors, {len(self.warnings)} warnings>"


class HeddleError(Exception):
    """Heddle cannot do something, and the text says why. `report` has the places, if there are any."""

    def __init__(self, message, report=None):
        super().__init__(message)
        self.report = report or Report()


class LaunchError(HeddleError):
    """A kernel has failed. `result` is the number of CUDA's error: 700 is an illegal address."""

    def __init__(self, message, report=None, result=0):
        super().__init__(message, report)
        self.result = result


class CheckError(AssertionError):
    """A checked launch has errors; `report` has them."""

    def __init__(self, report):
        super().__init__(f"{len(report.errors)} error{'s' * (len(report.errors) != 1)} in what was launched\n{report.text}")
        self.report = report


# ---- from JSON ----

def _place(o):
    ptx = "file" in o
    return Place(file=o.get("cuda_file") or o.get("file"), line=o.get("cuda_line") or o.get("line"),
                 ptx_file=o.get("file"), ptx_line=o.get("line") if ptx else None, ptx_column=o.get("column"),
                 ptx=o.get("source"), message=o["text"], code=o["code"],
                 inlined=(o["inlined_file"], o["inlined_line"]) if "inlined_file" in o else None,
                 calls=tuple(map(_call, o.get("frames", ()))), launch=tuple(map(_call, o.get("launch", ()))))


def _call(frame):
    name = frame.get("function", "a function")
    if "file" in frame:
        return f"{name} at {_short(frame['file'])}:{frame['line']}"
    return f"{name} in {os.path.basename(frame['object'])}+{frame.get('offset', 0):#x}" if "object" in frame else name


def findings_of(objects):
    """The findings of a report's JSON array. A note belongs to the finding before it."""
    groups = []
    for o in objects:
        if o["severity"] == "note" and groups:
            groups[-1].append(o)
        else:
            groups.append([o])
    return [Finding(severity=first["severity"], code=first["code"], message=first["text"], help=first.get("help"),
                    tool=first.get("tool"), kernel=first.get("kernel"), count=first.get("count", 1),
                    places=(_place(first), *map(_place, notes)))
            for first, *notes in groups]


def report_of(text, objects, sarif=""):
    """Of the library's texts."""
    return Report(findings_of(json.loads(objects)), text, objects, sarif)


# ---- as text ----

def _short(file):
    """The name of a file as in all of Heddle's messages: relative to the current folder, if the file is below it or below the nearest folder with a .git."""
    if file[:1] not in ("/", "."):
        return file
    root = here = os.getcwd()
    while root != "/" and not os.path.exists(os.path.join(root, ".git")):
        root = os.path.dirname(root)
    path = os.path.abspath(file)
    return os.path.relpath(path) if any(path.startswith(folder + os.sep) for folder in (here, root) if folder != "/") else path


def _shown(place, severity, message):
    yield (f"{place}: " if place.file else "") + f"{severity}: {message}"
    source = linecache.getline(place.file, place.line).rstrip() if place.file and place.line else ""
    if source:
        yield f"{place.line:5} | {source}"
    if place.inlined:
        yield f"  inlined from {_short(place.inlined[0])}:{place.inlined[1]}"
    for i, call in enumerate(place.calls):
        yield f"  {'called by' if i else 'in'} {call}"
    for i, call in enumerate(place.launch):
        yield f"  {'called' if i else 'launched'} by {call}"
    if place.ptx and place.file != place.ptx_file:
        yield f"  in {_short(place.ptx_file)}:{place.ptx_line}:{place.ptx_column}:"
    if place.ptx:
        yield f"{place.ptx_line:5} | {place.ptx}"
