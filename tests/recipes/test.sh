#!/bin/sh
# docs/CI.md and action.yml: their YAML, and their commands, in a repository as they expect it.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$(dirname "$0")/test.py"
