#!/bin/sh
# Straight code from barrier to barrier, which the warps of a block run together: the same as one by one.
exec python3 "$HEDDLE_SOURCE/tests/phases/test.py" "$@"
