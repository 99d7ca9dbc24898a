#!/bin/sh
# docs/MISTAKES.md shows what Heddle really says: of every third program, with `make check-all` of all.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
every=3
[ "${HEDDLE_TESTS-}" = all ] && every=1
echo "# check-all adds: two thirds of the programs with mistakes"
echo 1..1
if "$HEDDLE_SOURCE/scripts/write-mistakes" "$HEDDLE_BUILD/heddle" $every >"$dir/said" &&
    awk -v every=$every '/^## [0-9]+\./ { skip = ($2 - 1) % every } !skip' "$HEDDLE_SOURCE/docs/MISTAKES.md" >"$dir/shown" &&
    grep -q '^## 22\. ' "$dir/shown" && diff "$dir/shown" "$dir/said"; then
    echo "ok 1 - common mistakes get the messages that docs/MISTAKES.md shows"
else
    echo "not ok 1 - docs/MISTAKES.md is not what Heddle says: scripts/write-mistakes build/heddle >docs/MISTAKES.md"
fi
