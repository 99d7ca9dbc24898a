#!/bin/sh
# heddle cc where names, sources, outputs and folders are odd or meant to do harm.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/sources/test.py" "$@"
