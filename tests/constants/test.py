"""Constant expressions (PTX ISA 4.5) and initialisers (5.4.4): values that ptxas 13.0 writes into a cubin, and what it refuses."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import written
from tap import launch, main, run, values

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"

# Integers have 64 bits, signed or not. ~ and % are unsigned, counts of shifts are taken modulo 64, casts bind like -.
EXPRESSIONS = [
    ("7 % -3", 0x7), ("(-7) % 3", 0x0), ("(-7) % (-3)", 0xfffffffffffffff9), ("7 % 64 - 8 >> 1", 0x7fffffffffffffff),
    ("5 >> 64", 0x5), ("-5 >> 65", 0xfffffffffffffffd), ("5U >> 64", 0x5), ("1 << 64", 0x1),
    ("1 << (0 - 1)", 0x8000000000000000), ("~0 >> 4", 0xfffffffffffffff), ("~5 / 2", 0x7ffffffffffffffd), ("~5 < 0", 0x0),
    ("~0 - 1 >> 1", 0x7fffffffffffffff), ("(-1 & -1) >> 4", 0xffffffffffffffff), ("(.s64) 0xffffffffffffffff / 2", 0x0),
    ("(.u64) -4 / 2", 0x7ffffffffffffffe), ("-(.u64) 4 / 2", 0x7ffffffffffffffe),
    ("(.s64) (.u64) -4 / 2", 0xfffffffffffffffe), ("-4 / (.u64) 2", 0x7ffffffffffffffe), ("-8 / 3U", 0x5555555555555552),
    ("-7 / 2", 0xfffffffffffffffd), ("-7 >> 1", 0xfffffffffffffffc), ("1 << 63 >> 63", 0xffffffffffffffff),
    ("1U << 63 >> 63", 0x1), ("-1 > 0U", 0x1), ("0U - 1 > 0", 0x1), ("1 ? -1 : 3U", 0xffffffffffffffff),
    ("(1 ? -1 : 0U) >> 1", 0xffffffffffffffff), ("!!5", 0x1), ("- - 5", 0x5), ("2 + 3 * 4", 0xe), ("1 | 2 ^ 3 & 4", 0x3),
    ("1 << 2 == 1", 0x0), ("10 - 3 - 2", 0x5), ("100 / 10 / 5", 0x2), ("1 ? 0 ? 5 : 6 : 7", 0x6), ("0 ? 1 : 0 ? 2 : 3", 0x3),
    ("1 < 2 < 3", 0x1), ("3 > 2 > 1", 0x0), ("6 ^ 3 | 8 & 12", 0xd), ("1 << 2 + 1", 0x8),
    ("1U - 2 >> 1", 0x7fffffffffffffff), ("1 - 2 >> 1", 0xffffffffffffffff), ("0x7fffffffffffffff + 1 > 0", 0x0),
    ("9223372036854775808 >> 4", 0x800000000000000), ("-9223372036854775808 / -1", 0x0), ("WARP_SZ >> 1", 0x10),
    ("5 && 2", 0x1), ("5 || 0", 0x1), ("017 + 0b101 + 0x1F", 0x33),
]

# (declarations, their bytes in hexadecimal)
INITIALISED = [
    (".u8 v = 256;", "00"), (".s8 v = -129;", "7f"), (".u16 v = -1;", "ffff"), (".u32 v = 4294967296;", "00000000"),
    (".b32 v = 1.0;", "0000803f"), (".f32 v = 0d3FF0000000000000;", "0000803f"), (".f32 v = -1.0;", "000080bf"),
    (".f64 v = 0f3F800000;", "0000803f00000000"), (".b64 v = 0f3F800000;", "0000803f00000000"), (".b64 v = 1.0;", "000000000000f03f"),
    (".b128 v = 5;", "05" + 15 * "00"), (".b128 v[2] = {5, 6};", "05" + 15 * "00" + "06" + 15 * "00"),
    (".v4 .u8 v = {1, 2, 3, 4};", "01020304"), (".v2 .u8 v[2] = {{1, 2}, {3, 4}};", "01020304"), (".v2 .u8 v[2] = {{1, 2}};", "01020000"),
    (".u8 v[4] = {1};", "01000000"), (".u8 v[2] = {};", "0000"), (".u8 v[] = {1, 2, 3};", "010203"),
    (".u8 v[3][2] = {{1, 2}, {3}};", "010203000000"), (".u8 v[][2] = {{1, 2}, {3}};", "01020300"),
    (".u8 v[2][3] = {{1, 2}, {3}};", "010203000000"), (".u8 v[][2] = {{1}, {3}};", "01030000"),
    (".u8 v[2][2][2] = {{{1, 2}}, {{4}}};", "0102040000000000"),
]
# (what is said, a declaration)
REFUSED = [
    ("an array and a vector have their values in braces", ".u8 v[4] = 1;"),
    ("it has one value, without braces", ".u8 v = {1};"),
    ("expected `{`", ".u8 v[2][3] = {1, 2, 3, 4};"),
    ("expected `{`", ".v2 .u8 v[2] = {1, 2, 3, 4};"),
    ("expected `{`", ".u8 v[2][2] = {{1, 2}, 3};"),
    ("too many braces: an element of `v` is one value", ".u8 v[2] = {{1}, {2}};"),
    ("a vector has 4 values", ".v4 .u8 v = {1, 2};"),
    ("a vector has 2 values", ".v2 .u8 v[2] = {{1}, {2, 3}};"),
    ("more values than `v` has", ".u8 v[2] = {1, 2, 3};"),
    ("more values than `v` has", ".u8 v[2][3] = {{1, 2, 3, 4}, {5}};"),
    ("more values than `v` has", ".u8 v[2][2] = {{1, 2}, {3, 4}, {5, 6}};"),
    ("a value is missing after `,`", ".u8 v[2] = {1,};"),
    ("expected `}` after the last value", ".u8 v[2] = {1 2};"),
    ("`v` is larger than any memory", ".u8 v[][70368744177664] = {{1}, {}};"),
    ("`v` is larger than any memory", ".u8 v[][70368744177664][70368744177664] = {{{1}}};"),
    (".f16 cannot be initialised", ".f16 v = 1.0;"),
    (".bf16 cannot be initialised", ".bf16 v = 1;"),
    ("a floating-point constant cannot initialise .u32", ".u32 v = 1.5;"),
    ("a cast to .u64 needs an integer", ".u64 v = (.u64) 2.5;"),
    ("an address cannot initialise .u8", ".u8 v = other;"),
    ("an address cannot initialise .u16", ".u16 v = other;"),
    ("an address cannot initialise .f64", ".f64 v = other;"),
    ("the mask must be 0xff", ".u8 v = 0xF0(other);"),
]


def bytes_of(declarations):
    """The bytes of v, as a kernel reads them."""
    n = len(declarations[1]) // 2
    reads = "".join(f"ld.global.u8 x, [v+{i}]; st.global.u8 [o+{i}], x;" for i in range(n))
    with written(HEAD + ".global " + declarations[0] + ".visible .entry kernel(.param .u64 out) { .reg .b64 o; .reg .b32 x; "
                 "ld.param.u64 o, [out];" + reads + "ret; }") as path:
        return bytes(values(launch(path, "--grid", 1, "--block", 1, f"u8[{n}]+print"), 1)).hex()


def expressions_have_the_values_of_ptxas():
    text = HEAD + "".join(f".global .u64 v{i} = {e};\n" for i, (e, _) in enumerate(EXPRESSIONS)) + ".visible .entry kernel() { ret; }\n"
    with written(text) as path:
        status, out, err = run("ptx", "--print", path)
    assert status == 0, err
    got = [int(v) for v in re.findall(r"v\d+ = (\d+);", out)]
    for (expression, value), is_now in zip(EXPRESSIONS, got, strict=True):
        assert is_now == value, f"{expression} is {is_now:#x}, not {value:#x}"


def variables_begin_with_the_bytes_of_ptxas():
    for row in INITIALISED:
        assert bytes_of(row) == row[1], f"{row[0]} is {bytes_of(row)}, not {row[1]}"


def what_is_no_initialiser_is_refused():
    for words, declaration in REFUSED:
        with written(HEAD + ".global .u32 other; .global " + declaration) as path:
            status, out, err = run("ptx", path)
        assert status == 1 and words in err, f"{declaration}\n{out}{err}"


def values_behind_an_incomplete_list_are_warned_of():
    with written(HEAD + ".global .u32 v[2][2] = {{1}, {3, 4}};") as path:
        status, out, err = run("ptx", path)
    assert status == 0 and "this list has too few values" in err, out + err


main(globals())
