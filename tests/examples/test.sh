#!/bin/sh
# The examples, against results that Python computes.
exec python3 "$HEDDLE_SOURCE/tests/examples/test.py"
