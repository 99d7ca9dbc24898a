#!/bin/sh
# Rounding, approximate functions and NaNs in compiled code: the interpreter's, to the bit.
exec python3 "$HEDDLE_SOURCE/tests/arithmetic/test.py"
