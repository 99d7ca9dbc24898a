#!/bin/sh
# Printed PTX reads back as the same module: every PTX file of this tree, and the modules of the recorded answers.
# Where there is a ptxas, it accepts what is printed of everything.ptx.
set -u
cd "$HEDDLE_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xJf tests/oracle/forms-h200.tar.xz -C "$scratch" --wildcards '*.ptx'
tar -xJf tests/oracle/simt-h200.tar.xz -C "$scratch" --wildcards '*.ptx'
# Files with errors on purpose stand in tests/errors.
find examples tests "$scratch" -name '*.ptx' -not -path 'tests/errors/*' -not -path 'tests/fuzz/*' -print0 | sort -z |
    xargs -0 "$HEDDLE_BUILD/tests/ptx-round-trip" | sed "s|$scratch/||"
# What the vendor's assembler said of modules and instructions: scripts/ptx-corpus.
"$HEDDLE_BUILD/tests/ptx-facts" tests/ptx/modules.tsv
xz -dc tests/ptx/instructions.tsv.xz >"$scratch/instructions.tsv"
"$HEDDLE_BUILD/tests/ptx-facts" "$scratch/instructions.tsv"
if ptxas -arch=sm_90a -g -c tests/ptx/everything.ptx -o /dev/null >/dev/null 2>&1; then
    "$HEDDLE_BUILD/heddle" ptx --print tests/ptx/everything.ptx >"$scratch/printed.ptx" &&
        ptxas -arch=sm_90a -g -c "$scratch/printed.ptx" -o /dev/null >"$scratch/says" 2>&1 &&
        echo "ok - ptxas accepts what is printed of everything.ptx" ||
        { sed 's/^/# /' "$scratch/says"; echo "not ok - ptxas accepts what is printed of everything.ptx"; }
else
    echo "ok - ptxas accepts what is printed of everything.ptx # SKIP there is no ptxas that knows it"
fi
