#!/bin/sh
# Memory order: the instructions of each CPU level for every operation and order.
exec python3 "$HEDDLE_SOURCE/tests/orders/test.py"
