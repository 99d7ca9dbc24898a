#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/explore/test.py" "$@"
