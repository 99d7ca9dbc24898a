#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/places/test.py" "$@"
