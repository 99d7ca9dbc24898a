#!/bin/sh
# What PTX ISA 8.6 and later added for sm_100, beside fractions; what is refused of it.
exec python3 "$HEDDLE_SOURCE/tests/sm100/test.py"
