"""Straight code from barrier to barrier, which all warps of a block run as one gang (jit/analysis/gang_plan.c), beside the interpreter."""
import itertools
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import cpu_levels, dump_of, environment, need_compiler, without_addresses, written
from tap import launch, main, run, some, source

# %r1: thread in its block, %r2: what it computes, %r3: its word of `words`, of which those from 1024 on nobody else reads, %r4: its
# number in the grid, %r5 and %r6: the last arguments, %r7: warp, %rd3 and %rd4: its words of out and in; others are a test's own.
KERNEL = """.visible .entry rounds(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
{
    .reg .u64 %rd<12>; .reg .u32 %r<40>; .reg .f64 %fd<4>; .reg .f32 %f<2>; .reg .pred %p, %q<9>;
    .shared .u32 words[2048];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r5, [n];
    ld.param.u32 %r6, [m];
    mov.u32 %r8, %tid.x;
    mov.u32 %r9, %tid.y;
    mov.u32 %r10, %ntid.x;
    mov.u32 %r11, %ntid.y;
    mad.lo.u32 %r1, %r9, %r10, %r8;
    mul.lo.u32 %r11, %r11, %r10;
    mov.u32 %r12, %ctaid.x;
    mad.lo.u32 %r4, %r12, %r11, %r1;
    shr.u32 %r7, %r1, 5;
    mul.wide.u32 %rd5, %r4, 4;
    add.u64 %rd3, %rd1, %rd5;
    add.u64 %rd4, %rd2, %rd5;
    ld.global.u32 %r2, [%rd4];
    mov.u32 %r13, words;
    shl.b32 %r14, %r1, 2;
    add.u32 %r3, %r13, %r14;
    mov.u32 %r16, %r1;
    mov.u32 %r17, %r3;
    shl.b32 %r18, %r11, 2;
FILL:
    mul.lo.u32 %r19, %r16, 0x01234567;
    st.shared.u32 [%r17], %r19;
    add.u32 %r17, %r17, %r18;
    add.u32 %r16, %r16, %r11;
    setp.lt.u32 %q8, %r16, 2048;
    @%q8 bra FILL;
    bar.sync 0;
    st.shared.u32 [%r3], %r2;
    bar.sync 0;
BODY
    bar.sync 0;
    ld.shared.u32 %r15, [%r3];
    xor.b32 %r2, %r2, %r15;
    st.global.u32 [%rd3], %r2;
END:
    ret;
}
"""

# Each thread takes what the next warp's wrote.
NEXT = """    ld.shared.u32 %r20, [%r3+128];
    bar.sync 1;
    mad.lo.u32 %r2, %r2, 3, %r20;
    st.shared.u32 [%r3], %r2;
    bar.sync 0;
"""

BLOCKS = 128, 100, 512, "16,16", 32, 96  # the most telling first: tap.some(); blocks of 100 and 512 threads have no gangs


def repeated(text, count=5):
    """So many rounds, each with numbers of its own: K is 0, 1, 2 ..., D is 1, 2, 4 ..., BYTES is as many words."""
    each = [(str(k), str(1 << k), str(4 << k)) for k in range(count)]
    return "".join(text.replace("K", k).replace("BYTES", b).replace("D", d) for k, d, b in each)


def compare(path, block, n, m, grid, out_words=1024, in_words=1100, more=()):
    """What both say of the same fault, or None."""
    args = [path, "--grid", grid, "--block", block, f"u32[{out_words}]=ones+print", f"u32[{in_words}]=rand+print", n, m, "--json",
            *more]
    ran = [run("launch", *args, "--engine", engine, env=environment(HEDDLE_TIER="2", HEDDLE_VERIFY="1"))
           for engine in ("jit", "interp")]
    assert ran[0][0] == ran[1][0], ran
    if ran[0][0]:
        texts = [without_addresses(r[1] + r[2]) for r in ran]
        assert texts[0] == texts[1], texts
        return texts[0]
    compiled, interpreted = (json.loads(r[1]) for r in ran)
    assert compiled["buffers"] == interpreted["buffers"], block
    for count in "warp_instructions", "lane_instructions":
        assert compiled["stats"][count] == interpreted["stats"][count], (block, count)
    return None


def dumped(path, block=128, tier=2, **more):
    return dump_of("llvm", path, "--grid", 1, "--block", block, "u32[1024]", "u32[1024]=rand", 1, 1, HEDDLE_TIER=str(tier), **more)


