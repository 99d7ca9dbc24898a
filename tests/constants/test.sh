#!/bin/sh
# Constant expressions and initialisers.
exec python3 "$HEDDLE_SOURCE/tests/constants/test.py"
