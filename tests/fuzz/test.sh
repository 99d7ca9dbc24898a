#!/bin/sh
# What fuzzing has found (tests/fuzz/found) and every broken file of tests/errors: each ends, accepted or refused.
cd "$HEDDLE_SOURCE/tests"
find fuzz/found errors ptx -type f \( -path 'fuzz/*' -o -name '*.ptx' \) | sort | xargs "$HEDDLE_BUILD/tests/fuzz-replay"
