#!/bin/sh
# Nodes of graphs of all kinds: memory, conditions, launches and updates by kernels, edges; beside what an H200 says.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/graph_nodes/test.py" "$@"
