#!/bin/sh
# Where memory, threads, descriptors or room on the disk run out.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/memory/test.py" "$@"
