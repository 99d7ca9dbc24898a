#!/bin/sh
# One program for each library, in its own folder.
status=0
for test in "$HEDDLE_SOURCE"/tests/libraries/*/test.py; do
    python3 "$test" || status=1
done
exit $status
