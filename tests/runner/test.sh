#!/bin/sh
# tests/run: what it counts, what it stops, what it says.
# waits: for suites to be stopped
exec python3 "$HEDDLE_SOURCE/tests/runner/test.py"
