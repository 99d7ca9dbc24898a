#!/bin/sh
# Each way out of compiled code brings all registers to where the interpreter, or other code, goes on with them.
exec python3 "$HEDDLE_SOURCE/tests/exits/test.py"
