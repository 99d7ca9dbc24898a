"""What PTX ISA 8.6 and later have added for sm_100, beside what the ISA's text says of it, computed here with fractions: no answers of
the hardware are recorded. And what is still refused, by its name."""
import os
import random
import struct
import sys
from fractions import Fraction

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, fault_by_both, written
from tap import launch, main, run, values

HEAD = ".version 8.8\n.target sm_100a\n.address_size 64\n"
THREADS = 256
NAN = 0x7fffffff

# ---- the reference ----


def bits_of(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f32_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xffffffff))[0]


def f16_of(bits):
    return struct.unpack("<e", struct.pack("<H", bits & 0xffff))[0]


def bf16_of(bits):
    return f32_of((bits & 0xffff) << 16)


def is_negative(x):
    return struct.pack(">d", x)[0] >> 7 == 1


def rounded(x, mode, ftz=False):
    """A fraction that is not 0 as f32. With ftz what is below 2^-126 after rounding without a least exponent is 0."""
    negative, x = x < 0, abs(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    e -= Fraction(2) ** e > x
    up = {"rn": None, "rz": False, "rm": negative, "rp": not negative}[mode]

    def steps(e):
        q = x / Fraction(2) ** (e - 23)
        n = q.numerator // q.denominator
        rest = q - n
        return n + (rest > 0 and (up if up is not None else rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2)))

    sign = negative << 31
    if ftz and steps(e) * Fraction(2) ** (e - 23) < Fraction(2) ** -126:
        return sign
    e = max(e, -126)
    bits = (e + 126 << 23) + steps(e)
    if bits >= 0x7f800000:
        bits = 0x7f7fffff if up is False else 0x7f800000
    return sign | bits


def flushed(x):
    return (-0.0 if is_negative(x) else 0.0) if abs(x) < 2.0 ** -126 else x


def fma(a, b, c, mode="rn", ftz=False, sat=False):
    """a * b + c of floats, as f32."""
    if ftz:
        a, b, c = map(flushed, (a, b, c))
    product = a * b if a in (0, float("inf"), -float("inf")) or b in (0, float("inf"), -float("inf")) or a != a or b != b else None
    special = [x for x in (a, b, c) if x != x or x in (float("inf"), -float("inf"))]
    if special or product is not None and product != product:
        total = (product if product is not None else (-1.0 if is_negative(a) != is_negative(b) else 1.0)) + c
        bits = bits_of(total) if total == total else NAN
    else:
        total = Fraction(a) * Fraction(b) + Fraction(c)
        signs = (is_negative(a) != is_negative(b), is_negative(c))
        zero = (signs[0] if signs[0] == signs[1] else mode == "rm") << 31
        bits = rounded(total, mode, ftz) if total else zero
    if sat:
        return 0 if bits == NAN or bits >> 31 else min(bits, 0x3f800000)
    return bits


def add(a, b, *how):
    return fma(a, 1.0, b, *how)


def mul(a, b, mode="rn", ftz=False):
    """A product has its own sign where it is 0."""
    if not ((a if not ftz else flushed(a)) == 0 or (b if not ftz else flushed(b)) == 0):
        return fma(a, b, -0.0 if is_negative(a) != is_negative(b) else 0.0, mode, ftz)
    return NAN if a != a or b != b or abs(a) == float("inf") or abs(b) == float("inf") else (is_negative(a) != is_negative(b)) << 31


def by_halves(f):
    def both(a, b, c):
        low, high = ([f32_of(x >> shift) for x in (a, b, c)] for shift in (0, 32))
        return f(*high) << 32 | f(*low)
    return both


