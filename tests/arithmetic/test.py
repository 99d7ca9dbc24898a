"""Arithmetic in compiled code that rounds, approximates or makes NaNs as nothing of LLVM's does: by both engines."""
import lzma
import os
import re
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, dump_of, environment, need_compiler, same_results, written
from tap import launch, main, values

# All places within a segment of the table, and all segments: 2^24 operands, of which each thread adds up a part.
FUNCTIONS = """.visible .entry sums(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<16>; .reg .f32 %f<4>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r1, %r2, 256, %r1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r4, 0;
AGAIN:
    OPERAND
    FUNCTION.f32 %f2, %f1;
    mov.b32 %r5, %f2;
    mad.lo.u32 %r4, %r4, 31, %r5;
    add.u32 %r1, %r1, 4096;
    setp.lt.u32 %p, %r1, 0x1000000;
    @%p bra AGAIN;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""


def functions_that_are_looked_up_in_tables_are_the_same_by_both():
    need_compiler()
    bits = "add.u32 %r3, %r1, 0x3f000000; mov.b32 %f1, %r3;"
    turn = "cvt.rn.f32.u32 %f1, %r1; fma.rn.f32 %f1, %f1, 0f34000000, 0fBF800000;"  # from -1 up to 1
    for function, operand in (("rsqrt.approx", bits), ("sqrt.approx", bits), ("rcp.approx.ftz", bits), ("ex2.approx", turn),
                              ("lg2.approx", bits), ("sin.approx", bits), ("cos.approx.ftz", turn)):
        with written(FUNCTIONS.replace("OPERAND", operand).replace("FUNCTION", function)) as path:
            by_both(path, "--grid", 16, "--block", 256, "u32[4096]+print")


# Operands of all kinds, by the thread's number: any bits, next to 1, small and subnormal, and sums of which next to nothing is left.
DIRECTED = """.visible .entry directed(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<40>; .reg .f32 %f<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r4, %r3, 0x9E3779B1, 77;
    shr.u32 %r5, %r4, 15; xor.b32 %r6, %r4, %r5; mul.lo.u32 %r7, %r6, 0x85EBCA6B;
    shr.u32 %r8, %r7, 13; xor.b32 %r9, %r7, %r8; mul.lo.u32 %r10, %r9, 0xC2B2AE35;
    shr.u32 %r11, %r10, 16; xor.b32 %r12, %r10, %r11;
    and.b32 %r13, %r3, 3; setp.eq.u32 %p1, %r13, 1; setp.eq.u32 %p2, %r13, 2; setp.eq.u32 %p3, %r13, 3;
    and.b32 %r14, %r7, 0x81FFFFFF; selp.b32 %r15, %r14, %r7, %p1;
    and.b32 %r16, %r15, 0x80FFFFFF; or.b32 %r17, %r16, 0x3F000000; selp.b32 %r18, %r17, %r15, %p2; mov.b32 %f1, %r18;
    and.b32 %r19, %r10, 0x80FFFFFF; or.b32 %r20, %r19, 0x3F000000; selp.b32 %r21, %r20, %r10, %p2; mov.b32 %f2, %r21;
    mul.rn.f32 %f3, %f1, %f2; neg.f32 %f4, %f3; mov.b32 %r22, %f4; add.u32 %r23, %r22, %r2; sub.u32 %r24, %r23, 3;
    and.b32 %r25, %r12, 0x81FFFFFF; selp.b32 %r26, %r25, %r12, %p1; selp.b32 %r27, %r24, %r26, %p3; mov.b32 %f5, %r27;
    FUNCTION.f32 %f6, %f1, %f2, %f5;
    st.global.f32 [%rd3], %f6;
    ret;
}
"""


def multiply_adds_that_round_in_a_direction_are_the_same_by_both():
    need_compiler()
    for rounding in "rz", "rm", "rp", "rm.sat", "rp.ftz":
        with written(DIRECTED.replace("FUNCTION", "fma." + rounding)) as path:
            by_both(path, "--grid", 8, "--block", 256, "u32[2048]+print")


# The approximate functions of 400 numbers a thread: in turns any bits, numbers within the reach of all, of which compiled
# code has simpler functions, the least positive numbers, and the largest, infinity and NaNs. Results are hashed.
APPROXIMATE = """.visible .entry approximate(.param .u64 out)
{
    .reg .u64 %rd<4>; .reg .u32 %r<12>; .reg .f32 %f<20>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r2, %r1, 2654435761, 12345;
    mov.u32 %r3, 0;
    mov.u32 %r8, 0;
L:
    mad.lo.u32 %r2, %r2, 1664525, 1013904223;
    shr.u32 %r4, %r2, 16;
    xor.b32 %r4, %r4, %r2;
    and.b32 %r5, %r4, 0x07ffffff;
    add.u32 %r5, %r5, 0x3c000000;
    and.b32 %r6, %r3, 3;
    setp.eq.u32 %p, %r6, 0;
    selp.b32 %r5, %r4, %r5, %p;
    and.b32 %r7, %r4, 0x00ffffff;
    setp.eq.u32 %p, %r6, 2;
    selp.b32 %r5, %r7, %r5, %p;
    and.b32 %r7, %r4, 0x01ffffff;
    add.u32 %r7, %r7, 0x7e000000;
    setp.eq.u32 %p, %r6, 3;
    selp.b32 %r5, %r7, %r5, %p;
    mov.b32 %f1, %r5;
FUNCTIONS
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, 400;
    @%p bra L;
    st.global.u32 [%rd3], %r8;
    ret;
}
"""
FUNCTION = "    {name}.f32 %f2, %f1;\n    mov.b32 %r9, %f2;\n    mad.lo.u32 %r8, %r8, 31, %r9;\n"
QUOTIENT = "    mov.b32 %f2, %r4;\n    div.{name}.f32 %f2, %f2, %f1;\n    mov.b32 %r9, %f2;\n    mad.lo.u32 %r8, %r8, 31, %r9;\n"
QUOTIENTS = "approx", "approx.ftz", "full", "full.ftz"
NAMES = [f"{f}.approx{ftz}" for f in ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos") for ftz in ("", ".ftz")]


def approximate_functions_give_the_same_by_both():
    need_compiler()
    functions = [FUNCTION.format(name=n) for n in NAMES] + [QUOTIENT.format(name=n) for n in QUOTIENTS]
    with written(APPROXIMATE.replace("FUNCTIONS", "".join(functions))) as path:
        for block in 64, 45:
            by_both(path, "--grid", 1, "--block", block, "u32[64]+print")


# Of each thread a sum that goes around a loop with a barrier, begins with 0 and may become a NaN of any payload in any round.
SUMS = """.visible .entry sums(.param .u64 out, .param .u64 in, .param .u32 rounds)
{
    .reg .u64 %rd<6>; .reg .u32 %r<9>; .reg .f32 %f<6>; .reg .pred %p;
    .shared .f32 words[512];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd4, [in];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    add.u64 %rd5, %rd4, %rd2;
    mov.u32 %r3, words;
    shl.b32 %r4, %r2, 2;
    add.u32 %r3, %r3, %r4;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r5, 0;
L:
    ld.global.f32 %f2, [%rd5];
    st.shared.f32 [%r3], %f2;
    bar.sync 0;
    ld.shared.f32 %f3, [words+12];
    ld.shared.f32 %f4, [%r3];
    fma.rn.f32 %f1, %f3, %f4, %f1;
    mul.rn.f32 %f5, %f4, %f4;
    sub.rn.f32 %f1, %f1, %f5;
    bar.sync 0;
    add.u64 %rd5, %rd5, 256;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p, %r5, %r1;
    @%p bra L;
    st.global.f32 [%rd3], %f1;
    ret;
}
"""


def sums_around_loops_have_the_same_nans_in_both():
    need_compiler()
    with written(SUMS) as path:
        for level in cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4"):
            for tier in "1", "2":
                for rounds in 3, 1500: # more than a quantum
                    args = [path, "--grid", 1, "--block", 64, "u32[64]+print", "u32[96064]=rand", rounds, "--cpu", level]
                    got = [launch(*args, "--engine", e, env=environment(HEDDLE_TIER=tier, HEDDLE_VERIFY="1")) for e in ("jit", "interp")]
                    assert got[0]["buffers"] == got[1]["buffers"], (level, tier, rounds)


# A value that goes around a loop, of no rounds, one or many, and in some rounds of some lanes stays as it is. Lanes begin with
# NaNs of many payloads, infinities and numbers; %f4 = %f4 * %f1 + %f2 makes more of them.
NANS = """.visible .entry nans(.param .u64 out, .param .u32 rounds)
{
    .reg .u64 %rd<4>; .reg .u32 %r<12>; .reg .f32 %f<8>; .reg .pred %p, %q;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    mad.lo.u32 %r3, %r2, 0x00234567, 0x7f7fffff;
    and.b32 %r4, %r2, 3;
    setp.eq.u32 %p, %r4, 0;
    selp.b32 %r3, 0x3f800000, %r3, %p;
    mov.b32 %f4, %r3;
    mov.b32 %f5, %r3;
    mov.f32 %f1, 0f7F000000;
    mov.f32 %f2, 0fFF000000;
    mov.u32 %r5, 0;
    setp.ge.u32 %q, %r5, %r1;
    @%q bra END;
L:
    and.b32 %r6, %r5, %r2;
    setp.eq.u32 %p, %r6, 1;
    fma.rn.f32 %f4, %f4, %f1, %f2;
    @%p fma.rn.f32 %f5, %f5, %f1, %f4;
    @%p bra NEXT;
    add.f32 %f4, %f4, %f5;
NEXT:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %q, %r5, %r1;
    @%q bra L;
END:
    mov.b32 %r7, %f4;
    mov.b32 %r8, %f5;
    mad.lo.u32 %r9, %r7, 31, %r8;
    st.global.u32 [%rd3], %r9;
    ret;
}
"""


def nans_go_around_loops_as_they_are():
    need_compiler()
    with written(NANS) as path:
        for rounds in 0, 1, 2, 9:
            by_both(path, "--grid", 1, "--block", 128, "u32[128]+print", rounds)


# Twelve operations each of f64 and f32 on all triples of twenty values, most of them NaNs, as an H200 computed them.
RECORDED = {
    "f64": (["add.rn", "sub.rn", "mul.rn", "add.rz", "add.rm", "min", "max", "div.rn", "fma.rn", "fma.rz", "fma.rm", "sqrt.rn"],
            [0, 1 << 63, 0x3FF << 52, 0xBFF8 << 48, 0x7FF << 52, 0xFFF << 52, 0x7FF0000000000001, 0xFFF0000000000002,
             0x7FF4000000000003, 0xFFF5000000000004, 0x7FF8 << 48, 0xFFF8 << 48, 0x7FF8000000000005, 0xFFF8000000000006,
             0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x7FF7FFFFFFFFFFFF, 0xFFF0000012345678, 0x7FEFFFFFFFFFFFFF, 1]),
    "f32": (["add.rn", "sub.rn", "mul.rn", "add.rn.ftz", "min", "max", "min.NaN", "div.rn", "fma.rn", "fma.rn.ftz",
             "max.xorsign.abs", "sqrt.rn"],
            [0, 1 << 31, 0x3F800000, 0xBFC00000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFF800002, 0x7FA00003, 0xFFB00004,
             0x7FC00000, 0xFFC00000, 0x7FC00005, 0xFFC00006, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FBFFFFF, 0xFF812345, 0x7F7FFFFF, 1]),
}


def operations_kernel(kind, operations, values_of):
    """A thread's triple is its number in base 20, the first operand's digit first; its results stand one after the other."""
    size, bits = int(kind[1:]) // 8, "b" + kind[1:]
    text = f""".version 8.6
