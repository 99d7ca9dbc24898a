#!/bin/sh
# The page of heddle explain, in Debian's chromium where it is installed.
# alone: it measures how long a page takes to open
exec python3 "$HEDDLE_SOURCE/tests/explain_page/test.py"
