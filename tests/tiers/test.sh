#!/bin/sh
# Kernels that run for long are compiled again, with more effort: when, what for, and whatever comes between.
exec python3 "$HEDDLE_SOURCE/tests/tiers/test.py" "$@"