.target sm_90
.address_size 64
.global .{bits} values[20] = {{ {", ".join(map(str, values_of))} }};
.visible .entry operations(.param .u64 out)
{{
    .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .{kind} %f<5>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 128, %r2;
    setp.ge.u32 %p, %r1, 8000; @%p ret;
    mad.wide.u32 %rd1, %r1, {12 * size}, %rd1;
"""
    for operand in 1, 2, 3:
        text += f"    rem.u32 %r3, %r1, 20; div.u32 %r1, %r1, 20; mov.u64 %rd2, values; mad.wide.u32 %rd2, %r3, {size}, %rd2;"
        text += f" ld.global.{kind} %f{operand}, [%rd2];\n"
    for number, operation in enumerate(operations):
        count = 3 if operation.startswith("fma") else 1 if operation.startswith("sqrt") else 2
        operands = ", ".join(f"%f{n}" for n in range(1, count + 1))
        text += f"    {operation}.{kind} %f4, {operands}; st.global.{kind} [%rd1 + {number * size}], %f4;\n"
    return text + "    ret;\n}\n"


def nans_are_kept_or_made_as_on_an_h200():
    with lzma.open(os.path.join(os.path.dirname(__file__), "nans-h200.bin.xz")) as f:
        recorded = {"f64": f.read(8 * 96000), "f32": f.read(4 * 96000)}
    for kind, (operations, values_of) in RECORDED.items():
        with written(operations_kernel(kind, operations, values_of)) as path, tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.bin")
            by_both(path, "--grid", 63, "--block", 128, f"b{kind[1:]}[96000]+save:{out}")
            size = int(kind[1:]) // 8
            with open(out, "rb") as f:
                got = f.read()
            for at in range(0, len(got), size):
                if got[at:at + size] != recorded[kind][at:at + size]:
                    triple, number = divmod(at // size, 12)
                    raise AssertionError("%s.%s of %s: %s, an H200 gives %s" % (
                        operations[number], kind, [hex(values_of[triple // 20**n % 20]) for n in range(3)],
                        got[at:at + size][::-1].hex(), recorded[kind][at:at + size][::-1].hex()))


# x * y - x * y of 1 + 2^-12 is 0 with two roundings of products, and the product's error where the first one is contracted.
PRODUCTS = """.version 7.0
.target sm_75%s
.address_size 64
.visible .entry products(.param .u64 out, .param .f32 v)
{
    .reg .u64 %%rd; .reg .u32 %%r; .reg .f32 %%f<10>; .reg .pred %%p;
    ld.param.u64 %%rd, [out];
    ld.param.f32 %%f1, [v];
    mov.u32 %%r, %%tid.x;
    mov.f32 %%f3, %%f1;
    bra MAIN;
BACK: // reads a product of before, one of whose factors is no more what it was
    add.f32 %%f5, %%f4, 0fBF801000;
    st.global.f32 [%%rd + 4], %%f5;
    bra END;
MAIN:
    mul.f32 %%f6, %%f3, %%f1;
    mul.f32 %%f7, %%f1, %%f3;
    sub.f32 %%f8, %%f6, %%f7;
    st.global.f32 [%%rd], %%f8;
    mul.f32 %%f4, %%f3, %%f1;
    mov.f32 %%f3, 0f00000000;
    setp.lt.u32 %%p, %%r, 32;
    @%%p bra BACK;
END:
    ret;
}
"""
EXACT = 2.0 ** -24  # of (1 + 2^-12)^2 behind 1 + 2^-11


def products_are_contracted_with_the_factors_they_had():
    with written(PRODUCTS % "") as path:
        result = by_both(path, "--grid", 1, "--block", 32, "f32[2]+print", "0f3F800800")
    assert values(result, 1) == [EXACT, EXACT], values(result, 1)


def nothing_is_contracted_in_a_module_for_debugging():
    with written(PRODUCTS % ", debug") as path:
        result = by_both(path, "--grid", 1, "--block", 32, "f32[2]+print", "0f3F800800")
    assert values(result, 1) == [0, 0], values(result, 1)


# Conversions between bf16 and integers: the crc32 of what an H200 made of all 65,536 operands, as words.
BF16 = [
    ("rni.s8.bf16", "ca6fed2d"), ("rzi.s8.bf16", "bf6ddb85"), ("rmi.s8.bf16", "4064de9d"), ("rpi.s8.bf16", "437dbadf"),
    ("rn.bf16.s8", "502ce315"), ("rz.bf16.s8", "502ce315"), ("rm.bf16.s8", "502ce315"), ("rp.bf16.s8", "502ce315"),
    ("rni.s16.bf16", "efb4b9b0"), ("rzi.s16.bf16", "bba05012"), ("rmi.s16.bf16", "c12a71bc"),
    ("rpi.s16.bf16", "e9ee091b"), ("rni.s32.bf16", "3314fdc5"), ("rzi.s32.bf16", "3130e344"),
    ("rn.bf16.s16", "58548b53"), ("rz.bf16.s16", "12a3b8ed"), ("rni.u8.bf16", "b78fea34"), ("rzi.u8.bf16", "7473a283"),
    ("rmi.u8.bf16", "7473a283"), ("rpi.u8.bf16", "263dfb8a"), ("rn.bf16.u8", "918158c7"), ("rz.bf16.u8", "918158c7"),
    ("rm.bf16.u8", "918158c7"), ("rp.bf16.u8", "918158c7"), ("rni.u16.bf16", "b59f0742"), ("rzi.u16.bf16", "76634ff5"),
    ("rmi.u16.bf16", "76634ff5"), ("rpi.u16.bf16", "242d16fc"), ("rni.u32.bf16", "5d581db8"),
    ("rzi.u32.bf16", "9ea4550f"), ("rn.bf16.u16", "7860c3b1"), ("rz.bf16.u16", "d6c13ae2"),
]


def bf16_kernel(forms):
    """Integers of 8 bits are in registers of 8 bits, as ptxas has it."""
    text = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b8 %b<3>; .reg .b16 %h<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 256, %r2;
    cvt.u16.u32 %h1, %r1; mov.b16 {%b1, %b2}, %h1; mov.b16 {%b0, %b2}, 0; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
"""
    for form, _ in forms:
        _, to, source = form.split(".")
        d = "%b2" if to[1:] == "8" else "%r3" if to[1:] == "32" else "%h2"
        text += f"    cvt.{form} {d}, {'%b1' if source[1:] == '8' else '%h1'};"
        text += {"%b2": " mov.b32 %r3, {%b2, %b0, %b0, %b0};", "%h2": " mov.b32 %r3, {%h2, 0};", "%r3": ""}[d]
        text += " st.global.b32 [%rd1], %r3; add.u64 %rd1, %rd1, 262144;\n"
    return text + "    ret;\n}\n"


def bf16_and_integers_are_converted_as_on_an_h200():
    with written(bf16_kernel(BF16)) as path, tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.bin")
        by_both(path, "--grid", 256, "--block", 256, f"u32[{len(BF16)},65536]+save:{out}")
        with open(out, "rb") as f:
            for form, crc in BF16:
                assert f"{zlib.crc32(f.read(262144)):08x}" == crc, form


# What ptxas makes of `_` among the sources of mov.b32.
PACKS = """.visible .entry packs(.param .u64 out)
{
    .reg .u64 %rd1; .reg .u32 %r<5>; .reg .b16 %h<2>; .reg .b8 %b<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    cvt.u16.u32 %h1, %r1;
    sub.u16 %h1, 0xabcd, %h1;
    ld.global.b8 %b1, [%rd1];
    mov.b32 %r1, {%h1, _};
    mov.b32 %r2, {_, %h1};
    mov.b32 %r3, {%b1, _, %b1, _};
    mov.b32 %r4, {_, _, _, %b1};
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
    ret;
}
"""


def a_pack_has_0_where_a_source_is_left_out():
    with written(PACKS) as path:
        out = by_both(path, "--grid", 1, "--block", 1, "u32[4]=fill:90+print")
    assert values(out, 1) == [0xabcd, 0xabcd0000, 0x5a005a, 0x5a000000], out


# Lanes go around as often as their numbers say, longer than a warp's turn lasts, with values that only the loop needs; those of some
# become NaNs on the way.
ORBIT = """.visible .entry orbit(.param .u64 out, .param .u64 in, .param .u32 times)
{
    .reg .u64 %rd<8>; .reg .u32 %r<8>; .reg .f32 %x, %y, %xx, %yy, %c, %s; .reg .pred %p, %q;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [times];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    ld.global.f32 %c, [%rd4];
    mad.lo.u32 %r1, %r2, 37, %r1;
    mov.u32 %r3, 0;
    mov.f32 %x, 0f00000000;
    mov.f32 %y, 0f00000000;
    mov.f32 %xx, 0f00000000;
    mov.f32 %yy, 0f00000000;
ON:
    mov.u32 %r4, %r3;
    sub.f32 %s, %xx, %yy;
    add.f32 %s, %s, %c;
    add.f32 %x, %x, %x;
    fma.rn.f32 %y, %x, %y, %c;
    mov.f32 %x, %s;
    mul.f32 %xx, %x, %x;
    mul.f32 %yy, %y, %y;
    add.u32 %r3, %r3, 1;
    add.f32 %s, %xx, %yy;
    setp.leu.f32 %p, %s, 0f41000000;
    setp.lt.and.u32 %q, %r3, %r1, %p;
    @%q bra ON;
    add.u64 %rd5, %rd1, %rd3;
    st.global.u32 [%rd5], %r4;
    ret;
}
"""


def what_only_exits_need_is_canonical_where_they_are():
    need_compiler()
    with written(ORBIT) as path:
        args = [path, "--grid", 1, "--block", 64, "u32[64]+print", "f32[64]=rand"]
        for tier in "1", "2":
            by_tier = environment(HEDDLE_TIER=tier)
            for level in cpu_levels("x86-64-v2", "x86-64-v3"):
                got = [launch(*args, 30000, "--engine", e, "--cpu", level, env=by_tier) for e in ("jit", "interp")]
                same_results(*got)
                assert max(values(got[0], 1)) > 5000, values(got[0], 1)
        dump = dump_of("llvm", *args, 30000, target="x86-64-v3", HEDDLE_TIER="2")
    blocks = re.split(r"\n\n", dump)
    loop = [b for b in blocks if "@llvm.fma.v32f32" in b]
    assert loop and not any("fcmp uno" in b for b in loop), loop
    assert any("fcmp uno" in b for b in blocks), dump


main(globals())
