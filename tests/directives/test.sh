#!/bin/sh
# Directives of kernels that a launch is held to, and the device's own limits.
exec python3 "$HEDDLE_SOURCE/tests/directives/test.py"
