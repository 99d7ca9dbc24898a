#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/toolkit/test.py"
