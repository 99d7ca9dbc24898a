#!/bin/sh
# Manual pages and completion.
exec python3 "$HEDDLE_SOURCE/tests/manual/test.py"
