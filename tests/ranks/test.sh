#!/bin/sh
# waits: for mpirun, which takes most of a second to begin and to end
exec python3 "$HEDDLE_SOURCE/tests/ranks/test.py" "$@"
