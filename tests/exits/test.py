"""Ways out of compiled code, one a test (jit/emit/exit.c, gang_exit.c). At each of them registers of all kinds are live: some as they
were loaded when the code was entered, some written since; divergent, affine and uniform ones, of 16 to 64 bits, and predicates. What
becomes of each is in the result, and each is the interpreter's. docs/JIT.md has the table of ways out."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import cpu_levels, environment, fault_by_both, need_compiler, written
from tap import launch, main

# %n: the last argument; %i: the thread's number in the grid; %t and %w: in its block and its warp's number; %rin, %rout: its words.
# Behind the barrier registers are what rows hold: %a to %h, %p and %q are left so, and the others are written anew.
KERNEL = """.visible .func (.reg .u32 %y) callee(.reg .u32 %x)
{
    .local .u32 room[2];
    st.local.u32 [room], %x;
    ld.local.u32 %y, [room];
    add.u32 %y, %y, 77;
    ret;
}
.visible .entry exits(.param .u64 out, .param .u64 in, .param .u32 n)
{
    .reg .u64 %pin, %pout, %rin, %rout, %b, %b2, %x<9>; .reg .u32 %n, %i, %t, %w, %l, %a, %a2, %c, %c2, %d, %d2, %k, %k2, %s, %z, %r<50>;
    .reg .u16 %h, %h2; .reg .pred %p, %p2, %q, %q2, %g<6>;
    .shared .u32 own[ROOM];
    ld.param.u64 %pout, [out];
    ld.param.u64 %pin, [in];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mov.u32 %r30, %ctaid.x;
    mov.u32 %r31, %ntid.x;
    mad.lo.u32 %i, %r30, %r31, %t;
    shr.u32 %w, %t, 5;
    and.b32 %l, %t, 31;
    mul.wide.u32 %x1, %i, 4;
    add.u64 %rin, %pin, %x1;
    add.u64 %rout, %pout, %x1;
    mov.u32 %s, 0;
    mov.u32 %k, 0;
    ld.global.u32 %a, [%rin];
    cvt.u64.u32 %b, SOURCE;
    shl.b64 %x2, %b, 29;
    xor.b64 %b, %b, %x2;
    mul.lo.u32 %c, %t, 3;
    add.u32 %d, %n, 7;
    cvt.u16.u32 %h, SOURCE;
    setp.gt.u32 %p, %a, 0x80000000;
    setp.gt.u32 %q, %n, 5;
    BEFORE
    bar.sync 0;
START:
    add.u32 %a2, %a, 5;
    add.u64 %b2, %b, 6;
    add.u32 %c2, %c, 7;
    add.u32 %d2, %d, 8;
    add.u16 %h2, %h, 9;
    setp.lt.u32 %p2, %a, 0x40000000;
    setp.lt.u32 %q2, %n, 3;
    add.u32 %k2, %k, 2;
BODY
END:
    mov.u32 %z, %s;
""" + "".join(f"    mad.lo.u32 %z, %z, 1664525, %{r};\n" for r in ("a", "a2", "c", "c2", "d", "d2", "k", "k2", "n", "t", "w", "l")) + """
    cvt.u32.u16 %r40, %h;
    mad.lo.u32 %z, %z, 1664525, %r40;
    cvt.u32.u16 %r40, %h2;
    mad.lo.u32 %z, %z, 1664525, %r40;
    cvt.u32.u64 %r40, %b;
    mad.lo.u32 %z, %z, 1664525, %r40;
    shr.u64 %x8, %b, 32;
    cvt.u32.u64 %r40, %x8;
    mad.lo.u32 %z, %z, 1664525, %r40;
    cvt.u32.u64 %r40, %b2;
    mad.lo.u32 %z, %z, 1664525, %r40;
    shr.u64 %x8, %b2, 32;
    cvt.u32.u64 %r40, %x8;
    mad.lo.u32 %z, %z, 1664525, %r40;
""" + "".join(f"    selp.u32 %r40, {k + 3}, 0, %{p};\n    mad.lo.u32 %z, %z, 1664525, %r40;\n" for k, p in enumerate(("p", "p2", "q", "q2"))) + """
    st.global.u32 [%rout], %z;
    ret;
}
"""

ELEMENTS = 384


def same(body, n=40, block=96, grid=3, before="", room=256, elements=ELEMENTS, counts=True, source="%a", slack=0, level=""):
    """All threads end with the same by both engines, in both tiers; also where no more may be executed than there is, so that the
    interpreter takes over before the end, wherever that may be. (Lanes that part may go in another order then, and need more.)"""
    need_compiler()
    lowered = {"HEDDLE_CPU": level} if level else {}
    text = KERNEL.replace("BODY", body).replace("BEFORE", before).replace("ROOM", str(room)).replace("SOURCE", source)
    with written(text) as path:
        args = [path, "exits", "--grid", grid, "--block", block, f"u32[{elements}]=fill:7+print", f"u32[{elements}]=rand", n]
        expected = launch(*args, "--engine", "interp")
        for tier in "12":
            found = launch(*args, "--engine", "jit", env=environment(HEDDLE_TIER=tier, **lowered))
            assert found["buffers"] == expected["buffers"], tier
            for count in ("warp_instructions", "lane_instructions") * counts:
                assert found["stats"][count] == expected["stats"][count], (tier, count)
            limit = ["--step-limit", expected["stats"]["warp_instructions"] + slack, "--workers", 1] * counts
            found = launch(*args, *limit, "--engine", "jit", env=environment(HEDDLE_TIER=tier, **lowered))
            assert found["buffers"] == expected["buffers"], (tier, limit)


# ---- at the end of a block of code ----

def before_a_call():
    same("    call (%r1), callee, (%a2);\n    xor.b32 %s, %s, %r1;")


def before_a_call_of_some_lanes_while_others_are_pending():
    same("    @%p bra OVER;\n    call (%r1), callee, (%a2);\n    add.u32 %c, %c, %r1;\n    add.u32 %d, %d, 3;\nOVER:")


def before_an_operation_of_the_warp_that_lanes_come_to_apart():
    same("""    @%p bra OTHERS;
    shfl.sync.idx.b32 %r1, %a2, 3, 31, -1;
    bra MEET;
