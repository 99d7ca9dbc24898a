#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/dap/test.py" "$@"
