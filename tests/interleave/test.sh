#!/bin/sh
# Loads and stores of neighbouring words, which are moved together: results, counts and faults are the interpreter's.
exec python3 "$HEDDLE_SOURCE/tests/interleave/test.py"
