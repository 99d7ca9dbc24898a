#!/bin/sh
# The process that compiles: it comes and goes unnoticed, and what it has made is kept.
# waits: for compilers to end by themselves, and to be given up
exec python3 "$HEDDLE_SOURCE/tests/compiler/test.py"
