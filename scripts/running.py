"""Programs of others, run within limits, and what is shown of what they say."""
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


def wait(process, seconds):
    """(status, usage), or None where it is not done after that many seconds of the clock; then it is killed with what it has started."""
    end = time.monotonic() + seconds
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), usage
        if time.monotonic() > end:
            os.killpg(process.pid, signal.SIGKILL)
            os.wait4(process.pid, 0)
            return None
        time.sleep(0.02)


def last_of(file):
    file.seek(max(0, file.seek(0, 2) - LAST))
    return file.read().decode(errors="replace")


def run_limited(command, cwd, limit, env=None):
    """Runs it with `limit` seconds of processor time, and ten times that of the clock. What it has started ends with it."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=cwd, env=env, stdin=subprocess.DEVNULL, preexec_fn=bound, start_new_session=True)
        done = wait(process, 10 * limit)
        said = last_of(out), last_of(err)
    if not done:
        return Ran(None, f"hangs: not done after {10 * limit} s", limit, *said)
    status, usage = done
    used_up = status in (-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGKILL)
    return Ran(status, f"not done after {limit} s" if used_up else "", limit if used_up else usage.ru_utime + usage.ru_stime, *said)


def cell(text, n=160):
    """For a table, without what differs from run to run or machine to machine."""
    text = re.sub(r"0x[0-9a-f]+", "0x...", re.sub(r"/\S*/", "", text))
    return text.replace("|", "\\|")[:n]
