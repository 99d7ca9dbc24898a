"""Names and scopes (PTX ISA 4.4, 5.4.6): which declaration a use means, and what is declared twice. What is accepted and refused
here, the vendor's assembler accepts and refuses, too; machine code that it makes of scopes.py's pairs is the same."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import scopes
from both import build, by_both, written
from tap import launch, main, run, values

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
# BEFORE stands before the kernel, BODY in it; `o` is a buffer of eight numbers.
KERNEL = HEAD + "%s\n.visible .entry kernel(.param .u64 out)\n{\n.reg .b64 o; ld.param.u64 o, [out];\n%s\nret;\n}\n"
FUNCTIONS = """.func (.param .b32 r) one(.param .b32 p) { .reg .b32 x; ld.param.b32 x, [p]; add.u32 x, x, 1; st.param.b32 [r], x; ret; }
.func (.param .b32 r) two(.param .b32 p) { .reg .b32 x; ld.param.b32 x, [p]; add.u32 x, x, 2; st.param.b32 [r], x; ret; }
"""


def put(index, register):
    return f"st.global.u32 [o+{4 * index}], {register};"


# (the buffer's first numbers, the body, what stands before the kernel)
MEANS = [
    # Registers: the innermost scope that declares the name, by itself or in a range.
    ([11, 22], ".reg .b32 r<8>; mov.b32 r1, 11; mov.b32 r2, 22; { .reg .b32 r1; mov.b32 r1, 5; }" + put(0, "r1") + put(1, "r2")),
    ([11, 44], ".reg .b32 r<8>; mov.b32 r1, 11; { .reg .b32 r<2>; mov.b32 r1, 33; mov.b32 r2, 44; }" + put(0, "r1") + put(1, "r2")),
    ([33, 5], ".reg .b32 r<8>; mov.b32 r1, 1; { .reg .b32 r; mov.b32 r, 5; mov.b32 r1, 33;" + put(1, "r") + "}" + put(0, "r1")),
    ([22, 6], ".reg .b32 r<8>; mov.b32 r2, 22; { .reg .b32 r2; { .reg .b32 r<8>; mov.b32 r2, 5; } mov.b32 r2, 6;"
     + put(1, "r2") + "}" + put(0, "r2")),
    ([4, 3], ".reg .b32 y; mov.b32 y, 3; { mov.b32 y, 4; .reg .b32 y; mov.b32 y, 3;" + put(1, "y") + "}" + put(0, "y")),
    ([1, 2], ".reg .pred p, p<6>; .reg .b32 x; setp.eq.b32 p, 1, 1; setp.eq.b32 p1, 1, 0; selp.b32 x, 1, 2, p;" + put(0, "x")
     + "selp.b32 x, 1, 2, p1;" + put(1, "x")),
    ([8, 8], ".reg .b32 r<12>; mov.b32 r1, 7; mov.b32 r01, 8;" + put(0, "r1") + put(1, "r001")),
    ([4, 5], ".reg .b32 r01, r1; mov.b32 r01, 4; mov.b32 r1, 5;" + put(0, "r01") + put(1, "r1")),
    ([8], ".reg .b32 r<4>, r4; mov.b32 r4, 8;" + put(0, "r4")),
    ([3], ".reg .b32 r<0>; .reg .b32 r0; mov.b32 r0, 3;" + put(0, "r0")),
    ([5, 6], ".reg .b32 %tid; mov.b32 %tid, 5;" + put(0, "%tid") + ".reg .b32 %envreg<4>; mov.b32 %envreg3, 6;" + put(1, "%envreg3")),
    # Variables, one by one and in ranges, in every state space; a name hides what has another kind, too.
    ([9, 4], ".reg .b32 x, y; mov.b32 x, 9; { .shared .b32 x; st.shared.b32 [x], 4; ld.shared.b32 y, [x]; }" + put(0, "x") + put(1, "y")),
    ([2, 4], ".shared .b32 x; .reg .b32 y; st.shared.b32 [x], 4; { .reg .b32 x; mov.b32 x, 2;" + put(0, "x")
     + "} ld.shared.b32 y, [x];" + put(1, "y")),
    ([7, 3], "{ .const .b32 c = 7; .reg .b32 x; ld.const.b32 x, [c];" + put(0, "x") + "} .reg .b32 y; ld.const.b32 y, [c];" + put(1, "y"),
     ".const .b32 c = 3;"),
    ([4, 5], ".shared .b32 g; .reg .b32 y; st.shared.b32 [g], 4; ld.shared.b32 y, [g];" + put(0, "y")
     + "ld.global.b32 y, [h]; ld.global.b32 y, [h];" + put(1, "y"), ".global .b32 g = 5, h = 5;"),
    ([1, 5], ".reg .b32 x; .local .b32 s; st.local.b32 [s], 1; { .local .b32 s; st.local.b32 [s], 5; ld.local.b32 x, [s];" + put(1, "x")
     + "} ld.local.b32 x, [s];" + put(0, "x")),
    ([0, 16, 7], ".shared .b32 pad[4]; .shared .b32 %clock; .reg .b32 x; mov.u32 x, pad;" + put(0, "x") + "mov.u32 x, %clock;"
     + put(1, "x") + "st.shared.b32 [%clock], 7; ld.shared.b32 x, [%clock];" + put(2, "x")),
    ([5, 7, 5], ".shared .b32 s<4>, t; .reg .b32 x; st.shared.u32 [s1], 5; st.shared.u32 [s2], 7; st.shared.u32 [t], 9;"
     "ld.shared.u32 x, [s1];" + put(0, "x") + "ld.shared.u32 x, [s2];" + put(1, "x") + "ld.shared.u32 x, [s01];" + put(2, "x")),
    ([16], ".shared .align 16 .b32 s<2>; .reg .u32 a, b; mov.u32 a, s1; mov.u32 b, s0; sub.s32 a, a, b; abs.s32 a, a;" + put(0, "a")),
    ([6], ".reg .b32 x; st.global.b32 [g2], 6; ld.global.b32 x, [g2];" + put(0, "x"), ".visible .global .b32 g<3>;"),
    ([6], ".local .v2 .b32 v<2>; .reg .b32 x; st.local.v2.b32 [v1], {5, 6}; ld.local.b32 x, [v1+4];" + put(0, "x")),
    # An index counts elements of the type, of vectors and of several dimensions, too (6.4.2).
    ([4, 12, 20, 2], ".shared .v2 .u32 v[4]; .shared .u32 m[2][3]; .shared .v4 .b8 b[2]; .reg .u32 x, y; mov.u32 y, v; mov.u32 x, v[1];"
     "sub.u32 x, x, y;" + put(0, "x") + "mov.u32 x, v[3]; sub.u32 x, x, y;" + put(1, "x") + "mov.u32 y, m; mov.u32 x, m[5];"
     "sub.u32 x, x, y;" + put(2, "x") + "mov.u32 y, b; mov.u32 x, b[2]; sub.u32 x, x, y;" + put(3, "x")),
    ([12, 10, 9], ".reg .u32 x; ld.global.u32 x, a[2];" + put(0, "x") + "ld.global.u32 x, a[0];" + put(1, "x")
     + "mov.u32 x, 9; st.global.u32 a[3], x; ld.global.u32 x, [a+12];" + put(2, "x"), ".global .u32 a[4] = {10, 11, 12, 13};"),
    # Functions and kernels have names of the module; parameters belong to the function's own scope.
    ([4], ".reg .b32 one; mov.b32 one, 4;" + put(0, "one"), FUNCTIONS),
    ([4], ".reg .b32 kernel; mov.b32 kernel, 4;" + put(0, "kernel")),
    ([5, 1], "{ .reg .b32 out; mov.b32 out, 5;" + put(0, "out") + "} .reg .b64 p; ld.param.u64 p, [out]; st.global.b32 [p+4], 1;"),
    ([4, 6], ".reg .b32 y; { .param .b32 q; .param .b32 r; st.param.b32 [q], 3; call (r), one, (q); ld.param.b32 y, [r];" + put(0, "y")
     + "} { .param .b32 q; .param .b32 r; st.param.b32 [q], y; call (r), two, (q); ld.param.b32 y, [r];" + put(1, "y") + "}", FUNCTIONS),
    ([4, 12], ".reg .b32 y; { .param .b32 q; .param .b32 r; st.param.b32 [q], 3; { .param .b32 q; .param .b32 r; st.param.b32 [q], 10;"
     "call (r), two, (q); ld.param.b32 y, [r];" + put(1, "y") + "} call (r), one, (q); ld.param.b32 y, [r];" + put(0, "y") + "}", FUNCTIONS),
    ([4], ".reg .b32 y; { .param .b32 q<2>; st.param.b32 [q1], 3; call (q0), one, (q1); ld.param.b32 y, [q0];" + put(0, "y") + "}", FUNCTIONS),
    ([4], ".reg .b32 y<2>; mov.b32 y1, 3; call (y0), f, (y1);" + put(0, "y0"),
     ".func (.reg .b32 r) f(.reg .b32 p) { { .reg .b32 p<3>; .reg .b32 r; mov.b32 r, 5; } { .reg .b32 p; mov.b32 p, 7; } add.u32 r, p, 1; ret; }"),
    # Labels may stand behind their use, in this scope or in one around it; lists of labels may not.
    ([0, 8], ".reg .pred p; setp.ne.u64 p, o, 0; x: { @p bra x; st.global.b32 [o], 7; x: st.global.b32 [o+4], 8; }"),
    ([0, 8, 9], ".reg .pred p; setp.ne.u64 p, o, 0; { @p bra x; st.global.b32 [o], 7; x: st.global.b32 [o+4], 8; } x: st.global.b32 [o+8], 9;"),
    ([0, 0, 9], ".reg .pred p; setp.ne.u64 p, o, 0; { @p bra x; st.global.b32 [o], 7; { x: st.global.b32 [o+4], 8; } } x: st.global.b32 [o+8], 9;"),
    ([3], ".reg .b32 x; { mov.b32 x, 3;" + put(0, "x") + "x: }"),
    ([3], ".reg .b32 x<3>; x: mov.b32 x1, 3;" + put(0, "x1")),
    ([0, 0, 8, 9], ".reg .u32 z; mov.u32 z, 0; ts: .branchtargets a, b; { brx.idx z, ts; ts: .branchtargets b, a; } a: st.global.b32 [o+8], 8;"
     " b: st.global.b32 [o+12], 9;"),
    ([0, 0, 0, 9], ".reg .u32 z; mov.u32 z, 0; ts: .branchtargets a, b; { ts: .branchtargets b, a; brx.idx z, ts; } a: st.global.b32 [o+8], 8;"
     " b: st.global.b32 [o+12], 9;"),
    ([4], ".reg .b32 y; .reg .b64 f; mov.u64 f, one; { .param .b32 r; .param .b32 p; st.param.b32 [p], 3; { P: .callprototype (.param .b64 _) _ ();"
     "} P: .callprototype (.param .b32 r) _ (.param .b32 r); call (r), f, (p), P; ld.param.b32 y, [r]; }" + put(0, "y"), FUNCTIONS),
]

# (words of the message, the body, what stands before the kernel)
REFUSED = [
    ("`r1` is declared twice", ".reg .b32 r1; .reg .b32 r<4>;"),
    ("`r1` is declared twice", ".reg .b32 r<4>; .reg .b32 r1;"),
    ("`r01` is declared twice", ".reg .b32 r<4>; .reg .b32 r01;"),
    ("`r2` is declared twice", ".shared .b32 r2; .reg .b32 r<4>;"),
    ("`r2` is declared twice", ".shared .b32 r<4>; .reg .b32 r2;"),
    ("`r` is declared twice", ".reg .b32 r<4>; .reg .b32 r<8>;"),
    ("`r` is declared twice", ".reg .b32 r<4>; .shared .b32 r<8>;"),
    ("`p1` is declared twice", "", ".func f(.reg .b32 p1) { .reg .b32 p<3>; ret; }"),
    ("`out` is declared twice", ".reg .b64 out;"),
    ("`x` is declared twice", ".reg .b32 x; x: mov.b32 x, 3;"),
    ("`a` is declared twice", "", ".func (.param .b32 a) f(.param .b32 a) { ret; }"),
    ("`g1` is declared twice", "", ".global .b32 g<4>; .func g1() { ret; }"),
    ("`g1` is declared twice", "", ".global .b32 g1; .global .b32 g<4>;"),
    ("`_` is the operand that is dropped", ".reg .b32 _;"),
    ("`r` is not declared", ".reg .b32 r<4>; mov.b32 r, 4;"),
    ("`a12` is not declared", ".reg .b32 a<5>; .reg .b32 a1<3>; mov.b32 a12, 3;"),
    ("`r4` is not declared", ".reg .b32 r<4>; { .reg .b32 r<2>; mov.b32 r4, 3; }"),
    ("`r4294967297` is not declared", ".reg .b32 r<4>; mov.b32 r4294967297, 3;"),
    ("`y` is not declared", "mov.b32 y, 3; .reg .b32 y;"),
    ("cannot be arrays or have initial values", ".shared .b32 s<4>[3];"),
    ("cannot be arrays or have initial values", "", ".global .b32 g<4> = 3;"),
    ("the number of variables", ".shared .b32 s<65537>;"),
    ("the number of variables", ".shared .b32 s<65536>; .shared .b32 t<1>;"),
    ("`x1` is not a label", "{ .reg .b32 x<4>; mov.b32 x1, 3; bra x1; } x1:"),
    ("`x` is not a label", "{ .reg .b32 x; bra x; } x:"),
    ("needs a register to write", ".reg .b32 x<3>; { x1: mov.b32 x1, 3; }"),
    ("label `x` is not declared", "bra x; { x: }"),
    ("label `ts` is not declared", ".reg .u32 z; mov.u32 z, 0; brx.idx z, ts; ts: .branchtargets a; a:"),
    ("a prototype has no name", "P: .callprototype named ();"),
    ("only an array can be indexed", ".shared .u32 one; .reg .u32 x; mov.u32 x, one[0];"),
    ("needs an address", ".shared .u32 a[4]; .reg .u32 x; ld.shared.u32 x, a;"),
    ("`q` is declared twice", "", ".extern .global .u32 q[2]; .visible .global .u32 q[3];"),
    ("`q` is declared twice", "", ".extern .global .u32 q; .visible .global .u64 q;"),
    ("`q` is .common, and in .const", "", ".common .const .u32 q;"),
    ("`q` is .managed, and in .const", "", ".visible .const .attribute(.managed) .u32 q;"),
    ("must be a power of two", "", ".entry other(.param .u64 .ptr .global .align 3 p) { ret; }"),
    ("`.ptr` is for a kernel's parameter", "", ".entry other(.param .u64 .ptr .param p) { ret; }"),
    ("`.ptr` is for a kernel's parameter", "", ".func other(.param .u64 .ptr .global .align 4 p) { ret; }"),
    ("`f` is not a function", ".reg .b32 f; T: .calltargets f;", ".func f() { ret; }"),
]


def case(row):
    body, before = (*row[1:], "")[:2]
    return KERNEL % (before, body)


def printed(path):
    status, out, err = run("ptx", "--print", path)
    assert status == 0, err
    return out


def result(text):
    with written(text) as path:
        return values(launch(path, "--grid", 1, "--block", 1, "--engine", "interp", "u32[8]+print"), 1)


# What nvcc writes for `x = __syncthreads_or(y)`, between comparisons whose results live on.
BARRIER = HEAD + """.visible .entry kernel(.param .u64 out)
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 3;
    setp.lt.u32 %p2, %r1, 5;
    mov.b32 %r2, 0;
    {
    .reg .pred %p1;
    .reg .pred %p2;
    setp.ne.u32 %p1, %r2, 0;
    bar.red.or.pred %p2, 0, %p1;
    selp.u32 %r3, 1, 0, %p2;
    }
    selp.u32 %r4, 1, 0, %p1;
    selp.u32 %r5, 2, 0, %p2;
    or.b32 %r4, %r4, %r5;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd2, %rd1;
    st.global.u32 [%rd2], %r4;
    ret;
}
"""


def predicates_outlive_a_barrier_with_predicates_of_the_same_names():
    with written(BARRIER) as path:
        assert values(by_both(path, "--grid", 1, "--block", 64, "u32[64]+print"), 1) == [3, 3, 3, 2, 2] + [0] * 59


def a_use_means_the_innermost_declaration():
    for row in MEANS:
        got = result(case(row))
        assert got == row[0] + [0] * (8 - len(row[0])), f"{got}, not {row[0]}:\n{case(row)}"


def what_is_declared_twice_or_not_at_all_is_refused():
    for row in REFUSED:
        with written(case(row)) as path:
            status, out, err = run("ptx", path)
        assert status == 1 and row[0] in err, f"{row[0]}:\n{case(row)}\n{out}{err}"


def nested_scopes_compute_what_unique_names_compute():
    for seed in range(60):
        nested, flat = map(result, scopes.texts(seed))
        assert nested == flat, f"seed {seed}: {nested}, not {flat}; python3 tests/names/scopes.py {seed} writes both"


def printed_scopes_read_back():
    for text in [*(scopes.texts(seed)[0] for seed in range(20)), *map(case, MEANS)]:
        with written(text) as path:
            done = subprocess.run([os.path.join(build, "tests/ptx-round-trip"), path], capture_output=True, text=True)
            assert "not ok" not in done.stdout and done.returncode == 0, done.stdout + text
            again = printed(path)
        assert result(again) == result(text), again


main(globals())