def same(body, blocks=BLOCKS, n=7, m=1000, grid=2, entries=1, label="gang_entry"):
    """The same in both engines; and gangs begin in so many places, at no barrier between these."""
    need_compiler()
    with written(KERNEL.replace("BODY", body)) as path:
        for block in some(1, blocks):
            fault = compare(path, block, n, m, grid)
            assert fault is None, (block, fault)
        found = len(re.findall(rf"^{label}\d*:", dumped(path), re.M))
        assert found == entries, found


def faulty(body, thread, n=7, m=1000, block=128):
    need_compiler()
    with written(KERNEL.replace("BODY", body)) as path:
        text = compare(path, block, n, m, 1)
        assert text and f"thread ({thread},0,0)" in text, text
        assert re.search(r"^gang_entry\d*:", dumped(path), re.M), "no gang has been planned"


def barriers_in_a_row_are_passed_together():
    same(NEXT * 3, blocks=(128, "16,16", 20, 32, 64, 96, 160, 256, 288, 512, "8,8", "33,2", "4,4,16"))
    same(NEXT * 8)


def one_barrier_is_not_worth_a_gang():
    same("    ld.shared.u32 %r20, [%r3+128];\n    bar.sync 0;\n    vote.sync.any.pred %q1, %p, -1;", blocks=(32, 64, 256), entries=0)


def the_first_tier_makes_none():
    need_compiler()
    with written(KERNEL.replace("BODY", NEXT * 3)) as path:
        assert "gang" not in dumped(path, tier=1)


# What all threads do behind a part that some of them have skipped.
REST = """
    bar.sync 0;
    ld.shared.u32 %r21, [%r3];
    add.u32 %r2, %r20, %r21;
    st.shared.u32 [%r3], %r2;
    bar.sync 0;
"""

# A part that threads skip where %p says so; it changes %r20, and %r2 where they go through it.
PART = """    @%p bra SKIPK;
    ld.shared.u32 %r20, [%r3+BYTES];
    mad.lo.u32 %r22, %r20, 5, %r2;
    xor.b32 %r20, %r20, %r22;
SKIPK:""" + REST


def threads_that_are_known_skip_a_part():
    """A sum over all threads before, as compilers unroll it: the first ones would load from before the block's memory."""
    same(repeated("""    mov.u32 %r20, 0;
    setp.lt.u32 %p, %r1, D;
    @%p bra SKIPK;
    ld.shared.u32 %r20, [%r3+-BYTES];
SKIPK:""" + REST, 9))


def few_threads_that_are_known_go_through_a_part():
    same(repeated("""    setp.ge.u32 %p, %r1, D;
    @%p bra SKIPK;
    ld.shared.u32 %r20, [%r3];
    ld.shared.u32 %r21, [%r3+BYTES];
    add.u32 %r20, %r20, %r21;
    st.shared.u32 [%r3], %r20;
SKIPK:
    bar.sync 0;
""", 8))


def a_part_is_before_the_branch_or_behind_it():
    same(repeated("""    mov.u32 %r20, 3;
    setp.lt.u32 %p, %r1, D;
    @!%p bra SKIPK;
    ld.shared.u32 %r20, [%r3+4];
SKIPK:""" + REST))
    same(repeated("""    mov.u32 %r20, 3;
    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    @!%p bra SKIPK;
    ld.shared.u32 %r20, [%r3+4];
    bra.uni SKIPK;
SKIPK:""" + REST))


def lanes_skip_a_part_by_what_they_have_read():
    same(repeated("    mov.u32 %r20, 9;\n    and.b32 %r23, %r2, D;\n    setp.eq.u32 %p, %r23, 0;\n" + PART))


def warps_skip_a_part_by_what_they_have_read():
    """Each by a number that is the same in all of its lanes."""
    same(repeated("""    mov.u32 %r20, 9;
    and.b32 %r23, %r1, 96;
    shl.b32 %r23, %r23, 2;
    add.u32 %r23, %r23, %r13;
    ld.shared.u32 %r23, [%r23];
    and.b32 %r23, %r23, D;
    setp.eq.u32 %p, %r23, 0;
""" + PART))


def warps_that_are_known_skip_a_part():
    same(repeated("    mov.u32 %r20, 9;\n    and.b32 %r23, %r1, BYTES;\n    setp.eq.u32 %p, %r23, 0;\n" + PART, 7))