class Small:
    """A float without infinity and NaN: its magnitudes by code."""

    def __init__(self, name, exponent_bits, mantissa_bits, shift):
        self.name, self.shift, self.sign = name, shift, 1 << exponent_bits + mantissa_bits
        bias = (1 << exponent_bits - 1) - 1
        self.values = []
        for code in range(self.sign):
            field, mantissa = code >> mantissa_bits, code & (1 << mantissa_bits) - 1
            significand = Fraction(mantissa, 1 << mantissa_bits) + (field > 0)
            self.values.append(significand * Fraction(2) ** (max(field, 1) - bias))

    def of(self, x, relu):
        if x != x:
            return self.sign - 1
        if relu and is_negative(x):
            return 0
        m = min(Fraction(abs(x)), self.values[-1]) if abs(x) != float("inf") else self.values[-1]
        code = min(range(self.sign), key=lambda k: (abs(self.values[k] - m), k % 2))
        return code | (self.sign if is_negative(x) else 0)

    def f16(self, code, relu):
        code &= 2 * self.sign - 1
        if relu and code & self.sign:
            return 0
        v = float(self.values[code & self.sign - 1])
        return struct.unpack("<H", struct.pack("<e", v))[0] | (0x8000 if code & self.sign else 0)


SMALL = [Small("e2m1", 2, 1, 4), Small("e2m3", 2, 3, 8), Small("e3m2", 3, 2, 8)]


def ue8m0(x, up, satfinite):
    if x != x:
        return 0xff
    x, values = abs(x), range(255)
    past = 0xfe if satfinite else 0xff
    if x == float("inf"):
        return past
    if up:
        return next((k for k in values if 2.0 ** (k - 127) >= x), past)
    return max([k for k in values if 2.0 ** (k - 127) <= x], default=0)


# ---- instructions: text, what it gives ----


def word(bits):
    return lambda a, b, c: bits(f32_of(a), f32_of(b), f32_of(c))


def mixed(of, f):
    return lambda a, b, c: f(of(a), of(b), f32_of(b), f32_of(c))


CASES = []
for mode in "rn", "rz", "rm", "rp":
    for ftz in "", ".ftz":
        how = (mode, bool(ftz))
        CASES += [
            (f"add.{mode}{ftz}.f32x2 %dd, %da, %db;", by_halves(lambda a, b, c, how=how: add(a, b, *how))),
            (f"sub.{mode}{ftz}.f32x2 %dd, %da, %db;", by_halves(lambda a, b, c, how=how: add(a, -b, *how))),
            (f"mul.{mode}{ftz}.f32x2 %dd, %da, %db;", by_halves(lambda a, b, c, how=how: mul(a, b, *how))),
            (f"fma.{mode}{ftz}.f32x2 %dd, %da, %db, %dc;", by_halves(lambda a, b, c, how=how: fma(a, b, c, *how))),
        ]
    for sat in "", ".sat":
        how = (mode, False, bool(sat))
        for t, of in ("f16", f16_of), ("bf16", bf16_of):
            CASES += [
                (f"add.{mode}{sat}.f32.{t} %rd, %ha, %rc;", mixed(of, lambda a, b, y, c, how=how: add(a, c, *how))),
                (f"sub.{mode}{sat}.f32.{t} %rd, %ha, %rc;", mixed(of, lambda a, b, y, c, how=how: add(a, -c, *how))),
                (f"fma.{mode}{sat}.f32.{t} %rd, %ha, %hb, %rc;", mixed(of, lambda a, b, y, c, how=how: fma(a, b, c, *how))),
            ]
for s in SMALL:
    for relu in "", ".relu":
        d = "%bd" if s.shift == 4 else "%hd"
        a = "%ba" if s.shift == 4 else "%ha"
        CASES += [
            (f"cvt.rn.satfinite{relu}.{s.name}x2.f32 {d}, %ra, %rb;",
             word(lambda a, b, c, s=s, relu=relu: s.of(a, bool(relu)) << s.shift | s.of(b, bool(relu)))),
            (f"cvt.rn{relu}.f16x2.{s.name}x2 %rd, {a};",
             lambda a, b, c, s=s, relu=relu: s.f16(a >> s.shift, bool(relu)) << 16 | s.f16(a, bool(relu))),
        ]
