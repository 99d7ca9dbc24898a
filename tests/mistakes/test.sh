#!/bin/sh
# docs/MISTAKES.md shows what Heddle really says.
# Programs cannot load libraries that are built with sanitizers.
if nm -D "$HEDDLE_BUILD/libcuda.so.1" | grep -q __asan_init; then
    printf '1..1\nok 1 - %s # SKIP it is built with sanitizers\n' "$(basename "$(dirname "$0")")"
    exit 0
fi
set -u
page=$(mktemp)
trap 'rm -f "$page"' EXIT
echo 1..1
if "$HEDDLE_SOURCE/scripts/write-mistakes" "$HEDDLE_BUILD/heddle" >"$page" && diff "$HEDDLE_SOURCE/docs/MISTAKES.md" "$page"; then
    echo "ok 1 - common mistakes get the messages that docs/MISTAKES.md shows"
else
    echo "not ok 1 - docs/MISTAKES.md is not what Heddle says: scripts/write-mistakes build/heddle >docs/MISTAKES.md"
fi
