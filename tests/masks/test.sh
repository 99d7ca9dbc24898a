#!/bin/sh
# Warp operations with membermasks that do not name the lanes that use them: what an H200 did, by both engines.
exec python3 "$HEDDLE_SOURCE/tests/masks/test.py"