for mode in "rz", "rp":
    for satfinite in "", ".satfinite":
        how = (mode == "rp", bool(satfinite))
        CASES += [
            (f"cvt.{mode}{satfinite}.ue8m0x2.f32 %hd, %ra, %rb;", word(lambda a, b, c, how=how: ue8m0(a, *how) << 8 | ue8m0(b, *how))),
            (f"cvt.{mode}{satfinite}.ue8m0x2.bf16x2 %hd, %ra;",
             lambda a, b, c, how=how: ue8m0(bf16_of(a >> 16), *how) << 8 | ue8m0(bf16_of(a), *how)),
        ]


def bf16_of_ue8m0(code):
    return 0x7fff if code == 255 else bits_of(2.0 ** (code - 127)) >> 16


CASES.append(("cvt.rn.bf16x2.ue8m0x2 %rd, %ha;", lambda a, b, c: bf16_of_ue8m0(a >> 8 & 255) << 16 | bf16_of_ue8m0(a & 255)))


def magnitudes(f, nan):
    def of(*words):
        xs = [abs(f32_of(w)) for w in words]
        numbers = [x for x in xs if x == x]
        return NAN if not numbers or nan and len(numbers) < 3 else bits_of(f(numbers))
    return of


for name, f in ("min", min), ("max", max):
    for nan in "", ".NaN":
        CASES.append((f"{name}{nan}.abs.f32 %rd, %ra, %rb, %rc;", magnitudes(f, nan)))

# ---- operands ----

CORNERS = [0, 1, 0x007fffff, 0x00400000, 0x00400001, 0x00800000, 0x00800001, 0x3e800000, 0x3f000000, 0x3f400000, 0x3f800000, 0x3fa00000,
           0x3fc00000, 0x40000000, 0x40200000, 0x40a00000, 0x40c00000, 0x40e00000, 0x40f00000, 0x41000000, 0x41e00000, 0x42000000, 0x47000000,
           0x7e800001, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001]


def operands(seed):
    """Words of 64 bits: all patterns, corners, numbers near 1, each of its halves by itself."""
    r = random.Random(seed)

    def half():
        kind = r.randrange(4)
        x = r.getrandbits(32) if kind == 0 else r.choice(CORNERS) if kind == 1 else 0x3d000000 + r.getrandbits(27) if kind == 2 else \
            r.getrandbits(16) << 16 | r.choice(CORNERS) >> 16
        return x ^ (r.getrandbits(1) << 31)
    return [half() << 32 | half() for _ in range(THREADS)]


def array(name, words):
    return f".global .align 8 .u64 {name}[{len(words)}] = {{{', '.join(map(str, words))}}};\n"


def kernel(texts, inputs):
    lines = [HEAD, *(array(n, words) for n, words in zip("abc", inputs)), """.visible .entry k(.param .u64 out)
{
    .reg .b64 %dd, %da, %db, %dc, %out, %at; .reg .b32 %rd, %ra, %rb, %rc, %i; .reg .b16 %hd, %ha, %hb, %hc; .reg .b8 %bd, %ba;
    ld.param.u64 %out, [out];
    mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 8; add.s64 %out, %out, %at;
"""]
    for name in "abc":
        lines.append(f"mov.u64 %d{name}, {name}; add.s64 %d{name}, %d{name}, %at; ld.global.b64 %d{name}, [%d{name}];\n"
                     f"cvt.u32.u64 %r{name}, %d{name}; cvt.u16.u64 %h{name}, %d{name};\n")
    lines.append("mov.u64 %at, a; mul.wide.u32 %dd, %i, 8; add.s64 %at, %at, %dd; ld.global.b8 %ba, [%at];\n")
    for i, text in enumerate(texts):
        wide = {"%dd": "", "%rd": "cvt.u64.u32 %dd, %rd;", "%hd": "cvt.u64.u16 %dd, %hd;", "%bd": "cvt.u64.u8 %dd, %bd;"}
        lines.append(f"{text} {wide[text.split()[1].rstrip(',')]} st.global.b64 [%out+{8 * THREADS * i}], %dd;\n")
    return "".join(lines) + "ret;\n}\n"


