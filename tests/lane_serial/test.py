"""Loops in which each thread walks through a list of its own, a row of a sparse matrix: see docs/JIT.md, "Lane after lane"."""
import itertools
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, dump_of, environment, has_level, need_compiler, same_results, without_addresses, written
from tap import main, run, some

# out[i] of what row i has: from offset[2 * i] to offset[2 * i + 1].
FRAME = """.visible .entry rows(.param .u64 out, .param .u64 offset, .param .u64 column, .param .u64 table, .param .u32 n)
{
    .reg .u64 %out, %offset, %column, %table, %rd<20>; .reg .u32 %r<20>, %i, %k, %end, %sum, %n; .reg .s32 %s<4>;
    .reg .f32 %f<8>; .reg .f64 %d<4>; .reg .pred %p, %q, %b; .reg .u16 %h<4>;
    ld.param.u64 %out, [out];
    ld.param.u64 %offset, [offset];
    ld.param.u64 %column, [column];
    ld.param.u64 %table, [table];
    ld.param.u32 %n, [n];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %i, %r1, %r2, %r0;
    mul.wide.u32 %rd0, %i, 4;
    add.u64 %out, %out, %rd0;
    mov.u32 %sum, 7;
    setp.ge.u32 %p, %i, %n;
    @%p bra DONE;
    mul.wide.u32 %rd0, %i, 8;
    add.u64 %rd0, %offset, %rd0;
    ld.global.u32 %k, [%rd0];
    ld.global.u32 %end, [%rd0+4];
    BEFORE
    setp.ge.u32 %p, %k, %end;
    @%p bra DONE;
L:
    BODY
    @%p bra L;
    BEHIND
DONE:
    st.global.u32 [%out], %sum;
    ret;
}
"""
NEXT = "add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %end;"
# %r5 = column[k]; %r6 = table[%r5]
COLUMN = "mul.wide.u32 %rd1, %k, 4; add.u64 %rd2, %column, %rd1; ld.global.u32 %r5, [%rd2];"
TABLE = "mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %table, %rd3; ld.global.u32 %r6, [%rd4];"
ADD = "mad.lo.u32 %sum, %sum, 31, %r6;"
POINTER = "mul.wide.u32 %rd5, %k, 4; add.u64 %rd5, %column, %rd5;"


def unrolled(n):
    """Elements that are n at a time; rows are of multiples of 4."""
    text = ""
    for j in range(n):
        text += f"add.u32 %r{8 + j}, %k, {j}; mul.wide.u32 %rd1, %r{8 + j}, 4; add.u64 %rd2, %column, %rd1;"
        text += f"ld.global.u32 %r5, [%rd2]; {TABLE} {ADD}"
    return text + f"add.u32 %k, %k, {n}; setp.lt.u32 %p, %k, %end;"


