#!/bin/sh
# Clusters: sizes, special registers, barrier.cluster, blocks that wait for each other.
exec python3 "$HEDDLE_SOURCE/tests/clusters/test.py"