def test_arithmetic_and_conversions_are_what_the_isa_says():
    inputs = [operands(seed) for seed in (1, 2, 3)]
    with written(kernel([text for text, _ in CASES], inputs)) as path:
        got = [*map(int, values(by_both(path, "--grid", 1, "--block", THREADS, f"u64[{len(CASES)},{THREADS}]=zeros+print"), 1))]
    for i, (text, f) in enumerate(CASES):
        for t, words in enumerate(zip(*inputs)):
            want = f(*words)
            assert got[THREADS * i + t] == want, f"{text} of {[hex(w) for w in words]}: {got[THREADS * i + t]:#x}, and not {want:#x}"


def test_a_rounding_that_is_not_named_is_to_nearest():
    pairs = [(text, text.replace(".rn", "")) for text, _ in CASES if text.startswith(("add.rn", "sub.rn", "mul.rn"))]
    inputs = [operands(seed) for seed in (4, 5, 6)]
    with written(kernel([text for pair in pairs for text in pair], inputs)) as path:
        got = values(launch(path, "--grid", 1, "--block", THREADS, f"u64[{2 * len(pairs)},{THREADS}]=zeros+print"), 1)
    for i, pair in enumerate(pairs):
        named, plain = (got[THREADS * k:THREADS * (k + 1)] for k in (2 * i, 2 * i + 1))
        assert named == plain, pair


def test_redux_of_f32_over_lanes():
    r = random.Random(7)
    warps = [[r.choice(CORNERS + [r.getrandbits(32)] * 20) ^ (r.getrandbits(1) << 31) for _ in range(32)] for _ in range(4)]
    warps += [[0x7fc00000 + lane for lane in range(32)], [0x80000000 * (lane % 2) for lane in range(32)], [0x3f800000] * 31 + [0xff800001]]
    forms = [(op, a, n) for op in ("min", "max") for a in ("", ".abs") for n in ("", ".NaN")]
    body = "".join(f"redux.sync.{op}{a}{n}.f32 %r2, %r1, -1; st.global.b32 [%rd1+{4 * 32 * len(warps) * i}], %r2;\n"
                   for i, (op, a, n) in enumerate(forms))
    text = HEAD + array("a", [w for warp in warps for w in warp]) + f""".visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out]; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r4, %r3, 32, %r4;
    mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2; mov.u64 %rd3, a; mul.wide.u32 %rd2, %r4, 8; add.s64 %rd3, %rd3, %rd2;
    ld.global.b32 %r1, [%rd3];
    {body} ret;
}}
"""
    with written(text) as path:
        got = values(by_both(path, "--grid", len(warps), "--block", 32, f"u32[{len(forms)},{len(warps)},32]=zeros+print"), 1)
    for i, (op, a, n) in enumerate(forms):
        for w, warp in enumerate(warps):
            xs = [f32_of(x & 0x7fffffff if a else x) for x in warp]
            numbers = [x for x in xs if x == x]
            best = (min if op == "min" else max)(numbers, key=lambda x: (x, not is_negative(x)), default=None)
            want = NAN if best is None or n and len(numbers) < 32 else bits_of(best)
            at = 32 * (len(warps) * i + w)
            assert got[at:at + 32] == [want] * 32, (op, a, n, w, hex(got[at]), hex(want))


