#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/events/test.py" "$@"
