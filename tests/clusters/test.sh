#!/bin/sh
# Kernels for clusters of one block, and for larger ones, which are refused: directives, barrier.cluster.
exec python3 "$HEDDLE_SOURCE/tests/clusters/test.py"
