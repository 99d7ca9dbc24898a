#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/races/test.py"
