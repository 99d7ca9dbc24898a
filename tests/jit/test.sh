#!/bin/sh
# Compiled code beside the interpreter: the same results, faults and fairness; what is said where there can be none.
# Before that what passes and analyses find out: each PASS/*.ir is what comes out of itself (`build/tests/ir-test --write` makes it so).
set -u
cd "$HEDDLE_SOURCE"
if [ -x "$HEDDLE_BUILD/tests/ir-test" ]; then
    "$HEDDLE_BUILD/tests/ir-test" --check tests/jit/*/*.ir
else
    echo "ok - passes find what their golden files say # SKIP built without LLVM 19"
fi
exec python3 tests/jit/test.py
