#!/bin/sh
# Whatever text, file or module is given: an answer in time and memory in proportion to it, in words that a terminal may show.
exec python3 "$HEDDLE_SOURCE/tests/texts/test.py"
