"""What registers look like across the lanes of a warp; see ir/shape.h."""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, dump_of, fault_by_both, need_compiler, written
from tap import main, some

HEAD = """.visible .entry shapes(.param .u64 out, .param .u32 given)
{
    .reg .u64 %rd<8>; .reg .u64 %d<30>; .reg .u32 %r<200>; .reg .pred %p<4>;
    .shared .align 8 .b8 own[4096];
    ld.param.u64 %rd1, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %laneid;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ctaid.x;
    ld.param.u32 %r5, [given];
    mov.u32 %r6, 12;
    mov.u32 %r7, -3;
    cvt.u64.u32 %d0, %r0;
    cvt.u64.u32 %d1, %r1;
    mov.u64 %d2, 0xfffffffffffffff0;
    cvt.s64.s32 %d3, %r5;
    mad.lo.u32 %r199, %r1, %r3, %r0;
    mov.u32 %r198, %ntid.y;
    mul.lo.u32 %r198, %r198, %r3;
    mad.lo.u32 %r199, %r4, %r198, %r199;
    mul.wide.u32 %rd2, %r199, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r197, 0;
    mov.u32 %r189, own;
    mov.u32 %r195, 0;
FILL:
    add.u32 %r196, %r189, %r195;
    st.shared.u32 [%r196], %r195;
    add.u32 %r195, %r195, 4;
    setp.lt.u32 %p1, %r195, 2048;
    @%p1 bra FILL;
    bar.sync 0;
"""
STEPS_32 = ("and.b32", "or.b32", "xor.b32", "add.u32", "sub.u32", "shl.b32", "shr.u32", "shr.s32", "mul.lo.u32", "not.b32",
            "min.u32", "max.s32", "mul.hi.u32", "div.u32", "rem.u32", "popc.b32", "brev.b32")
STEPS_64 = ("and.b64", "or.b64", "xor.b64", "add.u64", "sub.u64", "shl.b64", "shr.u64", "shr.s64", "mul.lo.u64", "not.b64")
CONSTANTS = (0, 1, 2, 3, 4, 7, 8, 15, 16, 24, 31, 32, 63, 64, 96, 255, 1024, -1, -2, -8, -32, 0x7fffffff)


def step(r, n, name, letter):
    """Register number n, from those before it."""
    kind, a = name.split(".")[0], "%%%s%d" % (letter, r.randrange(n))
    b = "%%%s%d" % (letter, r.randrange(n)) if r.random() < 0.4 else r.choice(CONSTANTS)
    if kind in ("shl", "shr"):
        b = r.choice((1, 2, 3, 4, 5, 6, 10, 31, 32))
    return f"    {name} %{letter}{n}, {a}{'' if kind in ('not', 'popc', 'brev') else f', {b}'};\n"


def use(letter, n, stores):
    """Into the sum that the thread writes, by way of a branch and of an access to shared memory."""
    text = f"    cvt.u32.u64 %a{letter}{n}, %d{n};\n" if letter == "d" else f"    mov.u32 %a{letter}{n}, %r{n};\n"
    text = text.replace(f"%a{letter}{n}", "%r" + str(100 + 2 * n + (letter == "d")))
    v, at = (f"%r{k + 2 * n + (letter == 'd')}" for k in (100, 40))
    text += f"""    and.b32 %r190, {v}, 1020;
    add.u32 {at}, %r189, %r190;
    ld.shared.u32 %r194, [{at}];
    xor.b32 %r197, %r197, %r194;
    and.b32 %r191, {v}, 5;
    setp.eq.u32 %p1, %r191, 4;
    @%p1 bra SKIP{letter}{n};
    add.u32 %r197, %r197, 7;
"""
    if stores:
        text += f"    st.shared.u32 [{at}+8], %r197;\n"
    return text + f"SKIP{letter}{n}:\n    mad.lo.u32 %r197, %r197, 31, {v};\n"


def kernel(seed, stores):
    """Each register is written once, as compilers write PTX, but for the sum and what is used at once."""
    r, text = random.Random(seed), HEAD
    for n in range(8, 28):
        text += step(r, n, r.choice(STEPS_32), "r")
        text += step(r, n - 4, r.choice(STEPS_64), "d")
        if r.random() < 0.5:
            text += use(r.choice("rd"), n - 4, stores)
    for n in range(8, 28):
        text += f"    mad.lo.u32 %r197, %r197, 17, %r{n};\n"
        text += f"    cvt.u32.u64 %r196, %d{n - 4};\n    mad.lo.u32 %r197, %r197, 13, %r196;\n"
    return text + "    st.global.u32 [%rd1], %r197;\n    ret;\n}\n"


