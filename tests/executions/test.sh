#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/executions/test.py" "$@"
