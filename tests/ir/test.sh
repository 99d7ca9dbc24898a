#!/bin/sh
# The IR's text: what is printed of every function reads back as the same, and what is no such text is refused with a place.
set -u
cd "$HEDDLE_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xJf tests/oracle/forms-h200.tar.xz -C "$scratch" --wildcards '*.ptx'
tar -xJf tests/oracle/simt-h200.tar.xz -C "$scratch" --wildcards '*.ptx'
echo 1..2
# Files with errors on purpose stand in tests/errors.
find examples tests "$scratch" -name '*.ptx' -not -path 'tests/errors/*' -not -path 'tests/fuzz/*' -print0 | sort -z |
    xargs -0 "$HEDDLE_BUILD/tests/ir-round-trip"
"$HEDDLE_BUILD/tests/ir-round-trip" --damage 1 300 tests/jit/*/*.ir
