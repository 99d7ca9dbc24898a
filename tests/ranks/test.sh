#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/ranks/test.py" "$@"
