"""What functions take and give (PTX ISA 7.1, 9.7.12.4): every type of register in every place of a signature, by direct and indirect
calls; prototypes; and operands that are more than one register or a register and a constant. What is accepted and refused here, the
vendor's assembler accepts and refuses, too, but where a comment says otherwise."""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, cpu_levels, written
from tap import launch, main, run, some, values

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
OLD = ".version 1.4\n.target sm_13\n"

# Registers' types, with what ld and st take of them, and their bytes.
SCALARS = {"b8": ("b8", 1), "u8": ("u8", 1), "s8": ("s8", 1), "b16": ("b16", 2), "u16": ("u16", 2), "s16": ("s16", 2), "f16": ("b16", 2),
           "b32": ("b32", 4), "u32": ("u32", 4), "s32": ("s32", 4), "f32": ("f32", 4), "f16x2": ("b32", 4), "b64": ("b64", 8),
           "u64": ("u64", 8), "s64": ("s64", 8), "f64": ("f64", 8), "b128": ("b128", 16)}
VECTORS = {f"v{n} .{t}": (f"v{n}.{SCALARS[t][0]}", n * SCALARS[t][1]) for n in (2, 4) for t in SCALARS if n * SCALARS[t][1] <= 16}
# A predicate goes through a byte, of which it says whether it is odd. ptxas takes predicates, and the types of 8 and 16 bits that are
# not .b, in modules alone that its ABI is off in, where a function has several results; here they are taken everywhere.
TYPES = {**SCALARS, **VECTORS, "pred": (None, 1)}
IN_PARAM = [t for t in SCALARS if t != "f16x2"]
SLOT = 16


def read(register, kind, address):
    if kind == "pred":
        return f"{{ .reg .b32 z; ld.u8 z, {address}; and.b32 z, z, 1; setp.ne.u32 {register}, z, 0; }}\n"
    return f"ld.{TYPES[kind][0]} {register}, {address};\n"


def write(register, kind, address):
    if kind == "pred":
        return f"{{ .reg .b32 z; selp.u32 z, 1, 0, {register}; st.u8 {address}, z; }}\n"
    return f"st.{TYPES[kind][0]} {address}, {register};\n"


def function(name, kind, space):
    """It gives what it takes, by way of memory: no other instruction is for all types."""
    if space == "reg":
        body = ".local .align 16 .b8 at[16]; .reg .u64 m; mov.u64 m, at; cvta.local.u64 m, m;\n"
        body += write("x", kind, "[m]") + read("y", kind, "[m]")
    else:
        suffix = TYPES[kind][0]
        body = f".reg .{kind} r; ld.param.{suffix} r, [x]; st.param.{suffix} [y], r;"
    return f".func (.{space} .{kind} y) {name}(.{space} .{kind} x) {{ {body} ret; }}\n"


def call(k, kind, callee, space, way):
    """Of function k, from registers or from variables in .param, directly or by a list."""
    target = {"direct": f"f{k}", "prototype": "p", "targets": "p"}[way]
    lists = {"direct": "", "prototype": f"L{k}: .callprototype (.{callee} .{kind} _) _ (.{callee} .{kind} _);\n",
             "targets": f"L{k}: .calltargets f{k};\n"}[way]
    end = "" if way == "direct" else f", L{k}"
    pointer = "" if way == "direct" else f".reg .u64 p; mov.u64 p, f{k};\n"
    at = f"{SLOT * k}"
    inside = read("a", kind, f"[i+{at}]")
    if space == "reg":
        inside += f"call (b), {target}, (a){end};\n"
    else:
        suffix = TYPES[kind][0]
        inside += (f".param .{kind} pa, pb; st.param.{suffix} [pa], a; call (pb), {target}, (pa){end};\n"
                   f"ld.param.{suffix} b, [pb];\n")
    return f"{{ .reg .{kind} a, b; {pointer}{lists}{inside}{write('b', kind, f'[o+{at}]')} }}\n"