def a_part_that_all_or_none_skip():
    same(repeated("    mov.u32 %r20, 9;\n    setp.lt.u32 %p, %r1, 0;\n" + PART))
    same(repeated("    mov.u32 %r20, 9;\n    setp.lt.u32 %p, %r1, 4000;\n" + PART))
    same(repeated("    mov.u32 %r20, 9;\n    setp.lt.u32 %p, %r5, D;\n" + PART), entries=1)


# Each thread takes what one of its neighbours, another one in each round, has stored.
NEAR = NEXT.replace("+128", "+BYTES")


def loads_of_shared_memory(dump):
    """How many vectors are loaded from shared memory at places that are known, which only gangs do."""
    places = set(re.findall(r"(%\d+) = getelementptr inbounds i8, ptr %shared, i64 \d+$", dump, re.M)) | {"%shared"}
    return sum(at in places for at in re.findall(r"= load <\d+ x i32>, ptr (%\w+),", dump))


def a_round_takes_from_registers_what_the_last_has_stored():
    same(repeated(NEAR, 7))
    for level in "x86-64-v3", "x86-64-v4":
        with written(KERNEL.replace("BODY", repeated(NEAR))) as path:
            dump = dumped(path, target=level)
        assert loads_of_shared_memory(dump) == 5, level  # the last warp's, of words that no thread has stored
        dump = dump_of("llvm", f"{source}/bench/peers/kernels.ptx", "scan", "--grid", 1, "--block", 256, "u32[1024]", "u32[1024]",
                       "u32[9000]", 1024, HEDDLE_TIER="2", target=level)
        assert "gang_entry" in dump and loads_of_shared_memory(dump) == 0, level
    # other widths, bytes of several stores, and what others may see between the store and the load
    load, store = "ld.shared.u32 %r20, [%r3+BYTES]", "st.shared.u32 [%r3], %r2"
    for other in "ld.shared.u16 %r20, [%r3+BYTES]", "ld.shared.s8 %r20, [%r3+5]", "ld.shared.f32 %f0, [%r3+BYTES];\n    mov.b32 %r20, %f0":
        same(repeated(NEAR.replace(load, other)))
    for more in "st.shared.u8 [%r3+1], %r20", "st.volatile.shared.u32 [%r3], %r20", "st.shared.u32 [%r3+4096], %r20":
        same(repeated(NEAR.replace(store, store + ";\n    " + more)))
    for more in "ld.volatile.shared.u32 %r21, [%r3+64]", "atom.shared.add.u32 %r21, [words+8], 1", "red.shared.add.u32 [%r3+4], 3":
        same(repeated(NEAR.replace(load, load + ";\n    " + more)))


def a_round_stores_what_a_later_one_overwrites():
    """All of it or the words of some threads; in between, it is read or not."""
    same(repeated(NEAR) + "    setp.lt.u32 %q1, %r1, 40;\n    @%q1 st.shared.u32 [%r3], %r1;\n    bar.sync 0;\n")
    same(repeated(NEAR) + "    st.shared.u32 [%r3], %r1;\n    bar.sync 0;\n    ld.shared.u32 %r20, [%r3+256];\n    xor.b32 %r2, %r2, %r20;\n")
    same(repeated(NEAR + "    st.shared.u32 [%r3+4096], %r20;\n    st.shared.u16 [%r3+4096], %r2;\n"
                         "    ld.shared.u32 %r21, [%r3+4096];\n    add.u32 %r2, %r2, %r21;\n"))


def what_is_the_same_in_all_warps_is_not_behind_a_part():
    """A number that each thread has, until some of them write it."""
    same(repeated("""    mov.u32 %r24, 5;
    mov.u32 %r25, %r5;
    and.b32 %r23, %r1, 32;
    setp.eq.u32 %p, %r23, 0;
    @%p bra SKIPK;
    mov.u32 %r24, %r6;
    add.u32 %r25, %r25, D;
SKIPK:
    add.u32 %r20, %r24, %r25;
""" + REST))


