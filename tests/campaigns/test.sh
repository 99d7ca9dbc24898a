#!/bin/sh
# What campaigns do (`make fuzz-ptx`, `make fuzz-engines`), for some seconds, of seeds that are always the same; and that what
# they run would be noticed if it did wrong.
exec python3 "$(dirname "$0")/test.py"