def module(callee, space, way, kinds):
    functions = "".join(function(f"f{k}", kind, callee) for k, kind in enumerate(kinds))
    calls = "".join(call(k, kind, callee, space, way) for k, kind in enumerate(kinds))
    return (HEAD + functions + ".visible .entry kernel(.param .u64 in, .param .u64 out)\n{\n.reg .u64 i, o; .reg .u32 t; .reg .u64 at;\n"
            "ld.param.u64 i, [in]; ld.param.u64 o, [out]; mov.u32 t, %tid.x;\n"
            f"mul.wide.u32 at, t, {SLOT * len(kinds)}; add.u64 i, i, at; add.u64 o, o, at;\n{calls}ret;\n}}\n")


def expected(given, kinds):
    wanted = []
    for at, kind in zip(range(0, len(given), SLOT), itertools.cycle(kinds)):
        size = TYPES[kind][1]
        passed = [given[at] & 1] if kind == "pred" else given[at:at + size]
        wanted += passed + [0] * (SLOT - size)
    return wanted


def every_type_passes_in_every_place():
    places = [(callee, space, way) for way in ("direct", "prototype", "targets")
              for callee, space in (("reg", "reg"), ("param", "param"), ("param", "reg"), ("reg", "param"))]
    for callee, space, way in some(5, places):
        kinds = list(TYPES) if callee == space == "reg" else IN_PARAM
        size = 40 * SLOT * len(kinds)
        with written(module(callee, space, way, kinds)) as path:
            done = by_both(path, "--grid", 1, "--block", 40, f"u8[{size}]=rand+print", f"u8[{size}]+print")
        given, got = values(done, 1), values(done, 2)
        for at, (want, came) in enumerate(zip(expected(given, kinds), got)):
            assert want == came, f"{kinds[at // SLOT % len(kinds)]}, {callee} from {space}, {way}: byte {at % SLOT} is {came}, not {want}"


# Results, body, and what stands before the kernel; `o` is a buffer of eight numbers, `t` the thread's number, 5.
KERNEL = HEAD + "%s\n.visible .entry kernel(.param .u64 out)\n{\n.reg .b64 o; .reg .b32 t, x<8>; .reg .b64 y<4>; .reg .pred p<4>;\n" \
    "ld.param.u64 o, [out]; mov.u32 t, 5;\n%s\nret;\n}\n"
BOTH = ".func (.reg .pred a, .reg .u32 b) f(.reg .pred x, .reg .u32 y) { not.pred a, x; add.u32 b, y, 1; ret; }"
PAIR = ".func (.reg .v2 .u32 r) swap(.reg .v2 .u32 p) { mov.u32 r.x, p.y; mov.u32 r.y, p.x; ret; }"


def put(*registers):
    return "".join(f"st.u32 [o+{4 * k}], {r};" for k, r in enumerate(registers))


