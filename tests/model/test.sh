#!/bin/sh
# The time that heddle explain estimates, and the advice that it gives.
exec python3 "$HEDDLE_SOURCE/tests/model/test.py"
