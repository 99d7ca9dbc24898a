#!/bin/sh
# Addresses that wrap around, on the way of a loop, between lanes, and between accesses: nothing but a fault comes of them.
exec python3 "$HEDDLE_SOURCE/tests/wrap/test.py"