MEANS = [
    # Predicates among several results, dropped, recursive, and under a guard.
    ([1, 6, 0, 8], "setp.eq.u32 p0, t, 6; call (p1, x0), f, (p0, t); call (p2, x1), f, (p1, 7); selp.u32 x2, 1, 0, p1;"
     "selp.u32 x3, 1, 0, p2;" + put("x2", "x0", "x3", "x1"), BOTH),
    ([8, 1], "setp.eq.u32 p0, t, 6; call (_, x0), f, (p0, 7); call (p1, _), f, (p0, 7); selp.u32 x1, 1, 0, p1;" + put("x0", "x1"), BOTH),
    ([3, 1], "setp.eq.u32 p0, t, 6; setp.eq.u32 p1, t, 5; mov.u32 x0, 3; @p0 call (p1, x0), f, (p0, t); selp.u32 x1, 1, 0, p1;"
     + put("x0", "x1"), BOTH),
    ([1, 0], "setp.eq.u32 p0, t, 5; call (p1), even, (8); call (p2), even, (7); selp.u32 x0, 1, 0, p1; selp.u32 x1, 1, 0, p2;"
     + put("x0", "x1"), ".func (.reg .pred r) even(.reg .u32 n) { .reg .pred z; setp.eq.u32 z, n, 0; setp.eq.u32 r, n, 0; @z ret;"
     "sub.u32 n, n, 1; call (r), even, (n); not.pred r, r; ret; }"),
    # Vector registers: whole, by elements, to a wider register and back, to a vector of fewer and wider elements.
    ([2, 1], ".reg .v2 .u32 v; mov.u32 v.x, 1; mov.u32 v.y, 2; call (v), swap, (v);" + put("v.x", "v.y"), PAIR),
    ([2, 1], ".reg .v2 .f32 v; .reg .v2 .b32 w; mov.v2.b32 w, {1, 2}; mov.b64 y0, w; mov.b64 v, y0; call (w), swap, (v);" + put("w.x", "w.y"), PAIR),
    ([0x30002, 0x10000], ".reg .v4 .u16 s; .reg .v2 .u32 w; mov.b64 s, 0x0003000200010000; call (w), swap, (s);" + put("w.x", "w.y"), PAIR),
    ([7, 9], ".reg .v2 .u32 v; mov.v2.u32 v, {7, 9}; call (y0), wide, (v); st.u64 [o], y0;",
     ".func (.reg .b64 r) wide(.reg .b64 p) { mov.b64 r, p; ret; }"),
    ([0x04030201, 0x0403], ".reg .v4 .b8 c; mov.b32 c, 0x04030201; mov.b32 x0, c; .reg .v2 .b16 h; mov.b32 h, x0; cvt.u32.u16 x1, h.y;" + put("x0", "x1")),
    ([1, 2, 3, 4], ".reg .b128 q; .reg .v4 .u32 v; .reg .v2 .b64 w; mov.v4.u32 v, {1, 2, 3, 4}; mov.b128 q, v; mov.b128 w, q; mov.b128 q, w;"
     "mov.b128 v, q; st.v4.u32 [o], v;"),
    ([1, 2], ".reg .v2 .u32 v<3>; mov.v2.u32 v2, {1, 2}; setp.eq.u32 p0, t, 5; @p0 mov.v2.u32 v1, v2; @!p0 mov.v2.u32 v1, {3, 4}; st.v2.u32 [o], v1;"),
    ([0, 5], ".reg .v2 .u32 v; mov.v2.u32 v, {1, 2}; mov.v2.u32 v, {_, t}; st.v2.u32 [o], v;"),
    # A register and a constant; sums wrap at the register's width.
    ([9, 4, 6, 3], "add.u32 x0, t, t+-1; sub.u32 x1, 10, t + 1; mov.u32 x2, t+1; setp.lt.u32 p0, t+1, 6; selp.u32 x3, t, t+-2, p0;" + put("x0", "x1", "x2", "x3")),
    ([1, 0], "mov.u32 x0, 0xffffffff; cvt.u64.u32 y0, x0 + 2; st.u64 [o], y0;"),
    ([0xff00, 6], ".reg .b16 h; mov.b16 h, 0xffff; st.u32 [o], 0; st.u8 [o], h + 1; mov.u16 h, h+-255; st.u16 [o], h; st.u32 [o+4], t + 1;"),
    ([8, 13], "st.u32 [o], 1; atom.add.u32 x0, [o], t + 2; mad.lo.u32 x1, t, 2, x0+2; st.u32 [o+4], x1;"),
    # Prototypes without a semicolon, of one function twice, before other things than functions.
    ([6], "call (x0), one, (t);" + put("x0"), ".func (.reg .u32 r) one(.reg .u32 p)\n.func (.reg .u32 r) one(.reg .u32 p)\n.global .u32 g;\n"
     ".func (.reg .u32 r) one(.reg .u32 p) { add.u32 r, p, 1; ret; }\n.extern .func never(.reg .u32 x) .noreturn"),
    # A floating-point constant for bits is what its low bits are (H200).
    ([0, 0x3f800000, 0, 0x3ff00000], "call (x0), b, (1.0); call (x1), b, (0f3f800000); call (y0), c, (1.0);" + put("x0", "x1") + "st.u64 [o+8], y0;",
     ".func (.reg .b32 r) b(.reg .b32 p) { mov.b32 r, p; ret; } .func (.reg .b64 r) c(.reg .b64 p) { mov.b64 r, p; ret; }"),
]

