#!/bin/sh
# What crosses between code of nvcc and of heddle cc: names and layouts.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/layouts/test.py" "$@"
