#!/bin/sh
# What one process can do to another through CUDA, and what a fork in the middle of work leaves.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
export LD_LIBRARY_PATH="$HEDDLE_BUILD"
PYTHONPATH="$HEDDLE_SOURCE/tests:$HEDDLE_SOURCE/tests/cuda" exec python3 "$HEDDLE_SOURCE/tests/processes/test.py" "$@"
