#!/bin/sh
# Lanes that store at one place with one instruction: whose value stays, beside what an H200 did.
exec python3 "$HEDDLE_SOURCE/tests/stores/test.py"
