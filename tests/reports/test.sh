#!/bin/sh
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/reports/test.py" "$@"
