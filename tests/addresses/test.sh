#!/bin/sh
# Loads and stores of compiled code whose addresses are partly known: the interpreter's results and faults.
exec python3 "$HEDDLE_SOURCE/tests/addresses/test.py"
