#!/bin/sh
# Packs of kernels: heddle pack, heddle run --kernels.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/packs/test.py"
