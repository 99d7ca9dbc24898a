#!/bin/sh
# Each option of heddle cc, with a kernel that is launched.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/options/test.py" "$@"
