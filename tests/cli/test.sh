#!/bin/sh
# The command line, run as users run it.
exec python3 "$HEDDLE_SOURCE/tests/cli/test.py"
