#!/bin/sh
# Which stores of compiled code go past the caches, and that nobody can tell from what is stored.
exec python3 "$HEDDLE_SOURCE/tests/nontemporal/test.py"
