#!/bin/sh
# A sample of `make ulp`: no math function is further from the right result than CUDA documents.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
set -u
program=$(mktemp -d)
trap 'rm -rf "$program"' EXIT
echo 1..1
if "$HEDDLE_BUILD/heddle" cc "$HEDDLE_SOURCE/tests/ulp/ulp.cu" -o "$program/ulp" -lmpfr -lgmp && "$program/ulp" 300 >"$program/table"; then
    echo "ok 1 - $(grep -c '^| `' "$program/table") math functions keep to their documented errors"
else
    echo "not ok 1 - a math function is further from the right result than CUDA documents"
fi