def a_part_writes_what_others_keep():
    """Words, long ones, floating point and predicates, and what was there."""
    same(repeated("""    mov.u64 %rd8, %rd3;
    sub.u64 %rd8, %rd8, %rd1;
    cvt.rn.f64.u32 %fd1, %r2;
    setp.gt.u32 %q1, %r2, 4096;
    and.b32 %r23, %r2, D;
    setp.ne.u32 %p, %r23, 0;
    @%p bra SKIPK;
    mad.wide.u32 %rd8, %r2, 77, %rd8;
    fma.rn.f64 %fd1, %fd1, %fd1, %fd1;
    setp.lt.u32 %q1, %r1, 9;
    @%q1 add.u32 %r2, %r2, 1;
SKIPK:
    cvt.u32.u64 %r20, %rd8;
    @%q1 xor.b32 %r20, %r20, 85;
    cvt.rzi.u32.f64 %r24, %fd1;
    add.u32 %r20, %r20, %r24;
""" + REST))


def accesses_of_a_part_have_guards_of_their_own():
    same(repeated("""    mov.u32 %r20, 9;
    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    setp.lt.u32 %q1, %r1, 45;
    @%p bra SKIPK;
    @%q1 ld.shared.u32 %r20, [%r3+BYTES];
    @!%q1 st.shared.u32 [%r3+4096], %r20;
SKIPK:""" + REST))


def accesses_of_a_part_are_of_many_kinds():
    """Of other sizes, one place for all, addresses that vary, several words, local and global memory."""
    same(repeated("""    mov.u32 %r20, 9;
    shl.b32 %r24, %r1, 3;
    add.u32 %r24, %r24, %r13;
    and.b32 %r25, %r2, 60;
    add.u32 %r25, %r25, %r13;
    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    @%p bra SKIPK;
    ld.shared.u8 %r26, [%r3+1];
    ld.shared.s16 %r27, [%r3+2];
    ld.shared.u32 %r28, [words];
    ld.shared.u32 %r29, [%r25+1024];
    ld.volatile.shared.u32 %r30, [%r3+BYTES];
    add.u32 %r20, %r26, %r27;
    add.u32 %r28, %r28, %r29;
    add.u32 %r20, %r20, %r28;
    xor.b32 %r20, %r20, %r30;
SKIPK:""" + REST, 3))
    same(repeated("""    mov.u32 %r20, 9;
    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    @%p bra SKIPK;
    st.shared.u16 [%r3+4096], %r2;
    st.shared.u8 [%r3+4099], %r2;
    ld.shared.v2.u32 {%r26, %r27}, [words+8];
    add.u32 %r20, %r26, %r27;
SKIPK:
    bar.sync 0;
    ld.shared.u32 %r28, [%r3+4096];
    xor.b32 %r20, %r20, %r28;
""" + REST, 3), blocks=(128, 100, 32, 64, 256))


def a_load_of_a_part_from_another_allocation_is_the_engines():
    """Lanes of one warp, each in its turn, load what they have stored: in `out`, or in `in`."""
    same(repeated("""    mov.u32 %r20, 9;
    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    shr.u32 %r24, %r1, K;
    and.b32 %r24, %r24, 1;
    setp.eq.u32 %q1, %r24, 0;
    selp.b64 %rd8, %rd4, %rd3, %q1;
    @%p bra SKIPK;
    ld.global.u32 %r20, [%rd8];
SKIPK:""" + REST, 5))


def a_round_may_load_and_store_global_memory():
    """And be left in the middle, where the place is in another allocation than before."""
    same(repeated("""    ld.shared.u32 %r20, [%r3+BYTES];
    shr.u32 %r24, %r1, K;
    and.b32 %r24, %r24, 1;
    setp.eq.u32 %q1, %r24, 0;
    selp.b64 %rd8, %rd4, %rd3, %q1;
    st.shared.u32 [%r3+4096], %r2;
    ld.global.u32 %r25, [%rd8];
    add.u32 %r20, %r20, %r25;
""" + REST, 5))


# Four words of each thread, of `in` or, where %q1 holds, of `out`; MIDDLE comes between.
FOUR = """    and.b32 %r24, %r1, 63;
    mul.wide.u32 %rd8, %r24, 16;
    selp.b64 %rd9, %rd1, %rd2, %q1;
    add.u64 %rd10, %rd9, %rd8;
BEFORE
    ld.global.u32 %r25, [%rd10+4];
    ld.global.u32 %r26, [%rd10];
MIDDLE
    ld.global.u32 %r27, [%rd10+12];
    ld.global.u32 %r28, [%rd10+8];
    add.u32 %r25, %r25, %r26;
    xor.b32 %r27, %r27, %r28;
    mad.lo.u32 %r20, %r25, 7, %r27;
""" + REST


