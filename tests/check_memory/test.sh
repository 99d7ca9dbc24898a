#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/check_memory/test.py"
