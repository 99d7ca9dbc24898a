#!/bin/sh
# The process that compiles: it comes and goes unnoticed, and what it has made is kept.
exec python3 "$HEDDLE_SOURCE/tests/compiler/test.py"
