#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/triton/test.py"
