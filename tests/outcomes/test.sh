#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/outcomes/test.py" "$@"
