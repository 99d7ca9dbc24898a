#!/bin/sh
# The recorded answers of an H200: instruction forms and SIMT programs (see README.md here), the programs on several
# numbers of workers and under random schedules too.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for part in forms simt; do
    tar -xJf "$HEDDLE_SOURCE/tests/oracle/$part-h200.tar.xz" -C "$dir"
done
count=0
status=0
run() {
    count=$((count + 1))
    what=$1
    shift
    if timeout 300 "$HEDDLE_BUILD/tests/$what" "$@" "$dir" >"$dir/out"; then
        echo "ok $count - $what $* $(tail -n 1 "$dir/out")"
    else
        tail -n 30 "$dir/out" | head -n 20 | sed 's/^/# /'
        echo "not ok $count - $what $* $(tail -n 1 "$dir/out")"
        status=1
    fi
}
run oracle-forms
for workers in 1 2 7; do
    run oracle-simt --workers $workers
done
run oracle-simt --policy serial
seed=1
while [ $seed -le 20 ]; do
    run oracle-simt --policy random:$seed
    seed=$((seed + 1))
done
echo "1..$count"
exit $status
