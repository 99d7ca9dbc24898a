#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/parted/test.py" "$@"