def loads_of_a_round_are_moved_together():
    same(repeated("    setp.eq.u32 %q1, %r5, K;\n" + FOUR.replace("BEFORE", "").replace("MIDDLE", ""), 3) + NEXT)


def what_is_loaded_once_for_all_warps_may_be_kept_by_each():
    """The first of the words is needed in its round alone, another by each warp behind it."""
    once = FOUR.replace("%r1, 63", "%r8, 31").replace("BEFORE", "").replace("MIDDLE", "")
    for kept in "%r26", "%r27", "%r28":
        same("    setp.eq.u32 %q1, %r5, 7;\n" + once + NEXT * 2 + f"    mad.lo.u32 %r2, %r2, 5, {kept};\n" + NEXT)


def loads_that_are_moved_together_fail_their_test_in_one_warp():
    """Where the block has stored, and where not."""
    for before in "", "    st.shared.u32 [%r3+4096], %r2;":
        for warp in 0, 2, 3:
            same(NEXT * 2 + f"    setp.eq.u32 %q1, %r7, {warp};\n" + FOUR.replace("BEFORE", before).replace("MIDDLE", "") + NEXT)


def a_warp_leaves_between_loads_that_are_moved_together():
    """Its index wraps between its lanes, of which nothing is known then."""
    middle = """    setp.eq.u32 %p, %r7, WARP;
    selp.b32 %r23, 0xfffffff0, 5, %p;
    add.u32 %r29, %r23, %r1;
    mul.wide.u32 %rd6, %r29, 4;
    shr.u64 %rd7, %rd6, 29;
    cvt.u32.u64 %r30, %rd7;
    add.u32 %r26, %r26, %r30;"""
    for before in "", "    st.shared.u32 [%r3+4096], %r2;":
        for warp in 0, 1, 3:
            same(NEXT * 2 + "    setp.lt.u32 %q1, %r5, 2;\n"
                 + FOUR.replace("BEFORE", before).replace("MIDDLE", middle.replace("WARP", str(warp))) + NEXT)


def a_part_may_count():
    """In global memory and in shared, in the thread's own cells, in those of few threads, and in one; and do what is the engine's."""
    same(repeated("""    mov.u32 %r20, 9;
    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    @%p bra SKIPK;
    atom.global.add.u32 %r20, [%rd3], %r2;
    red.global.add.u32 [%rd2+4200], %r1;
    red.global.max.u32 [%rd2+4208], %r2;
    atom.shared.exch.b32 %r22, [%r3+4096], %r2;
    red.shared.add.u32 [words+8188], 1;
    atom.global.add.f32 %f1, [%rd2+4300], 0f3F800000;
    xor.b32 %r20, %r20, %r22;
SKIPK:""" + REST, 3))
    same(NEXT + """    mov.u32 %r20, 9;
    setp.ne.u32 %p, %r1, 0;
    @%p bra SKIP;
    red.global.add.u32 [%rd2+4200], %r2;
    st.shared.u32 [words+8188], %r2;
SKIP:""" + REST + NEXT)


# Addresses that are known too little to be inside, whatever the launch.
SOMEWHERE = """    mul.lo.u32 %r23, %r5, 4;
    add.u32 %r23, %r23, %r3;
"""


def addresses_that_are_tested_are_so_for_all_warps():
    same(SOMEWHERE + repeated("    ld.shared.u32 %r20, [%r23+BYTES];\n    st.shared.u32 [%r23+4096], %r20;" + REST),
         blocks=(128, 100, 32, 64, "16,4"), label="gang_entry")


def a_fault_is_that_of_the_thread_that_has_it():
    """In a part or outside, in the first round or a later one, of shared memory or global."""
    of_one = """    setp.ne.u32 %p, %r1, THREAD;
    @%p bra ONE;
    FAULT
ONE:
"""
    faults = ("ld.shared.u32 %r20, [%r3+9000];", "st.shared.u32 [%r3+-2000], %r2;", "ld.global.u32 %r20, [%rd3+400000];",
              "st.global.u32 [%rd4+2], %r2;", "ld.shared.u32 %r20, [%r3+2];", "red.global.add.u32 [%rd3+400000], 1;",
              "atom.shared.add.u32 %r20, [%r3+9000], 1;")
    cases = list(itertools.product(faults, (0, 40, 127), (1, 2)))
    random.Random(1).shuffle(cases)
    for fault, thread, before in some(8, cases):
        one = of_one.replace("THREAD", str(thread)).replace("FAULT", fault)
        faulty(NEXT * before + one + NEXT * (3 - before), thread)


