#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/memory-model/test.py" "$@"
