#!/bin/sh
# Kernels that launch kernels: what an H200 answered, in which order they run, and what a checker finds.
exec python3 "$HEDDLE_SOURCE/tests/nested/test.py" "$@"
