#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/herd/test.py" "$@"
