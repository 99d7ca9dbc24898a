"""Membermasks (PTX ISA 9.7.9.6, 9.7.13), right ones and wrong ones, beside what an H200 answered (docs/H200.md).

A line of the record: where the mask comes from (each lane loads its own, the parameter, an immediate), the mask or the 32 masks,
what each lane does (0: it executes the operation, 1: it has ended, 2: it comes later, 3: it never comes), the operation, and
the results of the lanes or "illegal-instruction"."""
import collections
import json
import lzma
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, environment, need_compiler, written
from tap import main, run, source

# %r1: lane, %r2: its operand, %r3: its mask, %r4: what it does, %r5: the result.
KERNEL = """.visible .entry NAME(.param .u64 out, .param .u64 masks, .param .u64 roles, .param .u32 mask)
{
    .reg .pred %p<6>; .reg .u32 %r<12>; .reg .u64 %rd<10>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [out];
    ld.param.u64 %rd3, [masks];
    ld.param.u64 %rd4, [roles];
    add.u64 %rd2, %rd2, %rd1;
    add.u64 %rd3, %rd3, %rd1;
    add.u64 %rd4, %rd4, %rd1;
    LOAD_MASK
    ld.global.u32 %r4, [%rd4];
    setp.eq.u32 %p1, %r4, 1;
    @%p1 bra DONE;
    rem.u32 %r6, %r1, 3;
    setp.eq.u32 %p2, %r6, 0;
    shr.u32 %r2, %r1, 1;
    selp.u32 %r2, 0, %r2, %p2;
    setp.lt.u32 %p3, %r4, 2;
    @%p3 bra ON;
    mov.u32 %r7, 0;
LATER:
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p4, %r7, 1000;
    @%p4 bra LATER;
    setp.ne.u32 %p5, %r4, 3;
    @%p5 bra ON;
    st.global.u32 [%rd2], 0x333;
    bra DONE;
ON:
    OPERATION
    st.global.u32 [%rd2], %r5;
DONE:
    ret;
}
"""
PREDICATE = "setp.ne.u32 %p2, %r2, 0; {op} "
OPERATIONS = {
    "vote.sync.ballot.b32": PREDICATE + "%r5, %p2, {mask};",
    "elect.sync": "{op} %r6|%p2, {mask}; selp.u32 %r5, 1, 0, %p2;",
    "bar.warp.sync": "{op} {mask}; mov.u32 %r5, %r2;",
    "match.any.sync.b64": "cvt.u64.u32 %rd5, %r2; {op} %r5, %rd5, {mask};",
    "shfl.sync.idx.b32": "{op} %r5, %r2, 3, 31, {mask};",
    "shfl.sync.up.b32": "{op} %r5, %r2, 1, 0, {mask};",
}
for kind in "all", "any", "uni":
    OPERATIONS[f"vote.sync.{kind}.pred"] = PREDICATE + "%p3, %p2, {mask}; selp.u32 %r5, 1, 0, %p3;"
for kind in "down", "bfly":
    OPERATIONS[f"shfl.sync.{kind}.b32"] = "{op} %r5, %r2, 1, 31, {mask};"
for name in "match.any.sync.b32", "match.all.sync.b32", "redux.sync.add.u32", "redux.sync.or.b32", "redux.sync.min.s32":
    OPERATIONS[name] = "{op} %r5, %r2, {mask};"
LOADS = {"lane": "ld.global.u32 %r3, [%rd3];", "param": "ld.param.u32 %r3, [mask];", "imm": ""}

Case = collections.namedtuple("Case", "source masks roles op answer")


