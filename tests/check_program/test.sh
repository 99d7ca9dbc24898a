#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/check_program/test.py" "$@"
