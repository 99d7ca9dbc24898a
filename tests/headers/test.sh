#!/bin/sh
# Heddle's CUDA headers, in files of the host and of both sides.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/headers/test.py" "$@"