# before the loop, in it, and behind it; those of WALKS are gone around lane after lane
WALKS = {
    "an index": ("", COLUMN + TABLE + ADD + NEXT, ""),
    "a signed index": ("", COLUMN.replace("wide.u32", "wide.s32") + TABLE.replace("wide.u32", "wide.s32") + ADD + NEXT, ""),
    "four at a time": ("", unrolled(4), ""),
    "a pointer": (POINTER, "ld.global.u32 %r5, [%rd5]; add.u64 %rd5, %rd5, 4;" + TABLE + ADD + NEXT, ""),
    "a pointer to pairs": (POINTER, "ld.global.u32 %r5, [%rd5+4]; ld.global.u32 %r6, [%rd5];" + ADD + TABLE + ADD +
                           "add.u64 %rd5, %rd5, 8; add.u32 %k, %k, 2; setp.lt.u32 %p, %k, %end;", ""),
    "pairs": (POINTER, "ld.global.v2.u32 {%r5, %r6}, [%rd5];" + ADD + TABLE + ADD +
              "add.u64 %rd5, %rd5, 8; add.u32 %k, %k, 2; setp.lt.u32 %p, %k, %end;", ""),
    "backwards": ("sub.u32 %r4, %end, 1;", COLUMN.replace("%k", "%r4") + TABLE + ADD +
                  "add.s32 %r4, %r4, -1; setp.ge.s32 %p, %r4, %k;", ""),
    "a pointer backwards": (POINTER.replace("%k", "%end"), "ld.global.u32 %r5, [%rd5+-4]; sub.u64 %rd5, %rd5, 4;" + TABLE +
                            ADD + NEXT, ""),
    "without a table": ("", COLUMN + ADD.replace("%r6", "%r5") + NEXT, ""),
    "until it is so": ("", COLUMN + TABLE + ADD + "add.u32 %k, %k, 1; setp.ge.u32 %p, %k, %end;", ""),
    "bytes": ("", "cvt.u64.u32 %rd1, %k; add.u64 %rd2, %column, %rd1; ld.global.u8 %r5, [%rd2];" + TABLE + ADD + NEXT, ""),
    "halves with a sign": ("", "mul.wide.u32 %rd1, %k, 2; add.u64 %rd2, %column, %rd1; ld.global.s16 %s1, [%rd2];"
                           "mov.b32 %r6, %s1;" + ADD + NEXT, ""),
    "structures": (POINTER, "ld.global.u32 %r5, [%rd5]; ld.global.u32 %r6, [%rd5+20]; add.u64 %rd5, %rd5, 24;" + ADD + TABLE +
                   ADD + "add.u32 %k, %k, 6; setp.lt.u32 %p, %k, %end;", ""),
    "some elements": ("", COLUMN + "and.b32 %r7, %r5, 3; setp.ne.u32 %q, %r7, 0; mov.u32 %r6, 5;" +
                      TABLE.replace("ld.global", "@%q ld.global") + ADD + NEXT, ""),
    "other elements": ("", COLUMN + "and.b32 %r7, %r5, 3; setp.ne.u32 %q, %r7, 0; mov.u32 %r6, 5;" +
                       TABLE.replace("ld.global", "@!%q ld.global") + "@%q add.u32 %sum, %sum, 3;" + ADD + NEXT, ""),
    "a predicate": ("setp.eq.u32 %b, %i, 3;", COLUMN + TABLE + ADD + "and.b32 %r7, %r6, 1; setp.eq.u32 %q, %r7, 1;"
                    "xor.pred %b, %b, %q;" + NEXT, "@%b add.u32 %sum, %sum, 1;"),
    "a way out": ("", COLUMN + TABLE + ADD + NEXT, ""),
    "halves by an index": ("", "add.u32 %r4, %k, 3; mul.wide.u32 %rd1, %r4, 2; add.u64 %rd2, %column, %rd1;"
                           "ld.global.u16 %h1, [%rd2+-4]; ld.global.u16 %h2, [%rd2+2]; cvt.u32.u16 %r5, %h1;"
                           "cvt.u32.u16 %r6, %h2; xor.b32 %r6, %r6, %r5;" + ADD + NEXT, ""),
    "what was last": ("", COLUMN + TABLE + ADD + NEXT, "add.u32 %sum, %sum, %r5; xor.b32 %sum, %sum, %k;"),
    "a number for all": ("mov.u32 %r4, 0; sub.u32 %r3, %end, %k;",
                         "add.u32 %r8, %k, %r4; mul.wide.u32 %rd1, %r8, 4; add.u64 %rd2, %column, %rd1;"
                         "ld.global.u32 %r5, [%rd2];" + TABLE + ADD + "add.u32 %sum, %sum, %r4; add.u32 %r4, %r4, 1;"
                         "setp.lt.u32 %p, %r4, %r3;", ""),
    "floats": ("mov.f32 %f1, 0f3f800000;", COLUMN + TABLE + "mov.b32 %f2, %r6; mov.b32 %f3, %r5;"
               "fma.rn.f32 %f1, %f2, %f3, %f1;" + NEXT, "mov.b32 %sum, %f1;"),
    "products and sums": ("mov.f32 %f1, 0f3f800000;", COLUMN + TABLE + "mov.b32 %f2, %r6; mov.b32 %f3, %r5;"
                          "mul.rn.f32 %f4, %f2, %f3; add.rn.f32 %f1, %f4, %f1;" + NEXT, "mov.b32 %sum, %f1;"),
    "a line": ("", COLUMN + "ld.global.u32 %r7, [%table];" + TABLE + ADD + "add.u32 %sum, %sum, %r7;" + TABLE + ADD + NEXT, ""),
    "what is found": ("", COLUMN + TABLE + "and.b32 %r5, %r6, 1023;" + TABLE + ADD + NEXT, ""),
    "the lane": ("", COLUMN + TABLE + ADD + "mov.u32 %r7, %laneid; add.u32 %sum, %sum, %r7;" + NEXT, ""),
}
ELEMENTS = 4096

