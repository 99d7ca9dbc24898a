"""Atomic operations of compiled code: results are the interpreter's, to the bit, in whatever way lanes share cells."""
import itertools
import lzma
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, environment, fault_by_both, need_compiler, other_levels, written
from tap import launch, main, run, some, values

FORMS = [(op, t) for op, types in {
    "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64", "cas": "b32 b64 b16", "add": "u32 s32 u64 f32 f64",
    "inc": "u32", "dec": "u32", "min": "u32 s32 u64 s64", "max": "u32 s32 u64 s64"}.items() for t in types.split()]
ROUNDS = 3  # the engine performs each operation once, until compiled code knows where it goes


def kernel(op, t, space):
    """Lanes at one cell, at eight, at one each; all of them, and some; with the result and without."""
    bits = int(t[1:])
    r, cas = f"%w{bits}_", op == "cas"
    ways = list(itertools.product((0, 7, 127), ("", "@%p"), (True, False)))
    lines = [f""".visible .entry {op}(.param .u64 cells, .param .u64 values, .param .u64 out)
{{
    .reg .u64 %rd<9>, %values; .reg .u32 %r<9>, %round; .reg .b64 %w64_<9>; .reg .b32 %w32_<9>; .reg .b16 %w16_<9>; .reg .pred %p, %q;
    .shared .align 8 .b8 own[1024];
    ld.param.u64 %rd1, [cells];
    ld.param.u64 %values, [values];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 5;
    setp.ne.u32 %p, %r2, 1;
    mul.wide.u32 %rd3, %r1, 8;
    add.u64 %rd2, %rd2, %rd3;
    mov.u32 %r8, own;
    cvt.u64.u32 %rd8, %r8;
    add.u64 %rd6, %rd1, %rd3;
    mov.u32 %round, 0;"""]
    if space == "shared":
        lines.append("ld.global.u64 %rd7, [%rd6]; add.u64 %rd4, %rd8, %rd3; st.shared.u64 [%rd4], %rd7; mov.u64 %rd1, %rd8; bar.sync 0;")
    lines.append("L:")
    for n, (spread, guard, result) in enumerate(ways):
        for k, times in (1, 3), (2, 5):
            lines.append(f"mul.lo.u32 %r3, %r1, {times}; add.u32 %r3, %r3, {n}; add.u32 %r3, %r3, %round; and.b32 %r3, %r3, 31;")
            lines.append(f"mul.wide.u32 %rd5, %r3, 8; add.u64 %rd5, %values, %rd5; ld.global.b{bits} {r}{k}, [%rd5];")
        lines.append(f"and.b32 %r4, %r1, {spread}; mul.wide.u32 %rd5, %r4, 8; add.u64 %rd6, %rd1, %rd5;")
        lines.append(f"mov.b{bits} {r}3, {r}2;")
        d = f"{r}3" if result else "_"
        lines.append(f"{guard} atom.{space}.{op}.{t} {d}, [%rd6], {r}1{', ' + r + '2' if cas else ''};")
        lines.append(f"st.global.b{bits} [%rd2+{n * 1024}], {r}3;")
    lines.append(f"add.u64 %rd2, %rd2, {len(ways) * 1024}; add.u32 %round, %round, 1; setp.lt.u32 %q, %round, {ROUNDS}; @%q bra L;")
    if space == "shared":
        lines.append("bar.sync 0; ld.shared.u64 %rd7, [%rd4]; ld.param.u64 %rd1, [cells]; add.u64 %rd6, %rd1, %rd3;")
        lines.append("st.global.u64 [%rd6], %rd7;")
    return "\n    ".join(lines) + "\n    ret;\n}\n"


def bits_of(t, values):
    return [struct.unpack("<" + {"f32": "I", "f64": "Q"}[t], struct.pack("<" + {"f32": "f", "f64": "d"}[t], v))[0] for v in values]


FLOATS = [1.5, -2.25, 3e7, -0.0, 0.0, 1e-30, -1e30, 0.1, 7.0, -7.0, 1 / 3, 65504.0]
SPECIAL = {  # subnormals, signaling and quiet NaNs, infinities, numbers whose sums become subnormal
    "f32": [1, 0x80000001, 0x7fffff, 0x800000, 0x80800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
            0xffc12345],
    "f64": [1, 1 << 63 | 1, (1 << 52) - 1, 1 << 52, 1 << 63 | 1 << 52 | 1, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
            0x7ff8000000000000, 0x7ff0000000000001, 0xfff8123456789abc, 0xfff4000000000000]}


