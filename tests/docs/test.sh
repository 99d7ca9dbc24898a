#!/bin/sh
# The pages for users and developers.
exec python3 "$HEDDLE_SOURCE/tests/docs/test.py"
