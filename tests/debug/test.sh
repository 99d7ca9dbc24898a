#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/debug/test.py" "$@"
