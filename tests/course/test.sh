#!/bin/sh
# The programs of examples/course.
exec python3 "$HEDDLE_SOURCE/tests/course/test.py"