def a_fault_outside_of_parts_is_that_of_its_warp():
    of_one = """    setp.eq.u32 %p, %r1, THREAD;
    selp.b32 %r23, 9000, 0, %p;
    mad.lo.u32 %r23, %r5, %r23, %r3;
    st.shared.u32 [%r3+4096], %r2;
    ld.shared.u32 %r20, [%r23];
    st.shared.u32 [%r3+4096], %r20;
"""
    for thread in 0, 40, 127:
        faulty(NEXT + of_one.replace("THREAD", str(thread)) + NEXT * 2, thread)


def an_index_that_wraps_in_one_warp_is_the_interpreters():
    """Nothing is known of its lanes then. Places are within 32 words of `in`."""
    wraps = """    setp.eq.u32 %p, %r7, WARP;
    selp.b32 %r23, 0xfffffff0, 5, %p;
    add.u32 %r23, %r23, %r1;
    mul.wide.u32 %rd8, %r23, 4;
    st.shared.u32 [%r3+4096], %r2;
    shr.u64 %rd9, %rd8, 29;
    and.b64 %rd9, %rd9, 28;
    cvt.u32.u64 %r20, %rd9;
    add.u32 %r2, %r2, %r20;
"""
    for warp in range(4):
        same(NEXT + wraps.replace("WARP", str(warp)) + NEXT * 2)


# Threads may have ended before the barriers, so that none of these makes rows of what does not vary.
ANEW = """.visible .entry anew(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)
{
    .reg .u64 %rd<12>; .reg .u32 %r<20>; .reg .pred %p, %q;
    .shared .u32 words[64];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    setp.ge.u32 %p, %r1, %r5;
    @%p bra END;
    mov.u32 %r6, words;
    shl.b32 %r7, %r1, 2;
    add.u32 %r8, %r6, %r7;
    cvt.u64.u32 %rd5, %r7;
    bar.sync 0;
    setp.eq.u32 %q, %r2, 0;
    selp.b64 %rd6, %rd1, %rd2, %q;
    add.u64 %rd7, %rd6, %rd5;
    st.shared.u32 [%r8], %r1;
    bar.sync 0;
    mov.u32 %r3, 0;
AGAIN:
    bar.sync 0;
    ld.global.u32 %r9, [%rd7+1024];
    bar.sync 0;
    NEXT
    add.u64 %rd8, %rd1, %rd5;
    mul.wide.u32 %rd9, %r2, 256;
    add.u64 %rd8, %rd8, %rd9;
    st.global.u32 [%rd8], %r9;
END:
    ret;
}
"""


def single_warps_find_rows_where_the_gang_has_left_numbers():
    """Block 1's place is in another allocation, so the gang begins anew."""
    need_compiler()
    again = "add.u32 %r3, %r3, 1; add.u64 %rd7, %rd7, 4; setp.lt.u32 %p, %r3, 4; @%p bra AGAIN;"
    for text in again, "":
        with written(ANEW.replace("NEXT", text)) as path:
            assert compare(path, 64, 64, 0, 3) is None


def threads_end_between_barriers():
    """Those behind are no gang any more."""
    same(NEXT * 3 + """    setp.gt.u32 %p, %r2, 0x80000000;
    @%p bra END;
""" + NEXT * 3, entries=2)


def what_follows_is_run_by_single_warps():
    """Counts in global memory, votes, and branches that do not come together again at once."""
    same(NEXT * 3 + """    setp.ne.u32 %p, %r1, 0;
    @%p bra LAST;
    atom.global.add.u32 %r20, [%rd3], 5;
LAST:
    setp.gt.u32 %p, %r2, 0x80000000;
    vote.sync.any.pred %q1, %p, -1;
    @%q1 add.u32 %r2, %r2, 1;
    @%p bra BIG;
    and.b32 %r23, %r2, 1;
    setp.eq.u32 %p, %r23, 0;
    @%p bra BIG;
    add.u32 %r2, %r2, 7;
BIG:
""", blocks=(128, 512, 32, 64, 96, 256, "16,16"))