# What is said of it, the body, and what stands before the kernel.
REFUSED = [
    ("`x` is .v2 .u32, and the parameter is .b32", ".reg .v2 .u32 x; call f, (x);", ".func f(.reg .b32 p) { ret; }"),
    ("`x` is .v2 .u32, and the parameter is .v4 .b16", ".reg .v2 .u32 x; call f, (x);", ".func f(.reg .v4 .b16 p) { ret; }"),
    ("the parameter is .v2 .b32, a vector register", "call f, (y0);", ".func f(.reg .v2 .b32 p) { ret; }"),
    ("needs one value here", "call f, ({x0, x1});", ".func f(.reg .b64 p) { ret; }"),
    ("needs a register of 16 bits here", "call f, (x0);", ".func f(.reg .b16 p) { ret; }"),
    ("needs a register of 32 bits here", "call (y0), f;", ".func (.reg .b32 r) f { ret; }"),
    ("an argument is a register, a constant", "call f, (!p0);", ".func f(.reg .pred p) { ret; }"),
    ("an argument is a register, a constant", "call f, (1);", ".func f(.reg .pred p) { ret; }"),
    ("an argument is a register, a constant", "call f, (f);", ".func f(.reg .b64 p) { ret; }"),
    ("needs a predicate here", "call f, (x0);", ".func f(.reg .pred p) { ret; }"),
    ("expected `)`", "call f, (x0 + 1);", ".func f(.reg .b32 p) { ret; }"),
    ("either takes a vector apart or puts one together, not both", ".reg .v2 .b32 v, w; mov.b64 v, w;"),
    ("either takes a vector apart or puts one together, not both", "mov.b64 {x0, x1}, {x2, x3};"),
    ("cannot take vectors apart", ".reg .v2 .u32 v; mov.u64 v, y0;"),
    ("`v` is a vector of 2 registers", ".reg .v2 .b32 v; xor.b64 y0, v, y1;"),
    ("`v` is a vector of 2 registers", ".reg .v2 .b32 v; st.b64 [o], v;"),
    ("a destination is a plain register", "mov.u32 x0+1, x1;"),
    ("to which no constant can be added", ".reg .f32 f; add.f32 f, f, f+1;"),
    ("to which no constant can be added", "mov.pred p0, p1+1;"),
    ("an offset must be an integer", "st.u32 [o], x0 + 1.0;"),
    ("expected `}`", "st.v2.u32 [o], {x0+1, x1};"),
    ("expected `;`", "st.u32 [o], x0 - 1;"),
    ("expected a constant", "st.u32 [o], x0 + x1;"),
    ("`;` is missing", "", ".global .u32 g\n.global .u32 h;"),
    ("expected `;`", "", ".func f(.reg .b32 p) ret;"),
    ("unknown directive", "", ".func f(.reg .b32 p) .nosuch { ret; }"),
    ("a function with several results returns them in registers", "", ".func (.param .b32 a, .param .b32 b) f { ret; }"),
    ("a vector has at most 4 elements and 128 bits", "", ".func f(.reg .v4 .b64 p) { ret; }"),
    ("a vector has at most 4 elements and 128 bits", ".reg .v2 .b128 v;"),
    ("a vector has at most 4 elements", "", ".global .v8 .b8 g;"),
    ("a vector of predicates", ".reg .v2 .pred v;"),
    ("a vector of predicates", "", ".func f(.reg .v2 .pred v) { ret; }"),
    ("an array in registers", "", ".func f(.reg .b32 p[3]) { ret; }"),
    ("a parameter cannot be .pred", "", ".func f(.param .pred p) { ret; }"),
    ("a parameter cannot be .f16x2", "", ".func f(.param .f16x2 p) { ret; }"),
    ("a parameter cannot be a vector", "", ".func f(.param .v2 .b32 p) { ret; }"),
    ("has only one dimension", "", ".func f(.param .b8 p[2][2]) { ret; }"),
    ("a parameter cannot be .texref", "", ".func f(.param .texref p) { ret; }"),
    ("`r` is a result of the function", "", ".func (.param .b32 r) f { .reg .b32 x; ld.param.b32 x, [r]; ret; }"),
    ("needs `texmode_independent`", "", ".global .samplerref s;"),
    ("a register cannot be .texref", ".reg .texref image;"),
    *((f"a register cannot be .{t}", f".reg .{t} x;") for t in ("bf16", "bf16x2", "f32x2", "u16x2", "tf32", "e4m3", "ue8m0x2", "b1", "u4")),
    *((f"a variable in memory cannot be .{t}", "", f".global .{t} x;") for t in ("pred", "bf16", "f32x2", "e5m2x4")),
]

