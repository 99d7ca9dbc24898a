#!/bin/sh
# The sandbox of `heddle launch`, `check` and `run`, seen from outside.
exec python3 "$HEDDLE_SOURCE/tests/sandbox/test.py"
