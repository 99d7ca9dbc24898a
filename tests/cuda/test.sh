#!/bin/sh
# The driver API: programs in C, Python by ctypes, the header against the toolkit's where there is one.
set -u
status=0
export LD_LIBRARY_PATH="$HEDDLE_BUILD"
for program in driver graphs handles large_graphs mapped resets streams threads; do
    timeout 120 "$HEDDLE_BUILD/tests/cuda-$program" 2>/dev/null | sed "s/ - / - $program: /" || status=1
done
PYTHONPATH="$HEDDLE_SOURCE/tests" timeout 300 python3 "$HEDDLE_SOURCE/tests/cuda/test.py" || status=1
exit $status
