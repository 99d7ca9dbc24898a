#!/bin/sh
exec python3 "$HEDDLE_SOURCE/tests/start/test.py"