TEXTURES = ".tex .u32 a, b; .tex .u64 c; .visible .tex .u32 d<3>;\n"
NO_TEXTURES = [
    ("no longer valid from .version 1.5", HEAD + ".tex .u32 a;"),
    ("`.texref` needs .version 1.5", OLD + ".global .texref a;"),
    ("a texture is a .u32 or a .u64", OLD + ".tex .f32 a;"),
    ("a texture is a .u32 or a .u64", OLD + ".tex .u32 a[4];"),
    ("a texture declared in a function", OLD + ".entry k() { .tex .u32 a; exit; }"),
    ("`a` is a texture, which has no address", OLD + TEXTURES + ".entry k() { .reg .u32 r; mov.u32 r, a; exit; }"),
    ("`a` is in .tex", OLD + TEXTURES + ".entry k() { .reg .u32 r; ld.global.u32 r, [a]; exit; }"),
]


def of(version, target, text):
    return f".version {version}\n.target {target}\n{text}"


NEWER = [
    ("`.weak` needs .version 3.1", of("3.0", "sm_20", ".weak .func f() { ret; }")),
    ("`.weak` needs .version 3.1", of("3.0", "sm_20", ".weak .global .u32 g;")),
    ("`.common` needs .version 5.0", of("4.3", "sm_20", ".common .global .u32 g;")),
    ("`.alias` needs .version 6.3", of("6.2", "sm_30", ".func f() { ret; } .func g(); .alias g, f;")),
]


def kernel(row):
    body, before = (*row[1:], "")[:2]
    return KERNEL % (before, body)


def operands_mean_what_an_h200_makes_of_them():
    for row in MEANS:
        with written(kernel(row)) as path:
            got = values(by_both(path, "--grid", 1, "--block", 1, "u32[8]+print"), 1)
        assert got == row[0] + [0] * (8 - len(row[0])), f"{got}, not {row[0]}:\n{kernel(row)}"


def what_is_taken_prints_and_reads_back():
    for row in MEANS:
        with written(kernel(row)) as path:
            status, once, err = run("ptx", "--print", path)
        assert status == 0, err
        with written(once) as path:
            assert run("ptx", "--print", path)[1] == once, once


def what_is_no_signature_and_no_operand_is_refused():
    for row in REFUSED:
        with written(kernel(row)) as path:
            status, out, err = run("ptx", path)
        assert status == 1 and row[0] in err, f"{row[0]}:\n{kernel(row)}\n{out}{err}"


def declarations_that_are_newer_than_the_module_are_refused():
    for said, text in NEWER:
        with written(text) as path:
            status, out, err = run("ptx", path)
        assert status == 1 and said in err, f"{said}:\n{text}\n{out}{err}"


def textures_of_old_modules_are_read_and_one_that_is_not_bound_is_a_fault():
    with written(OLD + TEXTURES + ".entry k(.param .u64 out) { .reg .u64 o; ld.param.u64 o, [out]; st.global.u32 [o], 7; exit; }") as path:
        assert values(by_both(path, "--grid", 1, "--block", 1, "u32[1]+print"), 1) == [7]
    use = ".entry k() { .reg .f32 f<4>; .reg .s32 r; tex.1d.v4.f32.s32 {f0, f1, f2, f3}, [a, {r}]; exit; }"
    with written(OLD + TEXTURES + use) as path:
        assert run("ptx", path)[0] == 0
        status, out, err = run("launch", path, "--grid", 1, "--block", 1)
        assert status != 0 and "texture reference to which nothing is bound" in err, err
    for said, text in NO_TEXTURES:
        with written(text) as path:
            status, out, err = run("ptx", path)
        assert status == 1 and said in err, f"{said}:\n{text}\n{out}{err}"


