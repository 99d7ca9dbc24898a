#!/bin/sh
# Atomic operations of compiled code, against those of the interpreter.
exec python3 "$HEDDLE_SOURCE/tests/atomics/test.py"
