#!/bin/sh
# Arrays, textures and surfaces of both APIs, beside an H200's.
. "$HEDDLE_SOURCE/tests/unsanitized.sh"
exec python3 "$HEDDLE_SOURCE/tests/texture_api/test.py" "$@"
