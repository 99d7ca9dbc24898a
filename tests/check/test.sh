#!/bin/sh
# What the checkers find in kernels with mistakes, and in clean ones: see mistakes.cu and the .txt files.
exec timeout 300 "$HEDDLE_BUILD/tests/check" "$HEDDLE_SOURCE"
