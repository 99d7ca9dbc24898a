"""Runs other projects' programs within limits, and shortens their output for the pages."""
import collections
import os
import re
import resource
import signal
import subprocess
import tempfile
import time

# late: why it was stopped, or empty. status: as subprocess has it. seconds: processor time of it and of what it has waited for.
Ran = collections.namedtuple("Ran", "status late seconds out err")

LAST = 1 << 20  # bytes of output that are kept


def wait(process, seconds, has_said_enough):
    """(status, usage), or None where it is not done after that many seconds of the clock; then it is killed with what it has started, and so it
    is where it has said enough, which is a status of 0."""
    end, pause = time.monotonic() + seconds, 0.02
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), usage
        if time.monotonic() > end or has_said_enough():
            os.killpg(process.pid, signal.SIGKILL)
            _, _, usage = os.wait4(process.pid, 0)
            return (0, usage) if time.monotonic() <= end else None
        time.sleep(pause)
        pause = min(1.1 * pause, 0.5)


def last_of(file):
    """What stands there; the process that writes has the same place in the file, which stays."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), LAST, max(0, size - LAST)).decode(errors="replace")


def run_limited(command, cwd, limit, env=None, until=""):
    """Runs it with `limit` seconds of processor time, and thirty times that of the clock, or until it says what matches `until`. What it has started
    ends with it."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=cwd, env=env, stdin=subprocess.DEVNULL, preexec_fn=bound, start_new_session=True)
        done = wait(process, 30 * limit, lambda: until and re.search(until, last_of(out)))
        said = last_of(out), last_of(err)
    if not done:
        return Ran(None, f"hangs: not done after {30 * limit} s", limit, *said)
    status, usage = done
    used_up = status in (-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGKILL)
    return Ran(status, f"not done after {limit} s" if used_up else "", limit if used_up else usage.ru_utime + usage.ru_stime, *said)


def cell(text, n=160):
    """For a table, without what differs from run to run or machine to machine."""
    text = re.sub(r"0x[0-9a-f]+", "0x...", re.sub(r"/\S*/", "", text))
    return text.replace("|", "\\|")[:n]
