#!/bin/sh
# What a kernel reads that it has not written: zeros, whoever had the memory before, and the same by every engine.
exec python3 "$HEDDLE_SOURCE/tests/unwritten/test.py"
