#!/bin/sh
# What detectors find in files of events, without a kernel: tests/detectors/*.txt and what is expected, *.found.
# `UPDATE=1 tests/detectors/test.sh` writes what they find now; read the difference before you commit it.
exec python3 "$HEDDLE_SOURCE/tests/detectors/test.py"
