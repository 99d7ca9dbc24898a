#!/bin/sh
# The wheel and the Debian package: what is in them, and that they work where nothing else of Heddle is.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$(dirname "$0")/test.py"