# CPUs that gather do most of them by gathers. Of the others, the tests of the loops take that whose vectors LLVM makes in half the time.
LEVELS = [["--cpu", level] for level in ("x86-64-v3", "x86-64-v2") if has_level(level)] or [[]]
LEVEL = LEVELS[0]


def text_of(name, ways=WALKS):
    before, body, behind = ways[name]
    frame = FRAME.replace("@%p bra L;", "@!%p bra L;") if "until" in name else FRAME
    if "way out" in name:  # as clang has it
        frame = FRAME.replace("@%p bra L;", "@!%p bra OUT; bra.uni L; OUT:")
    return frame.replace("BEFORE", before).replace("BODY", body).replace("BEHIND", behind)


def offsets(lengths, seed=1):
    """Of rows of so many elements, one behind the other, but for the long ones, which all begin at 0."""
    ends, at = [], 0
    for n in lengths:
        at = at if at + n + 32 <= ELEMENTS else 0
        ends += [at, at + n]
        at += n
    return f"u32[{len(ends)}]=" + ",".join(map(str, ends))


def arguments(lengths, column=f"u32[{ELEMENTS}]=randint:0:1023", table="u32[1024]=rand", out=512):
    return f"u32[{out}]=fill:9+print", offsets(lengths), column, table, len(lengths)


def lengths_of(kind, n=200):
    """Multiples of 12, so that they serve all loops."""
    r = random.Random(kind)
    if kind == "one long":
        return [12 * (i == 45) * 80 for i in range(n)]
    if kind == "none":
        return [0] * n
    if kind == "equal":
        return [24] * n
    return [12 * r.choice((0, 0, 1, 1, 2, 3, 9)) for _ in range(n)]


def each_way(names=None, **more):
    for name in names or WALKS:
        with written(text_of(name)) as path:
            yield name, path


def threads_of(name):
    """Of a block: a loop is compiled for one size of blocks, and once for all tests that take this one."""
    return 64 if len(name) % 2 else 37


