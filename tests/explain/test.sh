#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/explain/test.py" "$@"
