#!/bin/sh
# The command line, run as users run it.
# alone: it measures how long a start takes
exec python3 "$HEDDLE_SOURCE/tests/cli/test.py"