def arithmetic(block):
    """Two hundred random kernels of what a thread can compute from its number. Where a block has one warp, lanes write to
    shared memory as well: warps would race."""
    need_compiler()
    threads = block[0] * block[1] * block[2]
    for seed in some(3, range(25)):
        with written(kernel(seed, threads <= 32)) as path:
            by_both(path, "--grid", "2", "--block", ",".join(map(str, block)), f"u32[{2 * threads}]=ones",
                    str((5, 0, -7, 64)[seed % 4]))


def what_32_columns_compute_from_their_number():
    arithmetic((32, 1, 1))


def what_many_warps_compute_from_their_numbers():
    arithmetic((512, 1, 1))
    arithmetic((96, 2, 1))


def what_a_part_of_a_warp_computes():
    arithmetic((20, 1, 1))
    arithmetic((48, 1, 1))


def what_rows_of_a_warp_compute():
    arithmetic((16, 16, 1))
    arithmetic((8, 8, 1))
    arithmetic((4, 4, 4))


def what_warps_that_begin_anywhere_compute():
    arithmetic((7, 5, 1))
    arithmetic((100, 3, 1))


KNOWN = """.visible .entry known(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<20>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    and.b32 %r3, %r1, 31;
    and.b32 %r4, %r1, 1;
    shl.b32 %r5, %r1, 1;
    sub.u32 %r6, %r5, %r4;
    xor.b32 %r7, %r1, 3;
    or.b32 %r8, %r1, 28;
    and.b32 %r9, %r1, 96;
    not.b32 %r10, %r1;
    and.b32 %r11, %r5, 12;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def the_shapes_that_follow_from_a_number():
    need_compiler()
    lanes = lambda f: "lanes " + ",".join(str(f(l) - f(0)) for l in range(32))
    for block in 256, 48, 7:
        expected = [("shr_b32", "uniform"), ("and_b32", "lane * 1"), ("and_b32", lanes(lambda l: l & 1)),
                    ("shl_b32", "lane * 2"), ("sub_b32", lanes(lambda l: 2 * l - (l & 1))),
                    ("xor_b32", lanes(lambda l: l ^ 3)), ("or_b32", lanes(lambda l: l | 28)), ("and_b32", "uniform"),
                    ("not_b32", "lane * -1"), ("and_b32", lanes(lambda l: 2 * l & 12))]
        with written(KNOWN) as path:
            err = dump_of("ir", path, "--grid", 1, "--block", block, "u32[64]")
        found = re.findall(r":32 = (\w+_b32) .*; (.*)", err)
        assert [f for f in found if f[0] != "mov_b32"] == expected, found


# A store, a load, and an atomic operation at places of own[] that follow from the thread's number and from bytes in memory.
EDGE = """.visible .entry edge(.param .u64 out, .param .u64 in)
{
    .reg .u64 %rd<8>; .reg .u32 %r<12>; .reg .u16 %h<2>;
    .shared .align 4 .b8 own[SIZE];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd3, %r1;
    add.u64 %rd4, %rd2, %rd3;
    ld.global.u8 %h1, [%rd4];
    mul.wide.u16 %r2, %h1, 4;
    mov.u32 %r3, own;
    add.u32 %r4, %r3, %r2;
    shl.b32 %r5, %r1, 2;
    add.u32 %r6, %r5, %r3;
    st.shared.u32 [%r6], %r1;
    bar.sync 0;
    atom.shared.add.u32 %r7, [%r4+DISP], 1;
    bar.sync 0;
    ld.shared.u32 %r8, [%r6+AHEAD];
    mul.wide.u32 %rd5, %r1, 4;
    add.u64 %rd6, %rd1, %rd5;
    st.global.u32 [%rd6], %r8;
    ret;
}
"""


def edge(size, disp=0, ahead=0):
    return written(EDGE.replace("SIZE", str(size)).replace("DISP", str(disp)).replace("AHEAD", str(ahead)))


def what_is_inside_for_certain_is_not_tested():
    """As hd_dump tells it: nothing is left that the engine would do."""
    need_compiler()
    for size, tested in (1024, False), (1020, True):
        with edge(size) as path:
            args = path, "--grid", 1, "--block", 64, "u32[64]", "u8[64]=zeros"
            by_both(*args)
            err = dump_of("llvm", *args)
        assert (len(re.findall(r"%shared_bytes", err)) > 0) == tested, size


def what_may_be_outside_is_tested():
    for size, disp, ahead in (1024, 4, 0), (1024, 0, 900), (1024, 2, 0), (1024, 0, 2), (252, 0, 0):
        with edge(size, disp, ahead) as path:
            fault_by_both(path, "--grid", 1, "--block", 32, "u32[64]", "u8[64]=fill:255")
    for block in 64, 40:  # of which the last warp has 8 lanes
        with edge(block * 4, 0, 0) as path:
            by_both(path, "--grid", 1, "--block", block, "u32[64]+print", "u8[64]=zeros")


ASSUMED = """.visible .entry assumed(.param .u64 out, .param .u32 any)
{
    .reg .u64 %rd<4>; .reg .u64 %d<2>; .reg .u32 %r<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [any];
    mov.u32 %r2, %tid.x;
    mul.lo.u32 %r3, %r1, 0;
    sub.u32 %r4, %r3, %r2;
    cvt.u64.u32 %d1, %r4;
    mul.wide.u32 %rd2, %r2, 8;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u64 [%rd3], %d1;
    ret;
}
"""


def an_index_that_wraps_behind_a_known_number():
    with written(ASSUMED) as path:
        by_both(path, "--grid", 1, "--block", 32, "u64[32]+print", 7)


# More instructions than are evaluated for all threads (ir/known.c), then one of 16 bits that is affine.
NARROW = """.visible .entry narrow(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<2112>; .reg .u16 %h<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r0, %tid.x;
    cvt.u16.u32 %h1, %r0;
    mul.lo.u16 %h2, %h1, 13107;
FILL    mul.wide.u16 %r2101, 3, %h2;
    add.u32 %r2102, %r2101, %r2099;
    mul.wide.u32 %rd2, %r0, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2102;
    ret;
}
"""


def an_affine_value_of_16_bits_that_wraps():
    fill = "".join(f"    add.u32 %r{n}, %r{n - 1}, {n};\n" for n in range(1, 2100))
    with written(NARROW.replace("FILL", fill)) as path:
        by_both(path, "--grid", 1, "--block", 1024, "u32[1024]+print")


# Lanes wait in two blocks of code; what is uniform for those of the one is in the row of what is divergent for the other's.
WAITING = """.func nothing() { .reg .u32 %t; mov.u32 %t, %tid.x; ret; }
.visible .entry waiting(.param .u64 out, .param .u32 given)
{
    .reg .u64 %rd<4>; .reg .u32 %r<12>; .reg .u32 %a<6>; .reg .u32 %b<6>; .reg .pred %p<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r9, [given];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 0;
    mov.u32 %r3, %r1;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p1, %r4, 1;
LOOP:
    add.u32 %r2, %r2, 1;
UNIFORM    setp.gt.u32 %p2, %r2, 1;
    and.pred %p3, %p1, %p2;
    @%p3 bra BEHIND;
    call nothing;
BEHIND:
SUM    call nothing;
    setp.lt.u32 %p4, %r1, 8;
    setp.gt.u32 %p5, %r2, 3;
    or.pred %p4, %p4, %p5;
    @%p4 bra EXIT;
    bra LOOP;
EXIT:
    mov.u32 %r10, 0;
ALL    st.global.u32 [%rd3], %r10;
    ret;
}
"""


def lanes_that_wait_keep_what_is_divergent():
    numbers = range(6)
    text = WAITING.replace("UNIFORM", "".join(f"    mad.lo.u32 %a{n}, %r2, {1000 + 100 * n}, %r9;\n" for n in numbers))
    text = text.replace("SUM", "".join(f"    mad.lo.u32 %r3, %r3, 3, %a{n};\n" for n in numbers) +
                        "".join(f"    mad.lo.u32 %b{n}, %r3, {n + 2}, %r1;\n" for n in numbers))
    text = text.replace("ALL", "".join(f"    mad.lo.u32 %r10, %r10, 5, %b{n};\n" for n in numbers))
    with written(text) as path:
        by_both(path, "--grid", 1, "--block", 32, "u32[32]+print", 5)


main(globals())
