"""What the programs of this folder share: each check has a name, compares what a client computes with what NumPy or the CPU does, and
prints a line `ok NAME SECONDS` or `not ok NAME SECONDS REASON`, which scripts/clients counts."""
import sys
import time

_only = sys.argv[1:]


def check(name, test):
    if _only and name not in _only:
        return
    begin = time.time()
    try:
        reason = test()
    except BaseException as e:  # of whatever kind: the next check is another one
        if isinstance(e, KeyboardInterrupt):
            raise
        lines = [line for line in str(e).splitlines() if line.strip()]
        telling = [line for line in lines if "Error: " in line] or lines
        reason = f"{type(e).__name__}: {telling[0] if telling else ''}"
    took = f"{time.time() - begin:.2f}"
    print(f"not ok {name} {took} {reason}" if reason else f"ok {name} {took}", flush=True)