def buffer(values, n, tail=""):
    return f"u64[{n}]=" + ",".join(str(values[i % len(values)]) for i in range(n)) + tail


def inputs(t):
    """Of cells, and of what lanes have."""
    if t not in SPECIAL:
        return [("u64[128]=range+print", "u64[32]=range")]
    plain = bits_of(t, FLOATS)
    return [(buffer(cells, 128, "+print"), buffer(values, 32))
            for cells, values in ((plain, plain[::-1]), (plain, SPECIAL[t]), (SPECIAL[t], plain), (SPECIAL[t], SPECIAL[t][3:]))]


def every_operation_gives_the_same_by_both():
    """By one warp: warps of a block may come in another order behind a barrier."""
    spaces = "global", "shared"  # in turn, then each form's other one
    for (op, t), space in some(len(FORMS), [(form, spaces[(n + other) % 2]) for other in (0, 1) for n, form in enumerate(FORMS)]):
        with written(kernel(op, t, space)) as path:
            for cells, values in inputs(t):
                by_both(path, "--grid", 1, "--block", 32, cells, values, f"u64[{1536 * ROUNDS}]+print")


def so_they_do_on_each_level_and_in_both_tiers():
    need_compiler()
    levels = cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a", "armv8-a+lse")
    ways = (("add", "f32", "global"), ("inc", "u32", "shared"), ("add", "f32", "shared"), ("inc", "u32", "global"),
            ("add", "f64", "global"), ("dec", "u32", "shared"), ("add", "f64", "shared"), ("dec", "u32", "global"))
    for op, t, space in some(1, ways):
        with written(kernel(op, t, space)) as path:
            for cells, values in inputs(t)[-1:]:
                found = {str(launch(path, "--grid", 1, "--block", 32, cells, values, f"u64[{1536 * ROUNDS}]+print", "--engine", "jit",
                                    "--cpu", level, env=environment(HEDDLE_TIER=tier, HEDDLE_VERIFY="1"))["buffers"])
                         for tier in "12" for level in levels}
                assert len(found) == 1, (op, t, space)


# Shared memory behind other variables, whose cells a warp finds by bytes, or by more.
CELLS = """.version 7.0
.target sm_75
.address_size 64
.visible .entry cells(.param .u64 numbers, .param .u64 out)
{
    .reg .u64 %rd<5>; .reg .u32 %r<9>; .reg .TYPE %v; .reg .pred %p, %q;
    .shared .align 8 .b8 before[40];
    .shared .align 8 .b8 own[CELLS_SIZE];
    ld.param.u64 %rd1, [numbers];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, own;
    st.shared.u32 [before+4], %r1;
    mov.u32 %r3, %r1;
CLEAR:
    mad.lo.u32 %r4, %r3, WIDTH, %r2;
    mov.TYPE %v, 0;
    st.shared.TYPE [%r4], %v;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p, %r3, COUNT;
    @%p bra CLEAR;
    bar.sync 0;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd3, %rd1, %rd3;
    mov.u32 %r5, 0;
    setp.ne.u32 %q, %r1, 5;
AGAIN:
    ld.global.u32 %r8, [%rd3];
    and.b32 %r6, %r8, MASK;
    mad.lo.u32 %r7, %r6, WIDTH, %r2;
    red.shared.add.TYPE [%r7+WIDTH], 3;
    @%q red.shared.max.TYPE [%r7], 4;
    add.u64 %rd3, %rd3, 128;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, 16;
    @%p bra AGAIN;
    bar.sync 0;
COPY:
    mad.lo.u32 %r4, %r1, WIDTH, %r2;
    ld.shared.TYPE %v, [%r4];
    mul.wide.u32 %rd4, %r1, WIDTH;
    add.u64 %rd4, %rd2, %rd4;
    st.global.TYPE [%rd4], %v;
    add.u32 %r1, %r1, 32;
    setp.lt.u32 %p, %r1, COUNT;
    @%p bra COPY;
    ret;
}
"""