def both_sides_of_a_branch_are_run_by_single_warps():
    same(NEXT * 3 + repeated("""    and.b32 %r23, %r2, D;
    setp.eq.u32 %p, %r23, 0;
    @%p bra OTHERK;
    add.u32 %r20, %r2, 3;
    bra.uni BOTHK;
OTHERK:
    xor.b32 %r20, %r2, %r1;
BOTHK:""" + REST, 3) + NEXT * 3, entries=2)


def rounds_of_a_loop_have_parts_that_threads_skip():
    """A sum as it is written, whose loop is not unrolled."""
    loop = """    mov.u32 %r26, 64;
HALF:
    setp.ge.u32 %p, %r1, %r26;
    @%p bra SKIP;
    mad.lo.u32 %r27, %r26, 4, %r3;
    ld.shared.u32 %r20, [%r27];
    ld.shared.u32 %r21, [%r3];
    add.u32 %r20, %r20, %r21;
    st.shared.u32 [%r3], %r20;
SKIP:
    bar.sync 0;
    shr.u32 %r26, %r26, 1;
    setp.ne.u32 %q2, %r26, 0;
    @%q2 bra HALF;
"""
    same(loop, label="gang_phase")
    same("    mov.u32 %r28, 0;\nAGAIN:\n" + loop + """    add.u32 %r28, %r28, 1;
    setp.lt.u32 %q3, %r28, 300;
    @%q3 bra AGAIN;
""", blocks=(64, 128), label="gang_phase")


def warps_take_turns_where_registers_do_not_hold_what_they_have():
    """Between barriers of a loop: registers that are the same in all warps are written twice and counted on, words that all load lie
    behind stores, and a load of global memory is tested in between."""
    need_compiler()
    loop = """    mov.u32 %r28, 0;
    mov.u32 %r30, 1;
AGAIN:
    mad.lo.u32 %r2, %r2, 3, %r1;
    st.shared.u32 [%r3], %r2;
    ld.shared.u32 %r20, [%r13+8188];
    mad.lo.u32 %r30, %r30, 3, %r20;
    xor.b32 %r2, %r2, %r30;
    bar.sync 0;
    ld.shared.u32 %r20, [%r13+64];
    ld.shared.u32 %r21, [%r3+128];
    mad.lo.u32 %r2, %r20, %r21, %r2;
    ld.shared.u32 %r20, [%r13+132];
    add.u32 %r30, %r30, %r20;
    mad.lo.u32 %r2, %r20, %r2, %r30;
    LOAD
    xor.b32 %r2, %r2, %r22;
    ld.shared.u32 %r20, [%r13+508];
    mad.lo.u32 %r31, %r2, %r20, %r31;
    bar.sync 0;
    add.u32 %r28, %r28, 1;
    setp.lt.u32 %q3, %r28, %r5;
    @%q3 bra AGAIN;
    xor.b32 %r2, %r2, %r31;
"""
    for load in "mov.u32 %r22, %r30;", "ld.global.u32 %r22, [%rd4+4];":
        body = "    mov.u32 %r31, %r1;\n" + loop.replace("LOAD", load)
        with written(KERNEL.replace("BODY", body)) as path:
            code = dumped(path, target="x86-64-v3")
            assert "gang_phase" in code and "@llvm.codeview.annotation" in code
            for level in cpu_levels("x86-64-v2", "x86-64-v3"):
                for block, n in some(2, ((128, 400), (64, 3), (256, 1500))):
                    assert compare(path, block, n, 1000, 2, more=("--cpu", level)) is None
        with written(KERNEL.replace("BODY", body.replace("[%rd4+4]", "[%rd4+4000]"))) as path:
            fault = compare(path, 128, 3, 1000, 1, more=("--cpu", "x86-64-v2"))  # of two blocks either may be first
            assert (fault is not None) == ("global" in load), fault


def blocks_that_wait_for_others_have_rounds():
    """Sums of blocks, each of which begins with those before it: bench/peers' scan."""
    need_compiler()
    args = [f"{source}/bench/peers/kernels.ptx", "scan", "--block", 256, "--grid", 9, "u32[9216]=rand", "u32[9216]+print",
            "u32[9000]", 9216, "--json"]
    ran = [run("launch", *args, "--engine", engine, env=environment(HEDDLE_TIER="2")) for engine in ("jit", "interp")]
    assert ran[0][0] == ran[1][0] == 0 and json.loads(ran[0][1])["buffers"] == json.loads(ran[1][1])["buffers"], ran


main(globals())
