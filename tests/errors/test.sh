#!/bin/sh
# What `heddle ptx` says of PTX with mistakes that people make: tests/errors/*.ptx and what is expected, *.txt.
# `UPDATE=1 tests/errors/test.sh` writes what it says now; read the difference before you commit it.
exec python3 "$HEDDLE_SOURCE/tests/errors/test.py"