def cells_of_shared_memory_are_found_by_their_numbers():
    need_compiler()
    levels = cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a", "armv8-a+lse")
    numbers = "u32[512]=" + ",".join(str(i * 2654435761 >> 7 & 0xffff) for i in range(512))
    for (t, width), mask in itertools.product((("u32", 4), ("u64", 8)), (254, 255, 4095)):
        count = mask + 2
        text = CELLS
        for name, value in ("CELLS_SIZE", count * width), ("COUNT", count), ("WIDTH", width), ("MASK", mask), ("TYPE", t):
            text = text.replace(name, str(value))
        with written(text) as path:
            rest = ["--grid", 1, "--block", 32, numbers, f"{t}[{count}]+print"]
            found = {str(launch(path, *rest, "--engine", "jit", "--cpu", level, env=environment(HEDDLE_TIER=tier, HEDDLE_VERIFY="1"))["buffers"])
                     for tier in "12" for level in levels}
            found.add(str(launch(path, *rest, "--engine", "interp")["buffers"]))
            assert len(found) == 1, (t, mask)


# All add to one cell, and to one of 32; numbers whose sums are exact in any order.
SUMS = """.visible .entry sums(.param .u64 cells)
{
    .reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .b64 %b64; .reg .f32 %f32; .reg .f64 %f64; .reg .pred %p;
    ld.param.u64 %rd1, [cells];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    and.b32 %r3, %r1, 31;
    mul.wide.u32 %rd2, %r3, 8;
    add.u64 %rd2, %rd1, %rd2;
    cvt.rn.TYPE.u32 %TYPE, 3;
L:
    red.global.add.TYPE [%rd2+8], %TYPE;
    red.global.add.TYPE [%rd1], %TYPE;
    atom.global.inc.u32 %r4, [%rd1+272], 99;
    atom.global.dec.u32 %r4, [%rd1+280], 99;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 20;
    @%p bra L;
    ret;
}
"""


def those_of_many_workers_are_all_there():
    need_compiler()
    for t, pack in ("f32", "I"), ("f64", "Q"):
        with written(SUMS.replace("TYPE", t)) as path:
            for engine, workers in itertools.product(("jit", "interp"), (1, 2, 5)):
                threads = 60 * 128
                done = launch(path, "--grid", 60, "--block", 128, "--workers", workers, "u64[64]+print", "--engine", engine)
                cells = done["buffers"][0]["values"]
                one, all_of_them = bits_of(t, [3.0 * 20 * threads / 32, 3.0 * 20 * threads])
                assert cells[:33] == [all_of_them] + [one] * 32, (t, engine, workers, cells)
                assert cells[34] == 20 * threads % 100 and cells[35] == -20 * threads % 100, (t, engine, workers, cells)


# Blocks of even number write what is equal in all elements; the others look whether it is.
PARTS = """.version 8.4
.target sm_90
.address_size 64
.visible .entry parts(.param .u64 cells, .param .u64 unequal)
{
    .reg .u64 %rd<4>; .reg .u32 %i, %n, %c, %t; .reg .pred %p, %q; .reg .TYPE %v<8>;
    ld.param.u64 %rd1, [cells];
    ld.param.u64 %rd2, [unequal];
    mov.u32 %t, %tid.x;
    and.b32 %t, %t, 3;
    mad.wide.u32 %rd1, %t, 16, %rd1;
    mov.u32 %c, %ctaid.x;
    and.b32 %c, %c, 1;
    setp.eq.u32 %p, %c, 0;
    mov.u32 %i, 0;
    mov.u32 %n, 0;
L:
    cvt.TYPE.u32 %v0, %i;
    @%p st.STRONG.VEC.TYPE [%rd1], {EQUAL};
    @!%p ld.STRONG.VEC.TYPE {ELEMENTS}, [%rd1];
    @%p bra N;
COMPARE
N:
    add.u32 %i, %i, 1;
    setp.lt.u32 %q, %i, 20000;
    @%q bra L;
    @!%p red.global.add.u32 [%rd2], %n;
    ret;
}
"""


def others_see_strong_vectors_whole():
    """As on GPUs: scans by key of CUB keep a sum and the word that says that it is there in one vector."""
    for strong, (t, n) in itertools.product(("relaxed.gpu.global", "volatile.global", "relaxed.sys"),
                                            (("u64", 2), ("u32", 4), ("u32", 2), ("u16", 4), ("u16", 2))):
        names = [f"%v{k}" for k in range(1, n + 1)]
        compare = "\n".join(f"    setp.ne.{t} %q, %v1, {name};\n    @%q add.u32 %n, %n, 1;" for name in names[1:])
        text = (PARTS.replace("COMPARE", compare).replace("EQUAL", ", ".join(["%v0"] * n)).replace("ELEMENTS", ", ".join(names))
                .replace("TYPE", t).replace("VEC", f"v{n}").replace("STRONG", strong))
        with written(text) as path:
            for engine in "interp", "jit":
                found = launch(path, "--grid", 4, "--block", 4, "--engine", engine, "--workers", 4, "u64[8]=" + ",".join("0" * 8),
                               "u32[1]=0+print")
                assert found["buffers"][-1]["values"] == [0], (strong, t, n, engine, found["buffers"])


