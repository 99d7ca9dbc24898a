#!/bin/sh
# Asynchronous copies: when they are done, what they write, what is misused.
exec python3 "$HEDDLE_SOURCE/tests/copies/test.py"
