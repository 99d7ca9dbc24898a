#!/bin/sh
# 600 litmus tests of the PTX memory consistency model, with all outcomes and races that an axiomatic reference of the
# model's text allows; what the files hold: tests/litmus.c.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tar -xJf "$HEDDLE_SOURCE/tests/litmus/litmus.tar.xz" -C "$dir"
"$HEDDLE_BUILD/tests/litmus" "$dir"