OTHERS:
    add.u32 %d2, %d2, 1;
    shfl.sync.idx.b32 %r1, %c2, 5, 31, -1;
MEET:
    xor.b32 %s, %s, %r1;""")


def at_a_barrier_that_lanes_come_to_apart():
    same("""    @%p bra OTHERS;
    bar.sync 1;
    bra MEET;
OTHERS:
    add.u32 %d2, %d2, 1;
    bar.sync 1;
MEET:""")


def where_threads_end_one_by_one():
    same("    @%p2 exit;\n    add.u32 %d2, %d2, 1;")


# ---- lockstep ----

def in_lockstep_at_a_barrier_where_another_warp_does_something_else():
    """What is not divergent has been left as a seed by the warps that came there before."""
    same("""    setp.eq.u32 %g1, %w, 1;
    bar.sync 0;
    @!%g1 bra ON;
    nanosleep.u32 10;
ON:
    bar.sync 0;""")


def in_lockstep_after_many_barrier_phases():
    same("""AGAIN:
    add.u32 %k, %k, 1;
    add.u32 %d2, %d2, %k;
    xor.b32 %a2, %a2, %k;
    bar.sync 0;
    setp.lt.u32 %g1, %k, %n;
    @%g1 bra AGAIN;""", n=2500)


def at_a_barrier_outside_of_lockstep():
    """Another barrier keeps warps apart for good."""
    same("""    setp.eq.u32 %g1, %w, 0;
    @%g1 bra FIRST;
    bar.sync 1, 64;
    bar.sync 2, 64;
    bra JOIN;
FIRST:
    add.u32 %k, %k, 1;
JOIN:
    bar.sync 0;
    add.u32 %d2, %d2, 1;
    bar.sync 0;""")


# ---- in the middle of a block of code ----

def before_an_index_that_wraps_between_lanes():
    """The code counts on an index that does not wrap; in one warp it does."""
    same("""    add.u32 %r1, %n, %t;
    add.u32 %k, %k, 4;
    mul.wide.u32 %x3, %r1, 4;
    add.u64 %b2, %b2, %x3;
    add.u32 %d, %d, 1;""", n=2**32 - 40)


def before_an_index_that_wraps_while_lanes_are_pending():
    same("""    @%p bra OVER;
    add.u32 %r1, %n, %t;
    add.u32 %c, %c, 4;
    mul.wide.u32 %x3, %r1, 4;
    add.u64 %b2, %b2, %x3;
    add.u32 %d, %d, 1;
OVER:""", n=2**32 - 40)


def before_a_check_of_shared_memory_that_fails_for_lanes_that_do_not_run():
    """Lanes 0 to 15 of the last warp read what ends behind them: two loads with one check."""
    same("""    mov.u32 %r5, own;
    mad.lo.u32 %r2, %t, 4, %r5;
    st.shared.u32 [%r2], %a;
    bar.sync 0;
    setp.ge.u32 %g1, %t, 79;
    @%g1 bra OVER;
    add.u32 %d, %d, 1;
    ld.shared.u32 %r3, [%r2];
    ld.shared.u32 %r4, [%r2+4];
    add.u32 %k2, %r3, %r4;
