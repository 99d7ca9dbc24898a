#!/bin/sh
# Loops whose accesses compiled code tests before they begin: results, counts and faults are the interpreter's.
exec python3 "$HEDDLE_SOURCE/tests/loops/test.py"
