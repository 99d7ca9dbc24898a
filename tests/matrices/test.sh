#!/bin/sh
# Matrix instructions apart from their results: who takes part, what faults, what the checker sees.
exec python3 "$HEDDLE_SOURCE/tests/matrices/test.py"