OVER:""", block=80, room=80)


def behind_an_access_that_the_engine_does_where_its_check_group_goes_on():
    """Lanes that run are inside; the check of all 32 lanes' bytes fails: the engine loads, and the interpreter goes on behind."""
    same("""    setp.ge.u32 %g1, %i, 383;
    @%g1 bra OVER;
    add.u32 %d, %d, 1;
    ld.global.u32 %r3, [%rin];
    ld.global.u32 %r4, [%rin+4];
    add.u32 %k2, %r3, %r4;
OVER:""", grid=4)


# ---- loops ----

def at_a_branch_back_where_the_budget_is_spent():
    same("""LOOP:
    add.u32 %k, %k, 1;
    add.u32 %a2, %a2, %k;
    add.u32 %d2, %d2, 3;
    add.u32 %c2, %c2, 5;
    setp.lt.u32 %g1, %k, %n;
    @%g1 bra LOOP;""", n=30000)


def at_a_branch_back_of_some_lanes_while_others_are_pending():
    same("""    and.b32 %r3, %a, 20000;
    add.u32 %r3, %r3, %n;
LOOP:
    add.u32 %k, %k, 1;
    add.u32 %a2, %a2, %k;
    @%p add.u32 %c2, %c2, 5;
    setp.lt.u32 %g1, %k, %r3;
    @%g1 bra LOOP;""", n=30, slack=2000)


def in_an_iteration_that_the_engine_does():
    """A loop whose accesses are checked before it goes from one buffer to the other: no check holds for both."""
    same("""    mov.u64 %x4, %rin;
    sub.u64 %x5, %rout, %rin;
LOOP:
    ld.global.u32 %r3, [%x4];
    add.u32 %a2, %a2, %r3;
    add.u64 %x4, %x4, %x5;
    add.u32 %k, %k, 1;
    add.u32 %d2, %d2, 1;
    setp.lt.u32 %g1, %k, %n;
    @%g1 bra LOOP;""", n=2)


def in_a_serial_part():
    """A lock around a section, which lanes go through one after the other: what they change comes back."""
    same("""    mov.u32 %r2, own;
TRY:
    atom.shared.cas.b32 %r3, [%r2], 0, 1;
    setp.ne.u32 %g1, %r3, 0;
    @%g1 bra TRY;
    membar.cta;
    ld.volatile.shared.u32 %r4, [%r2+4];
    add.u32 %r4, %r4, 1;
    st.volatile.shared.u32 [%r2+4], %r4;
    add.u32 %c2, %c2, %a2;
    setp.gt.u32 %p2, %c2, 1000;
    membar.cta;
    atom.shared.exch.b32 %r3, [%r2], 0;
    add.u32 %d2, %d2, 1;
    bar.sync 0;
    ld.volatile.shared.u32 %r4, [%r2+4];
    add.u32 %s, %s, %r4;""", before="mov.u32 %r2, own;\n    st.shared.u32 [%r2], 0;\n    st.shared.u32 [%r2+4], 0;", counts=False)


# ---- gangs: several warps together ----

CHAIN = "\n".join(["    mad.lo.u32 %a2, %a2, 1664525, %k;"] * 24)
LOOP = """LOOP:
INSIDE
""" + CHAIN + """
    add.u32 %k, %k, 1;
    add.u32 %c2, %c2, 5;
    setp.lt.u32 %g1, %k, LIMIT;
    @%g1 bra LOOP;"""


def gang(inside, limit="%n", n=40, before="", slack=0, loop=LOOP):
    """A loop that gangs go around: few of the registers that are live there have 32 values of their own."""
    same(before + loop.replace("INSIDE", inside).replace("LIMIT", limit), block=128, elements=2048, n=n, source="%n",
         slack=slack)


def from_a_gang_at_the_end_of_its_loop():
    gang("")


def from_a_gang_whose_lanes_part():
    gang("", limit="%r6", before="    and.b32 %r3, %a, 31;\n    add.u32 %r6, %r3, %n;\n", slack=3000,
         loop=LOOP.replace("    add.u32 %c2, %c2, 5;\n", ""))


def from_a_gang_whose_warps_part():
    gang("", limit="%r6", before="    add.u32 %r6, %w, %n;\n")


def from_a_gang_whose_budget_is_spent():
    gang("", n=30000)


WRAPS = """    add.u32 %r3, %n, %LANE;
    add.u32 %r4, %r3, %k;
    mul.wide.u32 %x3, %r4, 4;
    add.u64 %b2, %b2, %x3;"""
STORES = """    mov.u32 %r7, own;
    mad.lo.u32 %r5, %t, 4, %r7;
    st.shared.u32 [%r5], %a2;
    add.u32 %d2, %d2, 1;
"""


def from_a_gang_that_has_changed_nothing_to_the_start_of_its_block():
    """The index wraps in the third warp, from some iteration on."""
    gang(WRAPS.replace("LANE", "t"), n=2**32 - 90, limit="40")


