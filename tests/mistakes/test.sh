#!/bin/sh
# docs/MISTAKES.md shows what Heddle really says.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
set -u
page=$(mktemp)
trap 'rm -f "$page"' EXIT
echo 1..1
if "$HEDDLE_SOURCE/scripts/write-mistakes" "$HEDDLE_BUILD/heddle" >"$page" && diff "$HEDDLE_SOURCE/docs/MISTAKES.md" "$page"; then
    echo "ok 1 - common mistakes get the messages that docs/MISTAKES.md shows"
else
    echo "not ok 1 - docs/MISTAKES.md is not what Heddle says: scripts/write-mistakes build/heddle >docs/MISTAKES.md"
fi