# PTX before 3.0: registers of the module, which each thread has for as long as it runs.
OUTSIDE = """.version 2.2
.target sm_20
.reg .u32 a, r<3>; .reg .pred p; .reg .v2 .u16 v; .reg .u64 wide;
.func set(.reg .u32 x) { setp.gt.u32 p, x, 7; add.u32 r1, x, 1; @p mov.u32 r2, x; mov.b32 v, x; cvt.u64.u32 wide, x; ret; }
.func (.reg .u32 y) sum() { .reg .u32 h; cvt.u32.u16 h, v.x; add.u32 y, r1, h; add.u32 a, a, 1; ret; }
.func count(.reg .u32 n) { .reg .pred z; setp.eq.u32 z, n, 0; @z ret; add.u32 a, a, n; sub.u32 n, n, 1; call count, (n); ret; }
.entry kernel(.param .u64 out)
{
    .reg .u64 o, at; .reg .u32 t, k, s;
    ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 at, t, 32; add.u64 o, o, at;
    mov.u32 a, 100; mov.u32 r2, 55;
    setp.lt.u32 p, t, 32;
    @!p bra skip;
    call set, (t);
skip:
    call (s), sum;
    call count, (t);
    selp.u32 k, 1, 0, p;
    st.global.u32 [o], s; st.global.u32 [o+4], a; st.global.u32 [o+8], r2; st.global.u32 [o+12], k; st.global.u64 [o+16], wide;
    exit;
}
"""


