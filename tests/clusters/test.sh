#!/bin/sh
# Kernels for clusters, whose clusters are of one block: barrier.cluster.
exec python3 "$HEDDLE_SOURCE/tests/clusters/test.py"
