#!/bin/sh
# Random programs: every engine and policy gives what an H200 gave; and with locks and contests, what the others give.
# `make fuzz-engines` runs more of them.
status=0
timeout 600 "$HEDDLE_BUILD/tests/engines" --programs 400 --h200 "$HEDDLE_SOURCE/tests/engines/h200.txt" || status=1
timeout 300 "$HEDDLE_BUILD/tests/engines" --contests --programs 20 || status=1
exit $status
