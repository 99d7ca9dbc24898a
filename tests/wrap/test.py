"""Kernels whose addresses wrap around 2^32 or 2^64 where a test of bounds looks at two ends, or at one place for many, and calls
whose arguments would reach beyond a frame. Whatever is tested, both engines say the same on every CPU level, and nothing outside of
the kernel's memory is touched."""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import HEAD, by_both, fault_by_both, has_level, written
from tap import main, run

LEVELS = [level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4") if has_level(level)] or [None]
ILLEGAL = "[illegal-address]"


turn = itertools.cycle(LEVELS)


def on_levels(levels, compare, *args):
    """The words, or the buffers, by both engines; the same on all levels."""
    results = [compare(*args, *(["--cpu", level] if level else [])) for level in levels]
    if compare is by_both:
        results = [r["buffers"] for r in results]
    assert all(r == results[0] for r in results), results
    return results[0]


def faults(text, *args, levels=None):
    """On these levels; else on one, each time the next."""
    with written(text) as path:
        said = on_levels(levels or [next(turn)], fault_by_both, path, "--workers", 1, *args)
        assert ILLEGAL in said or "[address-space]" in said, said  # in a window of other memory


# ---- loops ----

# The first turns of the outer loop stay at one place, and show where it is; in the last the address goes on by so much in each
# round that after all of them it is inside again.
ROUNDS = """.visible .entry rounds(.param .u64 p, .param .u32 rounds, .param .u64 step)
{
    .reg .u64 %rd<40>; .reg .u32 %r<20>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r11, [rounds];
    ld.param.u64 %rd30, [step];
    mov.u32 %r12, 0;
    mov.u32 %r3, 0;
OUTER:
    add.u32 %r12, %r12, 1;
    setp.ge.u32 %p1, %r12, 20;
    selp.b64 %rd31, %rd30, 0, %p1;
    selp.b32 %r13, %r11, 3, %p1;
    mov.u64 %rd2, 0;
    mov.u32 %r1, 0;
L:
    SCALE
    add.s64 %rd12, %rd1, %rd10;
    ACCESS
    add.u32 %r3, %r3, %r2;
    add.s64 %rd2, %rd2, %rd31;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, %r13;
    @%p2 bra L;
    setp.lt.u32 %p3, %r12, 20;
    @%p3 bra OUTER;
    st.global.u32 [%rd1+4], %r3;
    ret;
}
"""


def rounds(scale, access):
    return ROUNDS.replace("SCALE", scale).replace("ACCESS", access)


def chain(step, n):
    """%rd10: %rd2 after n of these steps."""
    regs = ["%rd2"] + [f"%rd{13 + k % 16}" for k in range(n - 1)] + ["%rd10"]
    return "\n    ".join(step.format(to=to, of=of) for of, to in zip(regs, regs[1:]))


BY_8 = "shl.b64 {to}, {of}, 3;"
DOUBLED = "add.s64 {to}, {of}, {of};"
ACCESSES = "ld.global.u32 %r2, [%rd12];", "st.global.u32 [%rd12], 666;"

# Of so many rounds times a step: 2^64 bytes, up or down, with the last round at the first place or near it.
WAYS_OF_2_24 = (131073, 8388608), (1048577, -(1 << 20)), (65537, 1 << 24), ((1 << 24) + 1, 1 << 16), (257, 1 << 32)


def a_way_through_all_addresses_is_not_taken_for_a_short_one():
    for scale in chain(BY_8, 8), chain(BY_8, 6) + chain(DOUBLED, 6).replace("%rd2,", "%rd10,"), "shl.b64 %rd10, %rd2, 24;":
        for access in ACCESSES:
            for n, step in WAYS_OF_2_24:
                faults(rounds(scale, access), "--grid", 1, "--block", 32, "u32[64]=ones", n, step & (1 << 64) - 1,
                       levels=LEVELS if (n, step) == WAYS_OF_2_24[0] else None)


def a_chain_of_sums_is_looked_at_for_a_moment_only():
    """As often as the address has the register, it would take years. Its 2^64-fold is nothing."""
    with written(rounds(chain(DOUBLED, 64), ACCESSES[0])) as path:
        on_levels(LEVELS, by_both, path, "--grid", 1, "--block", 32, "u32[64]=ones+print", 1000, 8388608)


def steps_around_2_31_and_2_32_and_2_63_are_exact():
    for bits in 31, 32, 33, 62, 63:
        for step in (1 << bits) - 4, 1 << bits, (1 << bits) + 4:
            for sign in 1, -1:
                faults(rounds("mov.u64 %rd10, %rd2;", ACCESSES[1]), "--grid", 1, "--block", 32, "u32[64]=ones", 5,
                       sign * step & (1 << 64) - 1)


def a_loop_of_one_round_may_have_any_step():
    for step in 1 << 32, 1 << 63, (1 << 64) - 4:
        with written(rounds(chain(BY_8, 8), ACCESSES[1])) as path:
            on_levels(LEVELS, by_both, path, "--grid", 1, "--block", 32, "u32[64]=ones+print", 1, step)


# The same of shared memory, whose addresses have 32 bits, or 64.
SHARED_ROUNDS = """.visible .entry rounds(.param .u64 p, .param .u32 rounds, .param .TYPE step)
{
    .reg .u64 %rd<4>; .reg .u32 %r<20>; .reg .pred %p<4>; .reg .TYPE %a<8>;
    .shared .align 16 .b8 sm[4096];
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r11, [rounds];
    ld.param.TYPE %a1, [step];
    mov.TYPE %a2, sm;
    mov.u32 %r3, 0;
    mov.u32 %r1, 0;
    mov.u32 %r12, 0;
OUTER:
    add.u32 %r12, %r12, 1;
    setp.ge.u32 %p1, %r12, 3;
    selp.TYPE %a3, %a1, 0, %p1;
    selp.b32 %r13, %r11, 3, %p1;
    mov.TYPE %a4, %a2;
    mov.u32 %r1, 0;
L:
    st.shared.u32 [%a4+DISP], %r1;
    ld.shared.u32 %r2, [%a4+DISP];
    add.u32 %r3, %r3, %r2;
    add.TYPE %a4, %a4, %a3;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, %r13;
    @%p2 bra L;
    setp.lt.u32 %p3, %r12, 3;
    @%p3 bra OUTER;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


def a_way_through_all_of_a_window_is_not_taken_for_a_short_one():
    for type, bits in ("u32", 32), ("u64", 64):
        for disp in 0, 4092, 2147483644, -4:
            text = SHARED_ROUNDS.replace("TYPE", type).replace("DISP", str(disp))
            inside = 0 <= disp < 4096
            for n, step in (65537, 1 << bits - 16), ((1 << 20) + 1, -(1 << bits - 20)), (3, 1 << bits - 1), (2, 4096), (2, -8192):
                faults(text, "--grid", 1, "--block", 32, "u32[64]=ones", n, step & (1 << bits) - 1)
            if inside:
                with written(text) as path:
                    on_levels(LEVELS, by_both, path, "--grid", 1, "--block", 32, "u32[64]=ones+print", 1, (1 << bits) - 4)


# ---- rows of threads' own ----

# Each thread goes through a row of its own, as through that of a sparse matrix, in steps of 4 bytes, or of an index.
ROWS = """.visible .entry rows(.param .u64 out, .param .u64 table, .param .u64 starts, .param .u32 more)
{
    .reg .u64 %rd<16>; .reg .u32 %r<20>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [table];
    ld.param.u64 %rd3, [starts];
    ld.param.u32 %r9, [more];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd5, %rd3, %rd4;
    ld.global.u32 %r2, [%rd5];
    ld.global.u32 %r3, [%rd5+4];
    mov.u32 %r4, 0;
    sub.u32 %r5, %r3, %r2;
    mov.u32 %r10, %r2;
L:
    ADD
    WIDEN
    add.u64 %rd7, %rd2, %rd6;
    ld.global.u32 %r6, [%rd7];
    mad.lo.u32 %r4, %r4, 7, %r6;
    add.u32 %r10, %r10, STEP;
    sub.u32 %r5, %r5, 1;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra L;
    add.u64 %rd8, %rd1, %rd4;
    st.global.u32 [%rd8], %r4;
    ret;
}
"""
# 0, in one sum and in three; -1.
ADDED = ("add.u32 %r7, %r10, 0;", "add.u32 %r7, %r10, 2147483647; add.u32 %r7, %r7, 2147483647; add.u32 %r7, %r7, 2;",
         "add.u32 %r7, %r10, 2147483647; add.u32 %r7, %r7, -2147483648;")


def rows(add, widen, step):
    return ROWS.replace("ADD", add).replace("WIDEN", widen).replace("STEP", str(step))


def rows_whose_index_wraps_on_the_way_are_exact():
    starts = "u32[33]=range:1:30"
    for widen in "mul.wide.u32 %rd6, %r7, 4;", "mul.wide.s32 %rd6, %r7, 4;":
        for add in ADDED:
            for step in 1, -1:
                faults(rows(add, widen, step), "--grid", 2, "--block", 32, "u32[32]", "u32[64]=rand", starts, 0)
            with written(rows(add, widen, 1)) as path:
                on_levels(LEVELS, by_both, path, "--grid", 2, "--block", 32, "u32[32]+print", "u32[1024]=rand", starts, 0)


# ---- several accesses through one register ----

GROUP = """.visible .entry group(.param .u64 p, .param .u32 more)
{
    .reg .u64 %rd<10>; .reg .u32 %r<20>;
    .shared .align 16 .b8 sm[4096];
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r9, [more];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, sm;
    add.u32 %r4, %r3, %r2;
    add.u32 %r5, %r4, %r9;
    mov.u32 %r6, %r1;
    mov.u32 %r7, %r1;
    ACCESSES
    add.u32 %r8, %r6, %r7;
    cvt.u64.u32 %rd2, %r2;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""
# Displacements that lie nearly 2^32 apart, and what is added to the register so that one of them is inside.
FAR_APART = (-2147483648, 2147483644, 1 << 31), (-2147483648, 2147483640, (1 << 31) + 4), (-1073741824, 2147483640, 1 << 30)


def group(one, other, first, second):
    accesses = f"{one.format(d=first, r='%r6')}\n    {other.format(d=second, r='%r7')}"
    return GROUP.replace("ACCESSES", accesses)


def accesses_that_are_far_apart_have_tests_of_their_own():
    for first, second, more in FAR_APART:
        for one in "ld.shared.u32 {r}, [%r5+{d}];", "st.shared.u32 [%r5+{d}], {r};":
            for text in group(one, one, first, second), group(one, one, second, first):
                faults(text, "--grid", 4, "--block", 64, "u32[64]=ones", more, levels=LEVELS)


def accesses_around_2_32_that_meet_in_memory_are_exact():
    """Displacements 2^32 apart are one place in 32 bits."""
    for one in "ld.shared.u32 {r}, [%r5+{d}];", "st.shared.u32 [%r5+{d}], {r};":
        with written(group("st.shared.u32 [%r5+{d}], {r}; bar.sync 0;" + one, one, -2147483648, -2147483644)) as path:
            on_levels(LEVELS, by_both, path, "--grid", 4, "--block", 64, "u32[64]=ones+print", 1 << 31)


# ---- lanes ----

# Lane l is at `at` and so much more.
LANES = """.visible .entry lanes(.param .u64 p, .param .u64 at)
{
    .reg .u64 %rd<12>; .reg .u32 %r<9>;
    .SPACE .align 16 .b8 sm[4096];
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [at];
    mov.u64 %rd3, sm;
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd4, %r1;
    MORE
    add.u64 %rd6, %rd3, %rd5;
    add.u64 %rd7, %rd6, %rd2;
    mov.u32 %r2, %r1;
    ACCESS
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def lanes(space, more, access):
    access = {"ld": f"ld.{space}.u32 %r2, [%rd7];", "st": f"st.{space}.u32 [%rd7], %r1;",
              "st2": f"st.{space}.u32 [%rd7], %r1; st.{space}.u32 [%rd7+4], %r1;"}[access]
    return LANES.replace("SPACE", space).replace("MORE", more).replace("ACCESS", access)


def lanes_in_a_row_that_begin_below_zero_are_outside():
    for space in "shared", "local":
        for access in "ld", "st":
            for at in -64, -4, -124, -(1 << 32) - 64, -128:
                faults(lanes(space, "shl.b64 %rd5, %rd4, 2;", access), "--grid", 1, "--block", 32, "u32[64]=ones",
                       at & (1 << 64) - 1)


def lanes_half_of_all_addresses_apart_have_no_span():
    far = ["shl.b64 %rd5, %rd4, 63;", "shl.b64 %rd5, %rd4, 62;", "shl.b64 %rd5, %rd4, 61;",
           f"mul.lo.u64 %rd5, %rd4, {(1 << 62) + 4000};", f"mul.lo.u64 %rd5, %rd4, {(1 << 63) + 4};",
           f"mul.lo.u64 %rd5, %rd4, {(1 << 32) + 4};"]
    for more in far:
        for access in "ld", "st", "st2":
            for at in 0, 1 << 63:
                faults(lanes("shared", more, access), "--grid", 1, "--block", 32, "u32[64]=ones", at)


# All lanes are inside first, which shows where that is; then all but the first are at `far`.
LAST = """.visible .entry last(.param .u64 p, .param .u64 far)
{
    .reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .pred %p;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [far];
    mov.u32 %r1, %laneid;
    mov.u32 %r3, 0;
    mov.u64 %rd4, %rd1;
L:
    ACCESS
    add.u32 %r3, %r3, 1;
    setp.eq.u32 %p, %r1, 0;
    selp.u64 %rd4, %rd1, %rd2, %p;
    setp.lt.u32 %p, %r3, 2;
    @%p bra L;
    ret;
}
"""


def the_last_address_of_all_is_outside():
    for access, far in ("ld.global.u32 %r2, [%rd4];", -4), ("st.global.u32 [%rd4], %r1;", -4), ("ld.global.u64 %rd5, [%rd4];", -8), \
            ("st.global.u8 [%rd4], %r1;", -1), ("ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];", -16), ("red.global.add.u32 [%rd4], 1;", -4):
        faults(LAST.replace("ACCESS", access), "--grid", 1, "--block", 32, "u32[64]=ones", far & (1 << 64) - 1)


# An index of 32 bits that wraps between the lanes, widened.
WIDENED = """.visible .entry widened(.param .u64 p, .param .u32 from)
{
    .reg .u64 %rd<10>; .reg .u32 %r<20>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r9, [from];
    mov.u32 %r1, %tid.x;
    mad.lo.u32 %r2, %r1, FACTOR, %r9;
    WIDEN
    mul.wide.u32 %rd2, %r1, 8;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u64 [%rd3], %rd4;
    ret;
}
"""


def an_index_that_wraps_between_lanes_is_widened_exactly():
    for widen in "cvt.u64.u32 %rd4, %r2;", "cvt.s64.s32 %rd4, %r2;", "mul.wide.s32 %rd4, %r2, 4;", "mul.wide.u32 %rd4, %r2, 4;":
        for factor in 1, 138547336, 134217728, 16777216, 4294967295:
            for start in 0, (1 << 31) - 5, (1 << 32) - 5:
                with written(WIDENED.replace("WIDEN", widen).replace("FACTOR", str(factor))) as path:
                    by_both(path, "--grid", 1, "--block", 32, "u64[32]+print", start)


# ---- comparisons of all lanes by two scalars ----

# Of each block's own number, plus that of the thread, times FACTOR, and a bound: which branches are taken, and how often a loop
# goes around in which the number grows.
COMPARED = """.visible .entry compared(.param .u64 out, .param .u64 from, .param .u64 bound)
{
    .reg .u64 %rd<12>; .reg .u32 %r<20>; .reg .pred %p<9>; .reg .bWIDTH %x<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [from];
    ld.param.u64 %rd3, [bound];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd4, %r1, BYTES;
    add.u64 %rd5, %rd2, %rd4;
    add.u64 %rd6, %rd3, %rd4;
    ld.global.bWIDTH %x1, [%rd5];
    ld.global.bWIDTH %x2, [%rd6];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    cvt.uWIDTH.u32 %x3, OF;
    mad.lo.sWIDTH %x3, %x3, FACTOR, %x1;
    mov.u32 %r6, 0;
BRANCHES
    mov.u32 %r8, 0;
L:
    add.u32 %r8, %r8, 1;
    add.sWIDTH %x3, %x3, 40;
    setp.lt.TYPE %p2, %x3, %x2;
    setp.lt.u32 %p3, %r8, 6;
    and.pred %p4, %p2, %p3;
    @%p4 bra L;
    shl.b32 %r8, %r8, 16;
    or.b32 %r6, %r6, %r8;
    mov.u32 %r9, %ntid.y;
    mul.lo.u32 %r9, %r9, %r4;
    mad.lo.u32 %r10, %r1, %r9, %r5;
    mul.wide.u32 %rd7, %r10, 4;
    add.u64 %rd8, %rd1, %rd7;
    st.global.u32 [%rd8], %r6;
    ret;
}
"""
COMPARISONS = [f"setp.{op}.TYPE %p1, {operands};" for op in ("eq", "ne", "lt", "le", "gt", "ge") for operands in ("%x3, %x2", "%x2, %x3")]
COMPARISONS += ["setp.lt.TYPE %p5, %x3, %x2; setp.ne.TYPE %p6, %x3, %x1; and.pred %p1, %p5, %p6;",
                "setp.lt.TYPE %p5, %x3, %x2; setp.gt.TYPE %p6, %x3, %x1; or.pred %p5, %p5, %p6; not.pred %p1, %p5;"]


def compared(type, of, factor):
    branches = "\n".join(f"    {c}\n    @%p1 bra J{n};\n    or.b32 %r6, %r6, {1 << n};\nJ{n}:" for n, c in enumerate(COMPARISONS))
    text = COMPARED.replace("BRANCHES", branches).replace("OF", of).replace("FACTOR", str(factor)).replace("TYPE", type)
    return text.replace("WIDTH", type[1:]).replace("BYTES", str(int(type[1:]) // 8))


def comparisons_of_lanes_that_wrap_are_exact():
    for type, of, factor, block in (("u32", "%r5", 1, 64), ("s32", "%r5", -3, 96), ("u64", "%r5", 4, 64), ("s64", "%r5", -1, 64),
                                    ("u32", "%r2", 5, "8,8"), ("s32", "%r2", 1, "16,4")):
        width = int(type[1:])
        ends = 0, 1 << width - 1, (1 << width) - 1
        pairs = [(a + n, b + m) for a in ends for b in ends for n in (-200, -70, -31, 0, 1, 40) for m in (-100, -1, 0, 31, 77)]
        words = [",".join(str(pair[k] % (1 << width)) for pair in pairs) for k in (0, 1)]
        threads = eval(str(block).replace(",", "*"))
        with written(compared(type, of, factor)) as path:
            on_levels(LEVELS, by_both, path, "--grid", len(pairs), "--block", block, f"u32[{threads * len(pairs)}]+print",
                      *(f"u{width}[{len(pairs)}]={w}" for w in words))


# ---- several versions of one access ----

# Vectors that are stored in a loop in which warps go together; threads that are too many have ended before.
VERSIONS = """.visible .entry versions(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .u64 %rd<12>; .reg .u32 %r<16>; .reg .pred %p<4>;
    .shared .u32 tile[1024];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra END;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd2, %rd3;
    mul.wide.u32 %rd5, %r5, 8;
    add.u64 %rd6, %rd1, %rd5;
    ld.global.u32 %r10, [%rd4];
    mov.u32 %r6, tile;
    mad.lo.u32 %r7, %r2, 4, %r6;
    st.shared.u32 [%r7], %r10;
    bar.sync 0;
    mov.u32 %r11, 0;
L:
    st.global.v2.u32 [%rd6], {%r10, %r10};
    CHAIN
    add.u32 %r11, %r11, 1;
    setp.lt.u32 %p2, %r11, 40;
    @%p2 bra L;
    bar.sync 0;
END:
    ret;
}
""".replace("CHAIN", "\n    ".join(["mad.lo.u32 %r10, %r10, 1664525, %r11;"] * 32))


def what_one_version_has_noted_holds_for_all():
    """A gang stores the vectors of all lanes; single warps, of which lanes may have ended, each lane's for itself."""
    faults(VERSIONS, "--grid", 4, "--block", 128, "u32[992]=ones", "u32[512]=ones", 512, levels=LEVELS)


F = ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }\n"
WIDE = ".func g(.param .b8 x[60000]) { ret; }\n"


def a_function_of_another_type_is_not_called():
    """A prototype says how many bytes go into the frame of the function, and how many come out of it."""
    for returns, params, call, table in [
        ("(.param .b32 _)", "(.param .b8 _[60000])", "(s), %rd1, (wide)", ".callprototype"),
        ("(.param .b8 _[60000])", "(.param .b32 _)", "(wide), %rd1, (s)", ".callprototype"),
        ("", "(.param .b8 _[60000])", "%rd1, (wide)", ".callprototype"),
        ("", "", "%rd1, (wide)", ".calltargets g, f"),
    ]:
        proto = table if "targets" in table else f"{table} {returns} _ {params}"
        text = F + WIDE + f""".visible .entry k(.param .u64 p)
{{
    .reg .u64 %rd<2>; .param .b8 wide[60000]; .param .b32 s;
    mov.u64 %rd1, f;
T:  {proto};
    call {call}, T;
    ret;
}}
"""
        with written(text) as path:
            said = fault_by_both(path, "--grid", 1, "--block", 64, "u32[64]")
        assert "which is not a function of this type [invalid-pc]" in said, (proto, said)


def an_argument_is_a_whole_variable():
    """Behind a variable of a frame stand other variables, other threads' memory and, far enough, the host's."""
    for distance in 4, 4096, 60000, 2000000000, -4, -100000:
        for call in f"(r), f, (a+{distance})", f"(r+{distance}), f, (a)":
            text = HEAD + F + f".visible .entry k(.param .u64 p) {{ .param .b32 a, r; call {call}; ret; }}\n"
            with written(text) as path:
                status, _, err = run("ptx", path)
            assert status == 1 and "an argument cannot be a part of a .param variable [ptx-operand]" in err, (call, err)


def displacements_wrap():
    """Of parameters, whose offset is added to them, and of variables, whose place is."""
    far = "+9223372036854775807]"
    for load in "param.u8 %r1, [n" + far, "local.u8 %r1, [own" + far, \
            "shared.u8 %r1, [second" + far, "global.u8 %r1, [g" + far, "global.u8 %r1, [g[3]" + far:
        text = f""".global .b32 g[8];
.visible .entry k(.param .u64 p, .param .u32 n) {{
    .reg .u32 %r<2>; .local .b8 other[64]; .local .b8 own[64];
    .shared .b32 first[8]; .shared .b32 second[8];
    st.local.u32 [other], 1; st.local.u32 [own], 1; st.shared.u32 [first], 1;
    ld.{load};
    ret;
}}
"""
        faults(text, "--grid", 1, "--block", 32, "u32[64]", 1)
    faults(""".version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .u64 %rd<2>;
    ld.param.u64 %rd1, [p];
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd1+9223372036854775680], 0;
    ret;
}
""", "--grid", 1, "--block", 32, "u32[64]")


main(globals())