def registers_outside_of_functions_are_the_threads():
    with written(OUTSIDE) as path:
        got = values(by_both(path, "--grid", 1, "--block", 40, "u32[320]+print"), 1)
        status, once, err = run("ptx", "--print", path)
    assert status == 0, err
    with written(once) as path:
        assert run("ptx", "--print", path)[1] == once, once
    for t in range(40):
        called = t < 32
        wanted = [2 * t + 1 if called else 0, 101 + t * (t + 1) // 2, t if called and t > 7 else 55, int(called and t > 7), t if called else 0, 0]
        assert got[8 * t:8 * t + 6] == wanted, f"thread {t}: {got[8 * t:8 * t + 6]}, not {wanted}"
    with written(OUTSIDE) as path:
        for threads, found in (32, 0), (40, 3):  # the last eight never write three of them
            out, err = run("launch", path, "--check", "--grid", 1, "--block", threads, "u32[320]")[1:]
            assert (out + err).count("[uninitialised-read") == found, out + err
    for said, text in [("from .version 3.0 on, only functions may declare registers", OUTSIDE.replace("2.2", "3.0")),
                       ("registers outside of functions", OUTSIDE.replace("r<3>", "r<5000>")),
                       ("a register cannot be .bf16", OUTSIDE.replace(".u64 wide", ".bf16 wide")),
                       ("`a` is declared twice", OUTSIDE.replace(".func set", ".global .u32 a; .func set"))]:
        with written(text) as path:
            status, out, err = run("ptx", path)
        assert status == 1 and said in err, f"{said}: {out}{err}"


def what_was_found_by_peers_gives_what_it_should():
    """As nvcc's and other assemblers' texts have them; engine by engine, and on every CPU level."""
    for level in cpu_levels("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        def launched(name, block, *args):
            done = by_both(os.path.join(HERE, name), "--grid", 1, "--block", block, "--cpu", level, *args)
            return values(done, len(args))
        assert launched("predicate_returned.ptx", 1, "u32[2]+print") == [1, 0]
        assert launched("vector_operands.ptx", 1, "u32[4]+print") == [0, 0, 100, 0]
        assert launched("register_plus.ptx", 1, "u64[1]=fill:41", "u64[1]+print") == [42]
        assert launched("prototype.ptx", 1, "s32[1]+print") == [42]


# A lane takes a lock while others of its warp try to; TRY is the body of a function that says whether it has failed, CALL how it is
# called.
LOCK = """.func (.param .b32 failed) attempt(.param .b64 lock) { .reg .u64 %l; .reg .u32 %v; .reg .pred %p; ld.param.u64 %l, [lock]; TRY }
.func (.param .b32 failed) other(.param .b64 lock)
{
    .reg .u64 %l; .reg .u32 %v; .param .b64 to; .param .b32 result;
    ld.param.u64 %l, [lock]; st.param.u64 [to], %l; call (result), attempt, (to); ld.param.u32 %v, [result];
    st.param.u32 [failed], %v;
    ret;
}
.visible .entry guarded(.param .u64 at)
{
    .reg .u64 %a, %f; .reg .u32 %r<4>; .reg .pred %p;
    ld.param.u64 %a, [at];
AGAIN:
    { .param .b64 to; .param .b32 result; st.param.u64 [to], %a; CALL ld.param.u32 %r1, [result]; }
    setp.ne.u32 %p, %r1, 0;
    @%p bra AGAIN;
    fence.acq_rel.gpu;
    ld.volatile.u32 %r2, [%a+4];
    add.u32 %r2, %r2, 1;
    st.volatile.u32 [%a+4], %r2;
    fence.acq_rel.gpu;
    atom.exch.b32 %r3, [%a], 0;
    ret;
}
"""
SWAP = "atom.cas.b32 %v, [%l], 0, 1; st.param.u32 [failed], %v; ret;"
LOOK = "ld.volatile.u32 %v, [%l]; setp.ne.u32 %p, %v, 0; @%p bra NO; atom.cas.b32 %v, [%l], 0, 1; NO: st.param.u32 [failed], %v; ret;"


def a_loop_whose_condition_a_function_finds_lets_other_lanes_go_on():
    for attempt in SWAP, LOOK:
        for call in ("call (result), attempt, (to);", "call (result), other, (to);",
                     "mov.u64 %f, other; P: .callprototype (.param .b32 _) _ (.param .b64 _); call (result), %f, (to), P;"):
            with written(HEAD + LOCK.replace("TRY", attempt).replace("CALL", call)) as path:
                for engine in "interp", "jit":  # how often each of them tries is its own
                    done = launch(path, "--grid", 2, "--block", 64, "--engine", engine, "--step-limit", 1000000,
                                  "u32[2]+print")
                    assert values(done, 1) == [0, 128], (attempt, call, engine)


# The same lock, taken behind as many calls as the last bits of the lane's number say; %r2 and the release are the kernel's.
DIVE = """.func take(.param .b64 lock)
{
    .reg .u64 %l; .reg .u32 %v; .reg .pred %p; .param .b64 to; .param .b32 result;
    ld.param.u64 %l, [lock];
AGAIN:
    st.param.u64 [to], %l; call (result), attempt, (to); ld.param.u32 %v, [result];
    setp.ne.u32 %p, %v, 0;
    @%p bra AGAIN;
    fence.acq_rel.gpu;
    ret;
}
.func dive(.param .b64 lock, .param .b32 depth)
{
    .reg .u64 %l; .reg .u32 %d; .reg .pred %p; .param .b64 to; .param .b32 deeper;
    ld.param.u64 %l, [lock]; ld.param.u32 %d, [depth];
    st.param.u64 [to], %l;
    setp.eq.u32 %p, %d, 0;
    @%p bra HERE;
    sub.u32 %d, %d, 1;
    st.param.u32 [deeper], %d;
    call dive, (to, deeper);
    ret;
HERE:
    call take, (to);
    ret;
}
.visible .entry deep(.param .u64 at)
{
    .reg .u64 %a; .reg .u32 %r<4>; .param .b64 to; .param .b32 depth;
    ld.param.u64 %a, [at]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 3;
    st.param.u64 [to], %a; st.param.u32 [depth], %r1; call dive, (to, depth);
    ld.volatile.u32 %r2, [%a+4]; add.u32 %r2, %r2, 1; st.volatile.u32 [%a+4], %r2;
    fence.acq_rel.gpu;
    atom.exch.b32 %r3, [%a], 0;
    ret;
}
"""


def a_lane_that_has_left_a_loop_goes_on_while_others_spin_at_all_depths_of_a_recursion():
    with written(HEAD + LOCK.replace("TRY", SWAP).replace("CALL", "call (result), attempt, (to);") + DIVE) as path:
        for engine in "interp", "jit":
            done = launch(path, "deep", "--grid", 2, "--block", 64, "--engine", engine, "--timeout", 60, "u32[2]+print")
            assert values(done, 1) == [0, 128], engine


main(globals())