def from_a_gang_before_and_behind_an_instruction_of_each_warp():
    """The block has stored: warps before the one whose index wraps have done the instruction, the others have not."""
    gang(STORES + WRAPS.replace("LANE", "t"), n=2**32 - 90, limit="40")


def from_a_gang_before_an_instruction_that_is_done_once_for_all():
    gang(STORES + WRAPS.replace("LANE", "l"), n=2**32 - 50, limit="40")


PLACE = "mov.u32 %r7, own;\n    mad.lo.u32 %r5, %t, 4, %r7;\n"
KEEPS = "    st.shared.u32 [%r5], %a2;\n    add.u32 %d2, %d2, 1;\n"
COUNTS = "    ld.shared.u32 %r6, [%r5];\n    add.u32 %r6, %r6, 1;\n    st.shared.u32 [%r5], %r6;\n    add.u32 %a2, %a2, %r6;\n"


def from_a_gang_that_can_store_again_to_the_start_of_its_block():
    gang(KEEPS + WRAPS.replace("LANE", "t"), before=PLACE, n=2**32 - 90, limit="40")


def from_a_gang_that_has_stored_what_it_counts():
    """It has read what it stores anew: done again, that would count twice."""
    gang(COUNTS + WRAPS.replace("LANE", "t"), before=PLACE + "    st.shared.u32 [%r5], %t;\n", n=2**32 - 90, limit="40")


TURNS = """AGAIN:
INSIDE
""" + WRAPS.replace("LANE", "t") + """
    bar.sync 0;
    mad.lo.u32 %a2, %a2, 1664525, %k;
""" + "".join(f"    add.u32 %r{r}, %r{r}, %a2;\n    xor.b32 %a2, %a2, %r{r};\n" for r in range(40, 45)) + """
    add.u32 %k, %k, 1;
    add.u32 %c2, %c2, 5;
    bar.sync 0;
    setp.lt.u32 %g1, %k, 40;
    @%g1 bra AGAIN;"""


def from_a_gang_in_turns_whose_first_warps_have_stored():
    """With short vectors the warps of a gang take turns, and the third one fails. What each stores, it can store again; what it counts, not."""
    level = cpu_levels("x86-64-v2", "x86-64-v3")[-1:] or [""]
    rows = "".join(f"    mul.lo.u32 %r{r}, %a, {r};\n" for r in range(40, 45))
    for inside in (KEEPS, COUNTS):
        same(TURNS.replace("INSIDE", inside), before=PLACE + "    st.shared.u32 [%r5], %t;\n" + rows, block=128, elements=2048,
             n=2**32 - 90, source="%n", level=level[0])


def from_a_gang_at_a_barrier():
    same("""AGAIN:
    mov.u32 %r8, own;
    mad.lo.u32 %r5, %t, 4, %r8;
    st.shared.u32 [%r5], %a2;
    bar.sync 0;
    xor.b32 %r6, %r5, 64;
    ld.shared.u32 %r7, [%r6];
    add.u32 %a2, %a2, %r7;
    add.u32 %k, %k, 1;
    add.u32 %c2, %c2, 3;
    bar.sync 0;
    setp.lt.u32 %g1, %k, %n;
    @%g1 bra AGAIN;""", block=128, elements=2048, source="%n")


BARRIERS = """AGAIN:
    add.u32 %a2, %a2, %c;
    add.u32 %k, %k, 1;
    add.u32 %d2, %d2, %k;
    bar.sync 0;
    setp.lt.u32 %g1, %k, 2500;
    @%g1 bra AGAIN;"""


def from_a_gang_of_the_whole_block_after_many_barriers():
    same(BARRIERS, block=128, elements=2048, source="%n")


def from_a_gang_of_the_whole_block_at_a_barrier_that_some_lanes_might_not_come_to():
    """So rows are made there, not seeds."""
    same(BARRIERS, block=128, elements=2048, source="%n", before="""setp.gt.u32 %g2, %n, %a;
    setp.gt.u32 %g3, %n, 1000;
    and.pred %g2, %g2, %g3;
    @%g2 exit;""")


# ---- faults ----

def at_a_fault():
    """The record of the thread that has it; nothing else goes on."""
    text = KERNEL.replace("BODY", "    setp.eq.u32 %g1, %i, 70;\n    @%g1 mov.u64 %rin, 64;\n    ld.global.u32 %k2, [%rin];")
    with written(text.replace("BEFORE", "").replace("ROOM", "4").replace("SOURCE", "%a")) as path:
        said = fault_by_both(path, "exits", "--grid", 1, "--block", 96, "u32[96]", "u32[96]=rand", 40)
        assert "thread (70,0,0)" in said, said


main(globals())
