#!/bin/sh
# Kernels whose threads wait for one another end under every policy: see fairness.cu.
exec timeout 300 "$HEDDLE_BUILD/tests/fairness" "$HEDDLE_SOURCE" 20
