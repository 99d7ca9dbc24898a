#!/bin/sh
# Kernels that hang or fault on purpose fail with the report expected: see faults.cu and the .txt files.
exec timeout 300 "$HEDDLE_BUILD/tests/faults" "$HEDDLE_SOURCE"
