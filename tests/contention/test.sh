#!/bin/sh
# Histories of contended atomic operations, on several numbers of workers and under random schedules; machines of several threads.
set -u
status=0
run() {
    timeout 120 "$HEDDLE_BUILD/tests/contention" "$@" | sed "s/ - / - $* /" || status=1
}
run --workers 1
run --workers 2
run --workers 7
for seed in 1 2 3 4 5; do
    run --policy random:$seed
done
timeout 120 "$HEDDLE_BUILD/tests/machines" || status=1
exit $status
