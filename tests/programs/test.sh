#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/programs/test.py"
