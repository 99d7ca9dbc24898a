#!/bin/sh
# Random programs: every engine and policy gives what an H200 gave; and with locks and contests, what the others give.
# `make fuzz-engines` runs more of them.
status=0 programs=60 contests=5
[ "${HEDDLE_TESTS-}" = all ] && programs=400 contests=20
echo "# check-all adds: 340 random programs, 15 with contests"
timeout 600 "$HEDDLE_BUILD/tests/engines" --programs $programs --h200 "$HEDDLE_SOURCE/tests/engines/h200.txt" || status=1
timeout 300 "$HEDDLE_BUILD/tests/engines" --contests --programs $contests || status=1
exit $status
