#!/bin/sh
# Loops that lanes go around one after the other in compiled code: results, counts and faults are the interpreter's.
exec python3 "$HEDDLE_SOURCE/tests/lane_serial/test.py"
