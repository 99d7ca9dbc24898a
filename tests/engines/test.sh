#!/bin/sh
# Random programs: every engine and policy gives what an H200 gave; `make fuzz-engines` runs more of them.
exec timeout 600 "$HEDDLE_BUILD/tests/engines" --programs 400 --h200 "$HEDDLE_SOURCE/tests/engines/h200.txt"
