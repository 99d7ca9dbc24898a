#!/bin/sh
# The course: what each program prints, built by `heddle cc`, and with `make check-all` by nvcc where there is one.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$(dirname "$0")/test.py"
