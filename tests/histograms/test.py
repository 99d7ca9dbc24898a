"""Additions without results to small arrays of global memory, which a worker sums up beside them: see exec/histogram.c."""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, environment, fault_by_both, need_compiler, written
from tap import launch, main


# Each thread goes through in[] in steps of the grid: %r9 is the element, %cell the address of sums[%r9], %own that of a
# cell that is the thread's alone; out[] has an element for each thread.
FRAME = """.version 8.0
.target sm_90
.address_size 64
.visible .global .align 16 .b8 table[1024];
.visible .entry adds(.param .u64 sums, .param .u64 in, .param .u64 out, .param .u32 n)
{
    .reg .u64 %sums, %in, %out, %cell, %own, %mine, %rd<10>; .reg .u32 %r<20>, %i, %n; .reg .f32 %f<4>; .reg .pred %p, %q;
    .shared .align 4 .b8 tile[1024];
    ld.param.u64 %sums, [sums];
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u32 %n, [n];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %nctaid.x;
    mad.lo.u32 %i, %r1, %r2, %r0;
    mul.lo.u32 %r3, %r3, %r2;
    mul.wide.u32 %rd0, %i, 4;
    add.u64 %out, %out, %rd0;
    mul.lo.u32 %r4, %i, 5;
    and.b32 %r4, %r4, 255;
    mul.wide.u32 %rd0, %r4, 4;
    add.u64 %own, %sums, %rd0;
    BEFORE
    setp.ge.u32 %p, %i, %n;
    @%p bra DONE;
L:
    mul.wide.u32 %rd1, %i, 4;
    add.u64 %rd1, %in, %rd1;
    ld.global.u32 %r9, [%rd1];
    mul.wide.u32 %rd2, %r9, 4;
    add.u64 %cell, %sums, %rd2;
    BODY
    add.u32 %i, %i, %r3;
    setp.lt.u32 %p, %i, %n;
    @%p bra L;
DONE:
    BEHIND
    ret;
}
"""
ONE = "red.global.add.u32 [%cell], 1;"
WIDE = "mul.wide.u32 %rd3, %r9, 8; add.u64 %rd4, %sums, %rd3;"
OWN_WIDE = "mul.wide.u32 %rd3, %r4, 8; add.u64 %rd4, %sums, %rd3;"
MINE = "mul.wide.u32 %rd3, %r0, 4; add.u64 %mine, %sums, %rd3; mov.u32 %r7, 0;"
COUNTED = "mov.u32 %r5, 0; M: DO add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, 50; @%q bra M;"
LOOK = "ld.global.u32 %r5, [%own]; st.global.u32 [%out], %r5;"

