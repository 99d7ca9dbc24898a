#!/bin/sh
# What names stand for: scopes, ranges of names, labels, lists; and modules that say the same thing twice.
exec python3 "$HEDDLE_SOURCE/tests/names/test.py"
