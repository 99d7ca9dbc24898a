#!/bin/sh
# heddle cc, run as users run it.
exec python3 "$HEDDLE_SOURCE/tests/cc/test.py"
