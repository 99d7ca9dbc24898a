#!/bin/sh
# Compiled code beside the interpreter: the same results, faults and fairness; what is said where there can be none.
exec python3 "$HEDDLE_SOURCE/tests/jit/test.py"
