#!/bin/sh
# Warps that run together in compiled code: the same as one by one, whatever parts them.
exec python3 "$HEDDLE_SOURCE/tests/gangs/test.py"
