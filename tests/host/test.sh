#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/host/test.py"
