#!/bin/sh
# Textures and surfaces: instructions against the recorded answers of an H200.
exec python3 "$HEDDLE_SOURCE/tests/textures/test.py"