# before the loop, in it, and behind it: what they leave does not depend on the order of threads
ANY_GRID = {
    "ones": ("", ONE, ""),
    "several at once": ("", ONE + "red.global.add.u32 [%cell], 7;" + ONE, ""),
    "numbers of their own": ("", "mul.lo.u32 %r5, %i, 2654435761; red.global.add.s32 [%cell], %r5;", ""),
    "64 bits": ("", WIDE + "cvt.u64.u32 %rd5, %i; mul.lo.u64 %rd5, %rd5, 0x123456789abcdef; red.global.add.u64 [%rd4], %rd5;", ""),
    "some lanes": ("", "and.b32 %r5, %i, 3; setp.eq.u32 %q, %r5, 1; @%q " + ONE, ""),
    "some lanes, another way": ("", "and.b32 %r5, %r9, 3; setp.lt.u32 %q, %r5, 1; @%q bra NEXT;" + ONE + "NEXT:", ""),
    "a scope": ("", "red.relaxed.cta.global.add.u32 [%cell], 1; red.relaxed.sys.global.add.u32 [%cell], 2;", ""),
    "an atom whose result nobody reads": ("", "atom.global.add.u32 %r5, [%cell], 3;", ""),
    "generic addresses": ("", "cvta.global.u64 %rd5, %cell; red.add.u32 [%rd5], 1;", ""),
    "floats beside it": ("", ONE + "mul.wide.u32 %rd3, %r9, 4; add.u64 %rd4, %sums, %rd3; "
                         "red.global.add.f32 [%rd4+4096], 0f3F800000;", ""),
    "with a result elsewhere": ("", ONE + "atom.global.inc.u32 %r5, [%sums+4096], 1000000;"
                                "red.global.add.u32 [%sums+4100], %r5;", ""),
    "with a fence": ("", ONE + "membar.gl;", ""),
    "with a volatile load": ("", ONE + "ld.volatile.global.u32 %r5, [%sums+4096];", ""),
    "a variable, too": ("", ONE + "mov.u64 %rd5, table; mul.wide.u32 %rd6, %r9, 4; and.b64 %rd6, %rd6, 1020; add.u64 %rd5, %rd5, %rd6;"
                        "red.global.add.u32 [%rd5], 1;", ""),
    "barriers": ("", "", "red.global.add.u32 [%own], 1; bar.sync 0; red.global.add.u32 [%own], 2; bar.sync 0;"
                 "red.global.add.u32 [%own], 4;"),
}
# threads have cells of their own, or look behind a barrier: of one block
ONE_BLOCK = {
    "looks at its sum": ("", "", "red.global.add.u32 [%own], 5;" + LOOK),
    "looks again and again": ("", "red.global.add.u32 [%own], %r9; ld.global.u32 %r5, [%own]; st.global.u32 [%out], %r5;", ""),
    "looked before": (LOOK, "", "red.global.add.u32 [%own], 5;" + LOOK),
    "stores, adds, stores": ("", "", "st.global.u32 [%own], 7; red.global.add.u32 [%own], 1;" + LOOK +
                             "red.global.add.u32 [%own], 9; st.global.u32 [%own], 3; red.global.add.u32 [%own], 1;"),
    "maximum between sums": ("", "", "red.global.add.u32 [%own], 10; red.global.max.u32 [%own], 4000000000; red.global.add.u32 "
                             "[%own], 1; red.global.min.u32 [%own], 300; red.global.add.u32 [%own], 1;"),
    "both widths": (OWN_WIDE, "red.global.add.u32 [%rd4], 4294967295; red.global.add.u64 [%rd4], 4294967290;", ""),
    # %mine, a cell by %tid.x, is affine, so loads and stores in the loop would need no test of their own
    "a loop looks at its sum": ("", "", MINE + COUNTED.replace("DO", "red.global.add.u32 [%mine], 1; ld.global.u32 %r6, [%mine];"
                                "add.u32 %r7, %r7, %r6;") + "st.global.u32 [%out], %r7;"),
    "a loop looks at the sum of another address": (
        "", "", MINE + "mul.wide.u32 %rd5, %r0, 4; add.u64 %rd5, %in, %rd5; ld.global.u32 %r8, [%rd5]; mul.wide.u32 %rd6, %r8, 4;"
        "add.u64 %rd6, %sums, %rd6;" + COUNTED.replace("DO", "red.global.add.u32 [%rd6], 1; ld.global.u32 %r6, [%mine]; "
        "add.u32 %r7, %r7, %r6;") + "st.global.u32 [%out], %r7;"),
    "a loop stores and adds": ("", "", MINE + COUNTED.replace("DO", "st.global.u32 [%mine], %r5; red.global.add.u32 [%mine], 1;")),
    "all at one cell, and at others": ("mov.u32 %r7, 0;", COUNTED.replace("DO", "red.global.add.u32 [%own], %r5;"
                                       "red.global.add.u32 [%sums+20], 3;"), LOOK),
    "others look behind a barrier": ("", ONE, "bar.sync 0; mov.u32 %r5, %tid.x; xor.b32 %r5, %r5, 63; mul.wide.u32 %rd5, %r5, 4;"
                                     "add.u64 %rd5, %sums, %rd5; ld.global.u32 %r5, [%rd5]; st.global.u32 [%out], %r5;"),
    "a variable": ("", "mov.u64 %rd5, table; mul.wide.u32 %rd6, %r9, 4; and.b64 %rd6, %rd6, 1020; add.u64 %rd5, %rd5, %rd6;"
                   "red.global.add.u32 [%rd5], 1;", "bar.sync 0; mov.u64 %rd5, table; mul.wide.u32 %rd6, %r0, 4; add.u64 %rd5, %rd5, %rd6;"
                   "ld.global.u32 %r5, [%rd5]; st.global.u32 [%out], %r5;"),
    "shared memory by generic addresses": (
        "mov.u32 %r5, tile; mul.lo.u32 %r6, %r0, 4; add.u32 %r6, %r5, %r6; mov.u32 %r7, 0; st.shared.u32 [%r6], %r7; bar.sync 0;",
        "and.b32 %r6, %r9, 63; mul.wide.u32 %rd5, %r6, 4; mov.u64 %rd6, tile; cvta.shared.u64 %rd6, %rd6; add.u64 %rd5, %rd5, %rd6;"
        "and.b32 %r7, %r9, 1; setp.eq.u32 %q, %r7, 1; selp.b64 %rd5, %rd5, %cell, %q; red.add.u32 [%rd5], 1;",
        "bar.sync 0; mov.u32 %r5, tile; mul.lo.u32 %r6, %r0, 4; add.u32 %r6, %r5, %r6; ld.shared.u32 %r7, [%r6]; st.global.u32 [%out], %r7;"),
}