def rows_of_all_lengths_give_what_the_interpreter_gives():
    for name, path in each_way():
        lengths = sum((lengths_of(kind, 100) for kind in ("mixed", "one long", "none", "equal")), [])
        threads = threads_of(name)
        by_both(path, "--grid", 450 // threads, "--block", threads, *arguments(lengths), *LEVEL)


def so_they_do_on_each_level_and_in_both_tiers():
    need_compiler()
    for name in some(3, ("an index", "a pointer to pairs", "a predicate", "four at a time", "backwards", "floats")):
        found = set()
        with written(text_of(name)) as path:
            for tier, level in itertools.product("12", (*LEVELS, [])):
                done = run("launch", path, "--grid", 4, "--block", 64, *arguments(lengths_of("levels")), "--engine", "jit",
                           *level, "--json", env=environment(HEDDLE_TIER=tier, HEDDLE_VERIFY="1"))
                assert done[0] == 0, done
                found.add(str(json.loads(done[1])["buffers"]))
        assert len(found) == 1, (name, found)


def marked(text, level="x86-64-v4"):
    """The loops of a kernel, each with whether lanes go around it one after the other."""
    with written(text) as path:
        err = dump_of("ir", path, "--grid", 1, "--block", 64, *arguments([8] * 64), target=level)
    return ["lane after lane" in line for line in re.findall(r"^block \d+: loop.*", err, re.M)]


def the_dump_says_which_loops_these_are():
    need_compiler()
    for name in WALKS:
        assert marked(text_of(name), "x86-64-v3") == [True], name
    for name in TOGETHER:
        assert marked(text_of(name, TOGETHER), "x86-64-v3") == [False], name
    for name in "four at a time", "an index", "floats", "one row for all":
        assert marked(text_of(name, {**WALKS, **TOGETHER}), "x86-64-v4") == [name == "four at a time"], name


def each_lane_asks_once_for_what_lies_ahead_of_each_row():
    need_compiler()
    two = COLUMN + "add.u64 %rd6, %table, %rd1; ld.global.u32 %r6, [%rd6];" + ADD + NEXT  # column[k], table[k]
    ways = {**WALKS, "two arrays": ("", two, "")}
    for name, bytes_ahead in (("an index", [2048]), ("four at a time", [2048]), ("a pointer to pairs", [2048]),
                              ("backwards", [-2048]), ("a pointer backwards", [-2048]), ("two arrays", [2048, 2048])):
        with written(text_of(name, ways)) as path:
            err = dump_of("llvm", path, "--grid", 1, "--block", 64, *arguments([8] * 64), target="x86-64-v3")
            if name == "two arrays":
                by_both(path, "--grid", 2, "--block", 37,
                        *arguments(lengths_of("two", 70), table=f"u32[{ELEMENTS}]=rand", out=74), *LEVEL)
        sums = {a: int(n) for a, n in re.findall(r"(%\S+) = (?:add|getelementptr) .*?, (?:i64 )?(-?\d+)$", err, re.M)}
        copies = dict(re.findall(r"(%\S+) = inttoptr i64 (%\S+) to ptr", err))
        asked = re.findall(r"call void @llvm.prefetch.*?\((?:ptr|ptr \w+) (%\S+), i32 0", err)
        ahead = [sums.get(copies.get(a, a)) for a in asked]
        assert ahead == bytes_ahead, (name, ahead, asked)


MUCH = "".join(f"fma.rn.f32 %f1, %f1, 0f3f7fff{j:02x}, %f2;" for j in range(16))
FLOATS = COLUMN + TABLE + "mov.b32 %f2, %r6;"
TOGETHER = {
    "very much arithmetic": ("mov.f32 %f1, 0f3f800000;", FLOATS + 4 * MUCH + NEXT, "mov.b32 %sum, %f1;"),
    "lanes in a row": ("mov.u32 %k, %i; ld.global.u32 %end, [%rd0];", COLUMN + ADD.replace("%r6", "%r5") +
                       "add.u32 %k, %k, %r2; setp.lt.u32 %p, %k, %end;", "xor.b32 %sum, %sum, %k;"),
    "one row for all": ("mov.u32 %r4, 0;", COLUMN.replace("%k", "%r4") + ADD.replace("%r6", "%r5") +
                        "add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, %end;", ""),
    "a list": ("and.b32 %r5, %k, 1023;", TABLE + "and.b32 %r5, %r6, 1023;" + ADD + NEXT, ""),
    "halves of what is left": ("", "add.u32 %r4, %k, %end; shr.u32 %r4, %r4, 1;" + COLUMN.replace("%k", "%r4") +
                               "and.b32 %r5, %r5, 1; setp.eq.u32 %q, %r5, 0; @%q add.u32 %k, %r4, 1; @!%q mov.u32 %end, %r4;"
                               + ADD.replace("%r6", "%r5") + "setp.lt.u32 %p, %k, %end;", ""),
    "a store": ("", COLUMN + TABLE + ADD + "st.global.u32 [%out], %sum;" + NEXT, ""),
    "an atomic operation": ("", COLUMN + TABLE + ADD + "red.global.add.u32 [%out], 1;" + NEXT, ""),
    "a volatile load": ("", COLUMN.replace("ld", "ld.volatile") + TABLE + ADD + NEXT, ""),
    "a relaxed load": ("", COLUMN + TABLE.replace("ld", "ld.relaxed.gpu") + ADD + NEXT, ""),
    "a vote": ("", COLUMN + TABLE + ADD + "activemask.b32 %r7; add.u32 %sum, %sum, %r7;" + NEXT, ""),
}


def others_give_what_the_interpreter_gives():
    for name in set(TOGETHER) - {"a vote", "an atomic operation"}:
        with written(text_of(name, TOGETHER)) as path:
            by_both(path, "--grid", 6, "--block", 37, *arguments(lengths_of(name)), *LEVEL)


# Rows of more rounds than a warp's budget has (16384), of several lengths; lanes give way by and by.
def rows_that_take_several_turns_give_what_the_interpreter_gives():
    lengths = [0] * 64
    for lane, n in (0, 40000), (3, 16384), (4, 16385), (5, 16386), (9, 32768), (17, 50000), (31, 16383), (40, 4), (63, 33000):
        lengths[lane] = n
    ends = ",".join(f"0,{n}" for n in lengths)
    for name in "an index", "a pointer", "a number for all", "a predicate", "what was last":
        with written(text_of(name)) as path:
            for threads in 64, 20:
                by_both(path, "--grid", 64 // threads + 1, "--block", threads, "--workers", 1, "u32[256]=fill:9+print",
                        f"u32[128]={ends}", "u32[50000]=randint:0:1023", "u32[1024]=rand", 64, *LEVEL)


# Faults come in a block behind others, whose accesses have shown where the buffers are; and in the first.
def what_is_outside_is_the_fault_of_the_lane_that_comes_there():
    for name in "an index", "a signed index", "four at a time", "a pointer", "a pointer to pairs", "backwards", "some elements":
        with written(text_of(name)) as path:
            for at in 77, 2000:
                values = [5] * ELEMENTS
                values[at] = values[at + 1] = 5000 + at
                args = list(arguments(lengths_of("faults", 128)))
                args[2] = f"u32[{ELEMENTS}]=" + ",".join(map(str, values))
                for lengths in [24] * 128, [20 + 4 * (i % 8) for i in range(128)]:
                    args[1] = offsets(lengths)
                    fault_or_not(path, threads_of(name), *args)


def fault_or_not(path, threads, *args):
    """The same by both engines, be it a fault."""
    need_compiler()
    launched = "launch", path, "--grid", 148 // threads, "--block", threads, "--workers", 1, *args, *LEVEL, "--json"
    (status, out, err), interpreted = (run(*launched, "--engine", e) for e in ("jit", "interp"))
    assert status == interpreted[0] and status in (0, 1), (out, err, interpreted)
    if status:
        texts = [without_addresses(o + e) for o, e in ((out, err), interpreted[1:])]
        assert texts[0] == texts[1] and '"severity": "error"' in texts[0], texts
    else:
        same_results(json.loads(out), json.loads(interpreted[1]))
    return status


def rows_that_end_outside_are_faults_of_the_round_that_comes_there():
    faults = 0
    for name in WALKS:
        with written(text_of(name)) as path:
            for last, end in (101, ELEMENTS + 24), (121, 4 * ELEMENTS):
                rows = [(12 * i, 12 * i + 24) for i in range(128)]
                rows[last] = (end - 48, end)
                args = arguments([0] * 128)
                faults += fault_or_not(path, threads_of(name), args[0], "u32[256]=" + ",".join(f"{a},{b}" for a, b in rows), *args[2:])
    assert faults > len(WALKS), faults


# Before the buffer, through an index that wraps; and an address that is not aligned from the second round on.
ODD = {
    "wraps": ("add.u32 %k, %k, 0xfffffff0; add.u32 %end, %end, 0xfffffff0; sub.u64 %column, %column, 17179869120;",
              COLUMN + TABLE + ADD + "add.u32 %k, %k, 1; setp.ne.u32 %p, %k, %end;", ""),
    "starts before": ("sub.u32 %k, %k, 8; sub.u32 %end, %end, 8;", "add.u32 %r4, %k, 8;" + COLUMN.replace("%k", "%r4") + TABLE +
                      ADD + "add.u32 %k, %k, 1; setp.ne.u32 %p, %k, %end;", ""),
    "in steps that are not whole": (POINTER, "ld.global.u32 %r5, [%rd5]; add.u64 %rd5, %rd5, 6;" + TABLE + ADD + NEXT, ""),
    "of two tables": ("and.b32 %r3, %i, 1; setp.eq.u32 %q, %r3, 1; selp.b64 %table, %table, %column, %q;",
                      COLUMN + TABLE + ADD + NEXT, ""),
    "stays": (POINTER, "ld.global.u32 %r5, [%rd5];" + COLUMN + TABLE + ADD + NEXT, ""),
    "far": (POINTER, "ld.global.u32 %r5, [%rd5]; add.u64 %rd5, %rd5, 0x4000000000000000;" + COLUMN + TABLE + ADD + NEXT, ""),
}


def addresses_that_go_odd_ways_are_exact():
    for name in ODD:
        with written(text_of(name, ODD)) as path:
            for lengths in [20] * 128, [4 * (i % 7) for i in range(128)], [4] * 100 + [0, 2] * 14:
                fault_or_not(path, threads_of(name), *arguments(lengths))


NESTED = """
OUTER:
    mov.u32 %r3, %k;
    setp.ge.u32 %p, %r3, %end;
    @%p bra INNER_DONE;
INNER:
    mul.wide.u32 %rd1, %r3, 4; add.u64 %rd2, %column, %rd1; ld.global.u32 %r5, [%rd2];
    mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %table, %rd3; ld.global.u32 %r6, [%rd4];
    mad.lo.u32 %sum, %sum, 31, %r6;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, %end;
    @%p bra INNER;
INNER_DONE:
    add.u32 %k, %k, 5;
    SOME
    setp.lt.u32 %p, %k, %end;
    @%p bra OUTER;
"""


def loops_in_loops_and_in_branches_are_exact():
    # lanes wait behind the branch that others have taken, with registers that the loop writes
    some = """setp.lt.u32 %q, %i, 40; @%q bra SKIP; and.b32 %r7, %sum, 1; setp.eq.u32 %q, %r7, 0; @%q bra SKIP;
        mov.u32 %r3, 77; add.u32 %sum, %sum, %r5; SKIP: add.u32 %sum, %sum, %r3;"""
    for text in NESTED.replace("SOME", ""), NESTED.replace("SOME", some):
        body = text + "setp.ne.u32 %p, %k, %k;"
        full = FRAME.replace("BEFORE", "mov.u32 %r3, 1; mov.u32 %r5, 2;").replace("BODY", body).replace("BEHIND", "")
        with written(full) as path:
            for threads in 64, 45:
                for kind in "mixed", "equal", "one long":
                    lengths = [min(n, 200) for n in lengths_of(kind)]
                    by_both(path, "--grid", 5, "--block", threads, *arguments(lengths), *LEVEL)
        assert True in marked(full, "x86-64-v3")


# What lanes come to that have left the loop: a block before it, where they do not wait for the others; and a loop that spins.
BEFORE_IT = """mov.u32 %r3, 0; bra OUTER;
INNER:
    COLUMN TABLE ADD NEXT
    @%p bra INNER;
OUTER:
    add.u32 %r3, %r3, 1;
    activemask.b32 %r7; popc.b32 %r7, %r7; mad.lo.u32 %sum, %sum, 3, %r7;
    setp.gt.u32 %p, %r3, 3;
    @%p bra DONE;
    ld.global.u32 %k, [%rd0];
    ld.global.u32 %end, [%rd0+4];
    bra INNER;
"""
SPINNING = """and.b32 %r3, %i, 1; mul.wide.u32 %rd5, %r3, 4; add.u64 %rd5, %table, %rd5;
    setp.ge.u32 %q, %i, 96;
    @%q bra SET;
INNER:
    COLUMN TABLE ADD NEXT
    @%p bra INNER;
SPIN:
    ld.volatile.global.u32 %r7, [%rd5+4096];
    setp.eq.u32 %p, %r7, 0;
    @%p bra SPIN;
    bra DONE;
SET:
    st.volatile.global.u32 [%rd5+4096], 1;
"""


def lanes_leave_for_a_block_before_the_loop_or_for_one_that_spins():
    frame = FRAME[:FRAME.index("    BEFORE")], FRAME[FRAME.index("DONE:"):]
    for text in BEFORE_IT, SPINNING:
        for word, what in ("COLUMN", COLUMN), ("TABLE", TABLE), ("ADD", ADD), ("NEXT", NEXT):
            text = text.replace(word, what)
        with written(text.join(frame)) as path:
            rows = ",".join(f"{i % 5},{i % 5 + 1 + i * i % 23}" for i in range(128))
            flags = ",".join(["0"] * 1024 + ["1", "0"])
            by_both(path, "--workers", 1, "--grid", 1, "--block", 128, "u32[128]=fill:9+print", f"u32[256]={rows}",
                    "u32[1024]=randint:0:1023", f"u32[1026]={flags}", 128, *LEVEL)


main(globals())
