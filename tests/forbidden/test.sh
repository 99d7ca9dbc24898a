#!/bin/sh
# What CUDA refuses in captures and of graphs: each call's error, beside an H200's.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/forbidden/test.py" "$@"
