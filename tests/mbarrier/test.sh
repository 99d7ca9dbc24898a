#!/bin/sh
# mbarrier: phases, pipelines, what is misused, what can never complete.
exec python3 "$HEDDLE_SOURCE/tests/mbarrier/test.py"
