#!/bin/sh
# The kernels' printf: what it prints, and that neither a conversion nor a flood of calls takes more than it is given.
exec python3 "$HEDDLE_SOURCE/tests/printf/test.py"
