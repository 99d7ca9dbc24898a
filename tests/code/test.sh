#!/bin/sh
# The machine code that is made of kernels: what is in it, where it lies, and how it can be seen.
exec python3 "$HEDDLE_SOURCE/tests/code/test.py"