# Strong vectors at places that lanes have in many ways: each is moved to and fro, with and without a guard.
VECTORS = """.version 8.4
.target sm_90
.address_size 64
.visible .entry vectors(.param .u64 out, .param .u64 in, .param .u64 places, .param .u32 mask)
{
    .reg .u64 %rd<40>; .reg .u32 %r<40>; .reg .pred %p; .reg .TYPE %v<9>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u64 %rd3, [places];
    ld.param.u32 %r1, [mask];
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 31;
    shr.u32 %r4, %r1, %r3;
    and.b32 %r5, %r4, 1;
    setp.ne.u32 %p, %r5, 0;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd3, %rd4;
    ld.global.u32 %r6, [%rd5];
    PLACE
    mul.wide.u32 %rd6, %r7, BYTES;
    add.u64 %rd7, %rd2, %rd6;
    add.u64 %rd8, %rd1, %rd6;
    ZERO
    BRANCH ld.STRONG.VEC.TYPE {ELEMENTS}, [%rd7];
    GUARD st.STRONG.VEC.TYPE [%rd8], {ELEMENTS};
DONE:
    mul.wide.u32 %rd9, %r2, BYTES;
    add.u64 %rd10, %rd1, %rd9;
    st.global.VEC.TYPE [%rd10+16384], {ELEMENTS};
    ret;
}
"""


