#!/bin/sh
# The recorded answers of an H200: instruction forms, SIMT programs, contracted products, kernels that pass the carry flag and
# approximate functions (see README.md here), on every CPU level that this machine has, the programs on several numbers of workers and under random
# schedules too.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for part in forms simt simt-more contract kernels mufu isa2; do
    tar -xJf "$HEDDLE_SOURCE/tests/oracle/$part-h200.tar.xz" -C "$dir"
done
count=0
status=0
folder=
# run LAST PROGRAM ARG...: the program's last line must be LAST. What it runs is in $folder of what has been unpacked.
run() {
    count=$((count + 1))
    last=$1
    what=$2
    shift 2
    timeout 300 "$HEDDLE_BUILD/tests/$what" "$@" "$dir$folder" >"$dir/out" 2>&1
    result=$?
    got=$(tail -n 1 "$dir/out")
    if [ $result -eq 77 ]; then
        echo "ok $count - $what $* # SKIP $got"
    elif [ $result -eq 0 ] && [ "$got" = "$last" ]; then
        echo "ok $count - $what $* $got"
    else
        tail -n 30 "$dir/out" | head -n 20 | sed 's/^/# /'
        echo "not ok $count - $what $* $got (exit status $result)"
        status=1
    fi
}
# Levels that all is tried on: the least and the greatest, as in tests/both.py.
greatest=v3
"$HEDDLE_BUILD/heddle" info --cpu x86-64-v4 >/dev/null 2>&1 && greatest=v4
levels="v2 $greatest" seeds=1 few=3
[ "${HEDDLE_TESTS-}" = all ] && levels="v2 v3 v4" seeds=20 few=1
forms="forms 4137: 4137 agree, 0 differ"
programs="programs 500: 500 agree, 0 differ"
contracted="kernels 1965: 1965 agree, 0 differ"
n_kernels=$(wc -l <"$dir/kernels/results.tsv")
kernels="kernels $n_kernels: $n_kernels agree, 0 differ"
for level in $levels; do
    run "$forms" oracle-forms --engine interp --cpu $level
    run "$programs" oracle-simt --engine interp --cpu $level
    run "$contracted" oracle-contract --engine interp --cpu $level
    run "$kernels" oracle-kernels --engine interp --cpu $level
    run "checksums 15: 15 agree, 0 differ" mufu-checksums --cpu $level
done
# Matrices, asynchronous copies and clusters: the groups of instructions that there are, with how many forms each has.
groups="$HEDDLE_SOURCE/tests/oracle/isa2.groups"
n_isa2=$(awk '{ n += $2 } END { print n }' "$groups")
isa2="forms $n_isa2: $n_isa2 agree, 0 differ"
folder=/isa2
for level in $levels; do
    run "$isa2" oracle-forms --groups "$groups" --engine interp --cpu $level
done
run "$isa2" oracle-forms --groups "$groups" --policy serial
seed=1
while [ $seed -le $seeds ]; do
    run "$isa2" oracle-forms --groups "$groups" --policy random:$seed
    seed=$((seed + 1))
done
# wgmma's descriptors where shared memory does not begin at 0: in kernels that tell the blocks of a cluster apart.
cp -r "$dir/isa2" "$dir/clustered"
grep "^wgmma" "$groups" >"$dir/wgmma.groups"
sed -i 's/\.maxntid 128/.maxntid 128 .reqnctapercluster 2/
s/^mov.u32 sb, sm[0-9]*;/barrier.cluster.arrive; barrier.cluster.wait; &/' $(grep -l wgmma.mma_async "$dir"/clustered/*.ptx)
folder=/clustered
run "forms 136: 136 agree, 0 differ" oracle-forms --groups "$dir/wgmma.groups"
folder=
# Compiled code, where there is the compiler: here a part of them on each level, all with `make oracle-jit`. some WHAT N EVERY PROGRAM
# ARG...: every so many of N.
some() {
    n=$((($2 + $3 - 1) / $3)) what=$1 every=$3
    shift 3
    run "$what $n: $n agree, 0 differ" "$@" --engine jit --cpu $level --every $every
}
echo "# check-all adds: two thirds of the forms, programs and kernels by compiled code on each level, five sixths on the least; all of it on the levels between; 19 random schedules of all"
if [ -e "$HEDDLE_BUILD/heddle-jit" ]; then
    for level in $levels; do
        times=$few
        [ $level = v2 ] && times=$((few * (few + 1) / 2)) # LLVM takes thrice as long there
        folder=/isa2
        some forms $n_isa2 $((16 * times)) oracle-forms --groups "$groups"
        folder=
        some forms 4137 $((62 * times)) oracle-forms
        some programs 500 $((43 * times)) oracle-simt
        some kernels 1965 $((43 * times)) oracle-contract
        some kernels $n_kernels $((31 * times)) oracle-kernels
        run "checksums 15: 15 agree, 0 differ" mufu-checksums --compiled lanes --cpu $level
    done
else
    echo "ok $((count += 1)) - compiled code # SKIP built without LLVM 19"
fi
for workers in 1 2 7; do
    run "$programs" oracle-simt --workers $workers
done
run "$programs" oracle-simt --policy serial
folder=/simt-more
run "programs 6: 6 agree, 0 differ" oracle-simt --engine interp
folder=
seed=1
while [ $seed -le $seeds ]; do
    run "$programs" oracle-simt --policy random:$seed
    seed=$((seed + 1))
done

# A name that no engine has must not pass for a test of one.
count=$((count + 1))
"$HEDDLE_BUILD/tests/oracle-forms" --engine none "$dir" >"$dir/out" 2>&1
if [ $? -eq 2 ] && grep -q 'no engine `none`; there is `auto`, `interp`, `jit`' "$dir/out"; then
    echo "ok $count - an engine that does not exist is refused, and those that do are named"
else
    sed 's/^/# /' "$dir/out"
    echo "not ok $count - an engine that does not exist is refused, and those that do are named"
    status=1
fi
echo "1..$count"
exit $status
