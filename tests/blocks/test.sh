#!/bin/sh
# Blocks that a worker runs one after the other in the same records: each begins as the first one did, by both engines.
exec python3 "$HEDDLE_SOURCE/tests/blocks/test.py"
