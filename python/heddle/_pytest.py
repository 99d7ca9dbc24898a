"""`pytest -p heddle`: the tests' CUDA runs on Heddle. With --heddle-check, a test fails if its launches have errors."""
import collections
import dataclasses
import sys

import pytest

from heddle import _activate


def pytest_addoption(parser):
    group = parser.getgroup("heddle", "CUDA without a GPU")
    group.addoption("--heddle-device", metavar="sm_NN", help="claim to be a device of this compute capability")
    group.addoption("--heddle-check", action="store_true", help="check all launches")
    group.addoption("--heddle-tool", metavar="TOOLS",
                    help="check only with these tools: memcheck, racecheck, initcheck, synccheck; several as memcheck,racecheck")
    group.addoption("--heddle-option", action="append", default=[], metavar="NAME=VALUE",
                    help="an option of `heddle run` (or of `heddle check`, with --heddle-check), for example --heddle-option step-limit=1000000")


def _options(config):
    options = dict(word.split("=", 1) if "=" in word else (word, True) for word in config.heddle_option)
    if config.heddle_device:
        options["device"] = config.heddle_device
    if config.heddle_tool:
        options["tool"] = config.heddle_tool
    return options


def _checked(config):
    return bool(config.heddle_check or config.heddle_tool)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before any conftest.py, which may import what uses CUDA."""
    config = early_config.known_args_namespace
    try:
        _activate.activate(check=_checked(config), **_options(config))
    except (ValueError, _activate.HeddleError) as error:
        raise pytest.UsageError(str(error)) from None


# ---- findings are failures ----

def pytest_configure(config):
    if _checked(config.option):
        config.pluginmanager.register(_Findings(), "heddle-findings")


def _text(finding):
    names = finding.kernel is None or f"`{finding.kernel}`" in finding.message
    return str(finding) if names else f"{finding}\n  in kernel `{finding.kernel}`"


def _what(finding):
    """What is the same in all occurrences of a finding: threads, addresses and launches differ."""
    return finding.code, finding.kernel, tuple((p.file, p.line, p.inlined, p.calls) for p in finding.places if p.file or p.calls) or finding.message


class _Findings:
    def __init__(self):
        self.counts = {}  # of each finding that a test has been blamed for

    def fresh(self):
        """What has been seen since the last call, and how often since then."""
        found, alike = [], collections.Counter()
        for finding in _activate.findings():
            what = _what(finding)
            key = what, alike[what]
            seen = self.counts.get(key, 0)
            alike[what] += 1
            if finding.severity == "error" and finding.count > seen:
                found.append(dataclasses.replace(finding, count=finding.count - seen))
            self.counts[key] = finding.count
        return found

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        found = self.fresh()
        if not found:
            return
        text = "\n".join(map(_text, found))
        if "numba" in sys.modules and any(f.kernel and f.places[0].file == f.places[0].ptx_file for f in found):
            text += "\nheddle: write @cuda.jit(lineinfo=True) to see the lines of kernels"
        if report.passed:
            report.outcome = "failed"
            report.longrepr = f"heddle: {len(found)} error{'s' * (len(found) > 1)} in the kernels of this test\n{text}"
        else:
            report.sections.append(("heddle", text))

    def pytest_report_header(self):
        return "heddle: every launch is checked"
