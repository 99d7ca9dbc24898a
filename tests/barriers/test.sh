#!/bin/sh
# barrier.sync, arrive and red by lanes of a warp that have parted, beside what an H200 did; what the checker sees of them.
exec python3 "$HEDDLE_SOURCE/tests/barriers/test.py"
