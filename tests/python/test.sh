#!/bin/sh
# The Python package python/heddle, from this tree: launches, checks, activation, the plug-in of pytest.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$(dirname "$0")/test.py"
