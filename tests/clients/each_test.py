"""A plug-in of pytest for scripts/clients, which a suite of thousands of tests needs: $HEDDLE_RESULTS names a file that gets a line of JSON
for each test, {"begins": id}, then {"id", "outcome", "reason", "seconds"}. Tests that the file has already are left out, so the next process
goes on where this one ended; at most $HEDDLE_TESTS are run. The order is one that makes any first part a sample of the whole.
A process whose CUDA context has an error, as after a fault of a kernel, ends: all that came after would fail, too."""
import ctypes
import json
import os
import re
import zlib

import pytest

_results = os.environ["HEDDLE_RESULTS"]
_reports = {}


def _write(**line):
    with open(_results, "a", encoding="utf-8") as f:
        f.write(json.dumps(line) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Of those that -k has left."""
    with open(_results, encoding="utf-8") as f:
        known = {line.get("id") for line in map(json.loads, f)}
    _write(collected=len(items))
    left = sorted((item for item in items if item.nodeid not in known), key=lambda item: zlib.crc32(item.nodeid.encode()))
    items[:] = left[:int(os.environ["HEDDLE_TESTS"])]


def pytest_runtest_logstart(nodeid):
    _reports[nodeid] = []
    _write(begins=nodeid)


def pytest_runtest_logreport(report):
    _reports[report.nodeid].append(report)


def _reason(report):
    if isinstance(report.longrepr, tuple):  # of a skipped test: file, line, reason
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = [line.strip() for line in (crash.message if crash else str(report.longrepr)).splitlines() if line.strip()]
    shown = (re.match(r"E +(.*)", line) for line in str(report.longrepr).splitlines())
    causes = [e.group(1) for e in shown if e and re.match(r"[\w.]*(Error|Exception)\b|\+  where ", e.group(1)) and e.group(1) not in lines[:1]]
    refused = re.findall(r"Heddle has no .*", str(report.longrepr))
    return " | ".join(lines[:1] + causes[:1] + refused[:1])


def pytest_runtest_logfinish(nodeid):
    reports = _reports.pop(nodeid)
    wrong = next((r for r in reports if r.failed), None)
    skipped = next((r for r in reports if r.skipped and not hasattr(r, "wasxfail")), None)
    told = wrong or skipped
    _write(id=nodeid, outcome=told.outcome if told else "passed", reason=_reason(told) if told else "", seconds=sum(r.duration for r in reports))


def pytest_runtest_teardown(item):
    UNUSABLE = 3, 4, 201  # not initialised, on its way out, no context: nothing to say of it
    try:
        error = ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()
    except OSError:
        return
    if error and error not in UNUSABLE:
        item.session.shouldstop = f"the CUDA context has error {error}"
