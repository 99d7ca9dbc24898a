#!/bin/sh
# heddle cc, run as users run it.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/cc/test.py" "$@"
