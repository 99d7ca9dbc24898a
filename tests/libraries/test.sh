#!/bin/sh
# Programs for each library, in its own folder; those in C are the build's.
status=0
for program in "$HEDDLE_BUILD"/tests/library-*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    name=${program##*/library-}
    LD_LIBRARY_PATH="$HEDDLE_BUILD" timeout 120 "$program" 2>/dev/null | sed "s/ - / - $name: /" || status=1
done
for test in "$HEDDLE_SOURCE"/tests/libraries/*/test.py; do
    python3 "$test" || status=1
done
exit $status
