#!/bin/sh
# Limits of steps, time, memory and stacks on the command line, and that every policy gives everyone his turn.
# waits: for time to pass that a limit allows
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/limits/test.py" "$@"
