#!/bin/sh
# tests/run: what it counts, what it stops, what it says.
exec python3 "$HEDDLE_SOURCE/tests/runner/test.py"