def text_of(kind, name):
    before, body, behind = kind[name]
    return FRAME.replace("BEFORE", before).replace("BODY", body).replace("BEHIND", behind)


def arguments(n=5000, sums="u32[1300]=fill:3+print", last=255):
    return sums, f"u32[{n}]=randint:0:{last}", "u32[4096]=fill:9+print", n


def sums_are_those_of_additions_one_by_one():
    for name in ANY_GRID:
        with written(text_of(ANY_GRID, name)) as path:
            for grid, block in (24, 64), (3, 37), (1, 256):
                by_both(path, "--grid", grid, "--block", block, *arguments())


def a_thread_sees_what_it_has_added():
    for name in ONE_BLOCK:
        with written(text_of(ONE_BLOCK, name)) as path:
            by_both(path, "--grid", 1, "--block", 64, *arguments())


def so_it_is_on_each_level_and_in_both_tiers():
    need_compiler()
    levels = cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a")
    for kind, name, grid in (ANY_GRID, "ones", 24), (ANY_GRID, "64 bits", 5), (ONE_BLOCK, "looks again and again", 1):
        found = set()
        with written(text_of(kind, name)) as path:
            for tier, level in itertools.product("12", levels):
                done = launch(path, "--grid", grid, "--block", 64, *arguments(), "--engine", "jit", "--cpu", level,
                              env=environment(HEDDLE_TIER=tier, HEDDLE_VERIFY="1"))
                found.add(str(done["buffers"]))
        assert len(found) == 1, (name, found)


# Too large for a private histogram; of a size that is no whole number of lines; one cell.
def arrays_of_all_sizes_are_summed():
    with written(text_of(ANY_GRID, "ones")) as path:
        for cells in 5000, 4096, 4097, 257, 13, 2, 1:
            by_both(path, "--grid", 24, "--block", 64, *arguments(sums=f"u32[{cells}]=fill:3+print", last=cells - 1))


def additions_outside_are_faults():
    for name in "ones", "64 bits", "generic addresses":
        with written(text_of(ANY_GRID, name)) as path:
            fault_by_both(path, "--grid", 1, "--block", 32, "--workers", 1, "u32[100]", "u32[320]=randint:0:200", "u32[4096]", 320)
            values = ",".join(str(5 if i < 300 else 128 + i) for i in range(320))
            fault_by_both(path, "--grid", 1, "--block", 32, "--workers", 1, "u32[128]", f"u32[320]={values}", "u32[4096]", 320)


def all_is_there_whoever_has_added():
    need_compiler()
    with written(text_of(ANY_GRID, "ones")) as path:
        for workers in 1, 2, 5:
            n = 100000
            done = launch(path, "--grid", 200, "--block", 128, "--workers", workers, *arguments(n, "u32[256]+print"), "--engine", "jit")
            assert sum(done["buffers"][0]["values"]) == n, workers


main(globals())