def record(path="tests/oracle/membermasks-h200.txt.xz"):
    with lzma.open(os.path.join(source, path), "rt") as f:
        for line in f:
            where, masks, roles, op, *answer = line.split()
            masks = [int(m, 16) for m in masks.split(",")]
            yield Case(where, masks * (32 // len(masks)), roles, op, answer)


def kernel_of(case):
    mask = f"0x{case.masks[0]:08x}" if case.source == "imm" else "%r3"
    name = case.op.replace(".", "_") + "_" + (mask if case.source == "imm" else case.source)
    text = KERNEL.replace("NAME", name).replace("LOAD_MASK", LOADS[case.source])
    return name, text.replace("OPERATION", OPERATIONS[case.op].format(op=case.op, mask=mask))


def differences(engine, wanted):
    """Launches what is wanted of the record; what differs, and how many launches there were."""
    chosen = [c for c in record() if wanted(c)]
    kernels = dict(kernel_of(c) for c in chosen)
    different = []
    with written(".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(kernels.values())) as path:
        for c in chosen:
            masks, roles = ",".join(map(str, c.masks)), ",".join(c.roles)
            rc, out, err = run("launch", path, kernel_of(c)[0], "--grid", 1, "--block", 32, "--json", "--engine", engine,
                               "u32[32]=fill:0xeeeeeeee+print", f"u32[32]={masks}", f"u32[32]={roles}", c.masks[0])
            if rc:
                codes = [d["code"] for d in json.loads(out)["diagnostics"]]
                answer = ["illegal-instruction" if codes == ["mask"] else err + out]
            else:
                answer = [f"{v:x}" for v in json.loads(out)["buffers"][0]["values"]]
            if answer != c.answer:
                different.append((c, answer))
    return different, len(chosen)


def alike_by(engine, wanted):
    different, n = differences(engine, wanted)
    assert n > 50
    assert not different, f"{len(different)} of {n}; the first: {different[0]}"


def is_defined(case):
    """Not where Heddle and an H200 may differ: all threads of the warp come together with one mask, which each has loaded, so that
    the assembler cannot know it (docs/H200.md); a shuffle reads from a lane that takes no part."""
    unseen = case.source == "lane" and len(set(case.masks)) == 1 and "3" not in case.roles
    reads_from_others = case.op.startswith("shfl.") and ("1" in case.roles or len(set(case.masks)) > 1)
    return not unseen and (case.answer == ["illegal-instruction"] or not reads_from_others)


def test_membermasks_as_on_an_h200():
    alike_by("interp", is_defined)


def test_membermasks_as_on_an_h200_in_compiled_code():
    need_compiler()
    few = {"vote.sync.ballot.b32", "shfl.sync.idx.b32", "redux.sync.add.u32", "bar.warp.sync"}
    alike_by("jit", lambda c: is_defined(c) and c.op in few)


# Threads below n: %r3 is the mask, %r5 all results so far.
BELOW = """.visible .entry below(.param .u64 out, .param .u64 in, .param .u32 mask, .param .u32 n)
{
    .reg .pred %p<4>; .reg .u32 %r<12>; .reg .u64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [n];
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra DONE;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r4, [%rd2];
    mov.u32 %r5, 0;
    MASK
    OPERATIONS
    st.global.u32 [%rd1], %r5;
DONE:
    ret;
}
"""
SUMMED = "mad.lo.u32 %r5, %r5, 31, %r7;"
BEFORE = "mad.lo.u32 %r6, %r4, 9, %r5; "  # what is exchanged depends on what has been


def shuffles_of_tiles(size):
    """Between lanes of a tile, as cooperative groups have them, and a vote of each kind."""
    segment = (32 - size) << 8
    for way, b, clamp in ("up", 1, 0), ("down", size // 2, 31), ("bfly", size // 2, 31), ("idx", 2, 31):
        yield (f"{BEFORE}shfl.sync.{way}.b32 %r7|%p2, %r6, {b}, {segment | clamp}, {{mask}}; selp.u32 %r8, 5, 3, %p2; "
               f"add.u32 %r7, %r7, %r8; {SUMMED}")
    for bit in 1, 64:
        test = f"{BEFORE}and.b32 %r8, %r6, {bit}; setp.ne.u32 %p2, %r8, 0; "
        yield f"{test}vote.sync.ballot.b32 %r7, %p2, {{mask}}; {SUMMED}"
        for kind in "all", "any", "uni":
            yield f"{test}vote.sync.{kind}.pred %p3, %p2, {{mask}}; selp.u32 %r7, 7, 2, %p3; {SUMMED}"


TILE_MASK = "mov.u32 %r9, %laneid; and.b32 %r9, %r9, {high}; mov.u32 %r3, {ones}; shl.b32 %r3, %r3, %r9;"
MASKS = [("-1", ""), ("%r3", "ld.param.u32 %r3, [mask];")]
MASKS += [("%r3", TILE_MASK.format(high=32 - size, ones=(1 << size) - 1)) for size in (16, 8, 4)]


def test_shuffles_and_votes_of_whole_warps_are_what_the_engine_does():
    """With all lanes' mask as a number, in a register, and with each tile's; where all 32 lanes are there, and where some have left."""
    need_compiler()
    for mask, load in MASKS:
        for size in (32, 16, 8, 4):
            operations = "\n    ".join(shuffles_of_tiles(size)).replace("{mask}", mask)
            text = BELOW.replace("MASK", load).replace("OPERATIONS", operations)
            if "laneid" in load and f"{32 - size};" not in load:
                continue  # a tile's lanes read from their own
            with written(".version 8.0\n.target sm_90\n.address_size 64\n" + text) as path:
                for block, n in (64, 64), (64, 48), (48, 48):
                    args = [path, "--grid", 1, "--block", block, f"u32[{block}]=fill:1+print", f"u32[{block}]=rand:7",
                            "0xffffffff", n]
                    if "laneid" in load or n % 32 == 0:
                        by_both(*args)


def test_shuffles_and_votes_of_whole_warps_are_no_calls():
    """Where all lanes are known to be there, code has as many calls of the engine as without them."""
    need_compiler()
    calls = []
    for operations in "", "\n    ".join(shuffles_of_tiles(32)).replace("{mask}", "-1"):
        text = BELOW.replace("MASK", "").replace("@%p1 bra DONE;", "").replace("OPERATIONS", operations)
        with written(".version 8.0\n.target sm_90\n.address_size 64\n" + text) as path:
            args = [path, "--grid", 1, "--block", 64, "u32[64]", "u32[64]=range", 0, 64, "--engine", "jit"]
            _, _, err = run("launch", *args, env=environment(HEDDLE_DUMP="llvm", HEDDLE_CACHE="off"))
        calls.append(err.count("call i1 %"))
    assert calls[0] and calls[1] == calls[0], calls


main(globals())
