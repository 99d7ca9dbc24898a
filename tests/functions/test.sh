#!/bin/sh
# Functions: what their parameters and results can be, how they are declared; operands of several registers.
exec python3 "$HEDDLE_SOURCE/tests/functions/test.py"
