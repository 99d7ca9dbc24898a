#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/nvcc/test.py"