COPY = HEAD + """.visible .entry k(.param .u64 p, .param .u64 q)
{
    .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 64;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd1];
    st.global.v8.b32 [%rd2], {%r9, %r8, %r7, %r6, %r5, %r4, %r3, %r2};
    ld.global.L2::evict_last.v4.u64 {%rd4, %rd5, %rd6, %rd7}, [%rd1+32];
    st.global.v4.b64 [%rd2+32], {%rd7, %rd6, %rd5, %rd4};
    ret;
}
"""


def test_loads_and_stores_of_256_bits():
    with written(COPY) as path:
        out = by_both(path, "--grid", 1, "--block", 40, "u32[40,16]=range+print", "u32[40,16]=zeros+print")
        want = [16 * t + k for t in range(40) for k in (7, 6, 5, 4, 3, 2, 1, 0, 14, 15, 12, 13, 10, 11, 8, 9)]
        assert values(out, 2) == want, values(out, 2)[:32]
        err = fault_by_both(path, "--grid", 1, "--block", 40, "u32[40,16]=range", "u32[639]=zeros")
        assert "writes 32 bytes" in err and "thread (39,0,0)" in err, err
    with written(COPY.replace("[%rd1];", "[%rd1+16];")) as path:
        assert "misaligned" in fault_by_both(path, "--grid", 1, "--block", 40, "u32[40,16]=range", "u32[640]=zeros")


def refusal(text, version="9.0", target="sm_100a"):
    """What heddle ptx says of a kernel with that instruction."""
    with written(f""".version {version}\n.target {target}\n.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b64 %rd<20>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b16 %h<9>; .reg .b8 %b<9>; .reg .pred %p<3>; .shared .align 128 .b8 tile[1024];
    {text}
    ret;
}}
""") as path:
        return run("ptx", path)


def test_older_targets_and_versions_are_told_what_it_needs():
    for text in ("add.f32x2 %rd1, %rd2, %rd3;", "fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;", "sub.rn.f32.bf16 %f1, %h1, %f2;",
                 "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1];", "min.abs.f32 %f1, %f2, %f3, %f4;"):
        assert refusal(text, target="sm_100")[0] == 0, text
        status, out, err = refusal(text, target="sm_90")
        assert status == 1 and "sm_100" in err, err
        status, out, err = refusal(text, version="8.5", target="sm_90")
        assert status == 1 and (".version 8.6" in err or ".version 8.8" in err), err
    for text in ("cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f2;", "cvt.rz.ue8m0x2.f32 %h1, %f1, %f2;", "redux.sync.min.f32 %f1, %f2, -1;"):
        assert refusal(text)[0] == 0, text
        status, out, err = refusal(text, target="sm_100")
        assert status == 1 and "sm_100a" in err, err
    for text in "cvt.rn.e2m1x2.f32 %b1, %f1, %f2;", "cvt.rn.ue8m0x2.f32 %h1, %f1, %f2;", "fma.f32x2 %rd1, %rd2, %rd3, %rd4;", \
            "add.rn.ftz.f32.f16 %f1, %h1, %f2;", "redux.sync.add.f32 %f1, %f2, -1;":
        assert refusal(text)[0] == 1, text


def test_what_is_refused_is_named():
    for target, text, name in (
            ("sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], 64;", "tensor memory (tcgen05)"),
            ("sm_120a", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
             "{%f1, %f2, %f3, %f4};", "block scaling"),
            ("sm_120a", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%f1, %f2, %f3, %f4}, "
             "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r7, {%h1, %h2}, %r8, {%h3, %h4};", "block scaling"),
            ("sm_100a", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [tile];", "8-bit elements"),
            ("sm_100a", "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [tile], {%r1};", "8-bit elements"),
            ("sm_100a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;", "stochastic rounding"),
            ("sm_100a", "cvt.rs.satfinite.e2m1x4.f32 %h1, {%f1, %f2, %f3, %f4}, %r2;", "stochastic rounding")):
        status, out, err = refusal(text, target=target)
        assert status == 0 and "cannot be launched" in err and name in err, (text, err)


main(globals())
