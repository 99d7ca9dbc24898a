#!/bin/sh
# Threads that compete for locks and cells, lane after lane in compiled code and by turns in the interpreter: see serial.cu.
exec python3 "$HEDDLE_SOURCE/tests/serial/test.py"