def strong_vectors_are_moved_exactly():
    need_compiler()
    levels = other_levels("x86-64-v2", "x86-64-v3", "x86-64-v4", "armv8-a")
    places = ("mov.u32 %r7, %r2;", "sub.u32 %r7, 100, %r2;", "mul.lo.u32 %r7, %r2, 3;", "shr.u32 %r7, %r2, 2;", "mov.u32 %r7, 5;",
              "mov.u32 %r7, %r6;", "mad.lo.u32 %r7, %r6, 4, %r2;")
    ways = ("", ""), ("@%p", "@%p"), ("@!%p bra DONE;", "")
    numbers = "u32[96]=" + ",".join(str(7 * l * l % 23) for l in range(96))
    kinds = itertools.cycle((("u64", 2), ("u32", 4), ("u32", 2), ("s32", 2), ("f32", 4), ("s16", 4)))
    strengths = "relaxed.gpu.global", "volatile", "acquire.gpu.global"
    cases = [(*case, *next(kinds)) for case in itertools.product(strengths, places, ways)]
    random.Random(1).shuffle(cases)
    for strong, place, (branch, guard), t, n in some(12, cases):
        names = [f"%v{k}" for k in range(1, n + 1)]
        zero = "\n".join(f"    mov.b{t[1:]} {name}, 0;" for name in names)
        text = VECTORS.replace("st.STRONG", "st." + strong.replace("acquire", "release"))
        for word, by in ("PLACE", place), ("ZERO", zero), ("BRANCH", branch), ("GUARD", guard), ("ELEMENTS", ", ".join(names)), \
                ("BYTES", str(n * int(t[1:]) // 8)), ("TYPE", t), ("VEC", f"v{n}"), ("STRONG", strong):
            text = text.replace(word, by)
        with written(text) as path:
            args = path, "--grid", 1, "--block", 96, "u8[20480]+print", "u8[16384]=rand", numbers, 0x8421f00d
            expected = by_both(*args)["buffers"]
            assert any(expected[0]["values"]), "nothing was stored"
            for level in levels:
                assert launch(*args, "--engine", "jit", "--cpu", level)["buffers"] == expected, (strong, place, branch, guard, t, n, level)


# ---- local memory ----

# %g leads to the lane's own buffer, of words 0x3c003c00 + lane + 64 k; where `which` is 3, in odd lanes to 64 bytes behind the lane's %o. What is
# done with it gives %d0 and %d1; the first words of both places are written out behind them.
LOCAL = """.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 which)
{
    .local .align 16 .b8 buf[64]; .shared .align 16 .b8 sh[64];
    .reg .b64 %o, %g, %x, %d<8>; .reg .b32 %t, %w, %r<16>, %a; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .f64 %e<4>; .reg .pred %p, %q; .reg .b128 %z<2>;
    ld.param.u64 %o, [out]; ld.param.u32 %w, [which]; mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 128; add.u64 %o, %o, %x;
FILL    mov.u64 %x, buf; cvta.local.u64 %g, %x; add.u64 %x, %o, 64;
    and.b32 %a, %t, %w; and.b32 %a, %a, 1; setp.eq.u32 %p, %a, 1; setp.eq.u32 %q, %w, 3; and.pred %p, %p, %q; selp.b64 %g, %x, %g, %p;
    SETUP
    mov.u64 %d0, 0; mov.u64 %d1, 0; mov.u32 %r0, 0; mov.u32 %r1, 0;
    DO
    st.global.u64 [%o], %d0; st.global.u64 [%o+8], %d1;
SHOW    ret;
}
"""
FILL = "".join(f"    add.u32 %a, %t, {0x3c003c00 + 64 * k}; st.local.u32 [buf+{4 * k}], %a;\n" for k in range(16))
SHOW = "".join(f"    ld.local.u32 %a, [buf+{4 * k}]; st.global.u32 [%o+{16 + 4 * k}], %a;\n" for k in range(4))
ENDS = {"715": "[address-space]", "716": "[misaligned-address]", "717": "[address-space]"}


def local(do, setup):
    return LOCAL.replace("FILL", FILL).replace("SHOW", SHOW).replace("SETUP", setup).replace("DO", do)


def a_lane_has_atomics_on_its_own_local_memory_as_on_an_h200():
    """269 recorded answers: all operations, orders and scopes by generic addresses, in all lanes and in every other one, and what faults."""
    with lzma.open(os.path.join(os.path.dirname(__file__), "local-h200.tsv.xz"), "rt") as f:
        lines = f.read().splitlines()
    assert len(lines) == 269
    for line in some(18, lines):
        name, do, setup, which, lanes, answer = line.split("\t")
        with written(local(do, setup)) as path:
            args = path, "--grid", 1, "--block", 32, f"u32[2048]=range:{0x3c003c00}+print", which
            if answer in ENDS:
                err = fault_by_both(*args)
                assert ENDS[answer] in err, (name, err)
                continue
            words = [int(v) for v in values(by_both(*args), 1)]
        for lane, wanted in zip(map(int, lanes.split()), answer.split(" ; ")):
            own = words[32 * lane:32 * lane + 32]
            got = [own[0] | own[1] << 32, own[2] | own[3] << 32, *own[4:8], *own[16:18]]
            assert got == [int(v, 16) for v in wanted.replace(" g ", " ").split()], (name, which, lane, [f"{v:x}" for v in got], wanted)


def atomic_objects_of_a_thread_are_right():
    """objects.cu, by nvcc 13."""
    path = os.path.join(os.path.dirname(__file__), "objects.ptx")
    out = by_both(path, "objects", "--grid", 1, "--block", 64, "u32[64]=zeros+print")
    assert values(out, 1) == [1] * 64
    out = by_both(path, "array", "--grid", 1, "--block", 64, "u32[128]=zeros+print", 1)
    assert values(out, 1) == [0 if t % 3 else 5 + t for t in range(64)] + [7 + t if t % 3 else 5 + t for t in range(64)]
    for kernel_args in ("objects", "u32[64]"), ("array", "u32[128]=zeros", 1):
        status, _, err = run("check", path, kernel_args[0], "--grid", 1, "--block", 64, *kernel_args[1:])
        assert status == 0, err


def the_checker_sees_what_an_atomic_reads_and_writes_of_local_memory():
    unwritten = LOCAL.replace("FILL", "").replace("SHOW", "").replace("SETUP", "mov.b64 %d4, 1;")
    read = "atom.add.u64 %d0, [%g], 1;"
    for text, codes in ((local(read, ""), set()), (unwritten.replace("DO", read), {"uninitialised-read"}),
                        (unwritten.replace("DO", "st.local.u64 [buf], %d4; atom.exch.b64 %d0, [%g], %d4; ld.local.u64 %d1, [buf];"), set())):
        with written(text) as path:
            status, _, err = run("check", path, "--grid", 1, "--block", 32, "u32[2048]=zeros", 1)
            found = set(re.findall(r"\[([a-z-]+)[],]", err))
            assert found == codes and status == bool(codes), err


main(globals())
