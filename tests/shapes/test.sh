#!/bin/sh
# What registers look like across the lanes of a warp: compiled code that counts on it has the interpreter's results.
exec python3 "$HEDDLE_SOURCE/tests/shapes/test.py"
