#!/bin/sh
# How `heddle run` starts programs.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/start/test.py"
