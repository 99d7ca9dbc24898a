"""The kernels' printf, by both engines, beside the C library's."""
import ctypes
import json
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import HEAD, need_compiler, without_addresses, written
from tap import SANITIZED, heddle, launch, main, need_loadable_libraries, run, values

libc = ctypes.CDLL(None)
LIMIT = 64 << 20  # what a launch may print where nobody says


def lay_out(args):
    """Arguments as nvcc lays them out: int, 4 bytes; "long", 8; float; bytes, a string."""
    words, at = [], 0
    for kind, value in args:
        size = 4 if kind == "int" else 8
        at = (at + size - 1) // size * size
        words.append((at, kind, value))
        at += size
    return words, at


def call(name, words, strings):
    """A call of vprintf with these arguments."""
    text = []
    for at, kind, value in words:
        if kind == "int":
            text.append(f"st.local.u32 [%rd1+{at}], {value & 0xffffffff};")
        elif kind == "str":
            strings.append(value)
            text.append(f"mov.u64 %rd2, {name}_{len(strings)}; cvta.global.u64 %rd2, %rd2; st.local.u64 [%rd1+{at}], %rd2;")
        else:
            bits = struct.unpack("<Q", struct.pack("<d", value))[0] if kind == "double" else value & (2**64 - 1)
            text.append(f"mov.u64 %rd2, {bits}; st.local.u64 [%rd1+{at}], %rd2;")
    return "\n".join(text) + f"""
    mov.u64 %rd2, {name}; cvta.global.u64 %rd2, %rd2;
    {{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd2; st.param.b64 [a], %rd3;
      call.uni (r), vprintf, (f, a); ld.param.u32 %r1, [r]; }}
    st.global.u32 [%rd4], %r1; add.u64 %rd4, %rd4, 4;
"""


def bytes_of(name, value):
    return f".global .align 1 .b8 {name}[{len(value) + 1}] = {{{', '.join(map(str, value + bytes(1)))}}};\n"


def module(calls, around=("", "")):
    """A kernel that makes these calls, each a format and its arguments; what they return goes to its parameter."""
    variables, body = "", ""
    for i, (form, args) in enumerate(calls):
        strings, words = [], lay_out(args)[0]
        body += call(f"format{i}", words, strings)
        variables += bytes_of(f"format{i}", form)
        variables += "".join(bytes_of(f"format{i}_{n + 1}", s) for n, s in enumerate(strings))
    return f"""{HEAD}.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
{variables}
.visible .entry print(.param .u64 counts)
{{
    .local .align 8 .b8 list[512];
    .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .pred %p<2>;
    ld.param.u64 %rd4, [counts];
    mov.u64 %rd1, list;
    cvta.local.u64 %rd3, %rd1;
    {around[0]}
{body}
    {around[1]}
    ret;
}}
"""


def printed(calls, *options, around=("", ""), status=0):
    """What both engines print, as bytes, and what they say on stderr."""
    need_compiler()
    answers = []
    with written(module(calls, around)) as path:
        for engine in "interp", "jit":
            words = [heddle, "launch", path, "--grid", 1, "--block", 1, f"u32[{len(calls)}]+hide", "--engine", engine, *options]
            done = subprocess.run(list(map(str, words)), capture_output=True, timeout=60)
            assert done.returncode == status, done
            end = b"no buffer was changed\nprint: 1 block"
            out = done.stdout[: done.stdout.rfind(end)] if end in done.stdout else done.stdout
            answers.append((out, without_addresses(done.stderr.decode())))
    assert answers[0] == answers[1], answers
    return answers[0]


def by_libc(form, args):
    """What the C library prints."""
    values = [{"int": ctypes.c_int, "long": ctypes.c_long, "double": ctypes.c_double, "str": ctypes.c_char_p}[k](v) for k, v in args]
    buffer = ctypes.create_string_buffer(8192)
    n = libc.snprintf(buffer, ctypes.c_size_t(len(buffer)), form, *values)
    assert 0 <= n < len(buffer), form
    return buffer.raw[:n]


def agree(calls):
    """Each call prints what the C library does, and returns the number of its arguments."""
    out, _ = printed([(form + b"\x01", args) for form, args in calls])
    for (form, args), ours in zip(calls, out.split(b"\x01")):
        assert ours == by_libc(form, args), (form, args, ours, by_libc(form, args))
    with written(module(calls)) as path:
        counts = values(launch(path, "--grid", 1, "--block", 1, f"u32[{len(calls)}]+print"), 1)
    assert counts == [len(args) for _, args in calls]


def random_call(r):
    """A conversion with any flags, width and precision, and an argument of its type."""
    kind = r.choice(["int", "int", "long", "double", "double", "str", "char", "pointer"])
    flags = "".join(c for c in "-+ #0" if r.random() < 0.25)
    args = []

    def number(least):
        if r.random() < 0.2:
            args.append(("int", r.randrange(least, 40)))
            return "*"
        return str(r.randrange(0, 40))

    width = number(-40) if r.random() < 0.6 else ""
    has_precision = r.random() < 0.5 and kind not in ("char", "pointer")
    precision = "." + (number(-3) if r.random() < 0.9 else "") if has_precision else ""
    if kind in ("char", "pointer", "str"):
        flags = "-" if "-" in flags else ""
    if kind in ("int", "long"):
        size = {"int": r.choice(["", "h", "hh"]), "long": r.choice(["l", "ll", "z", "j", "t"])}[kind]
        conversion = r.choice("diuoxX")
        if conversion in "diu":
            flags = flags.replace("#", "")
        if conversion in "uoxX":
            flags = flags.replace("+", "").replace(" ", "")
        args.append((kind, r.choice([0, 1, -1, 7, 2**31 - 1, -2**31, r.getrandbits(31)] + ([] if kind == "int" else [2**63 - 1, -2**63]))))
    elif kind == "double":
        size, conversion = "", r.choice("fFeEgGaA")
        args.append((kind, r.choice([0.0, -0.0, 1.0, 0.1, 1e300, 1e-300, 5e-324, float("inf"), float("-inf"), float("nan"), r.gauss(0, 1e3)])))
    elif kind == "str":
        size, conversion = "", "s"
        args.append((kind, r.choice([b"", b"x", b"heddle and warp"])))
    else:
        size, conversion = "", "c" if kind == "char" else "p"
        args.append(("int", 65) if kind == "char" else ("long", r.choice([0, 16, 2**47])))
    return f"<%{flags}{width}{precision}{size}{conversion}>".encode(), args


def conversions_print_what_the_c_library_prints():
    r = random.Random(5)
    calls = [[random_call(r) for _ in range(6)] for _ in range(100)]
    agree([(b"".join(form for form, _ in some), [a for _, args in some for a in args]) for some in calls])


def several_arguments_of_several_sizes_are_found():
    agree([(b"%d %s %c %f %lld %% %-*d|%x", [("int", -3), ("str", b"text"), ("int", 99), ("double", 2.5), ("long", 2**40), ("int", 5), ("int", 7), ("int", 255)]),
           (b"no argument", []), (b"100%%", [])])


def a_precision_behind_all_digits_prints_zeros():
    numbers = 1.5, -5e-324, 1.7e308, 1e22, 0.0, float("inf")
    agree([(form, [("double", d)]) for form in (b"%.3000f", b"%.3000e", b"%.1500g", b"%#.3000G", b"%.2000a", b"%+03500.2000A") for d in numbers])


def times(n):
    """Makes the calls n times, %r5 counting them."""
    return ("mov.u32 %r5, 0;\nAGAIN:", f"""ld.param.u64 %rd4, [counts];
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, {n};
    @%p1 bra AGAIN;""")


def lost(err):
    """What a note says of calls, of all calls, and of bytes; None: nothing was lost."""
    found = re.search(r"heddle: note: (\d+) of (\d+) calls of printf in kernel `print` were lost with (\d+) bytes of text: .*"
                      r"cudaLimitPrintfFifoSize.*--printf.*HD_LIMIT_PRINT_BYTES\n", err)
    return tuple(map(int, found.groups())) if found else None


def widths_and_precisions_beyond_any_buffer_print_what_they_ask_for():
    calls = [(b"%900d|", [("int", 1)]), (b"%700c|", [("int", 65)]), (b"%-700p|", [("long", 4096)]), (b"%.900x|", [("int", 1)]),
             (b"%*.*i|", [("int", -2000), ("int", 600), ("int", -5)]), (b"%700s|", [("str", b"x")]), (b"%0700f|", [("double", -2.5)])]
    agree([(form, args) for form, args in calls])


def text_that_a_launch_may_not_print_is_lost_by_calls_and_said():
    widest, most = 2147483647, [("int", 2147483647)]
    for form, args, length in ((b"%2147483647d", [("int", 1)], widest), (b"%-2147483647c", [("int", 1)], widest),
                               (b"%.2147483647u", [("int", 1)], widest), (b"%.2147483647f", [("double", 1.0)], widest + 2),
                               (b"%.2147483647e", [("double", 1.0)], widest + 6), (b"%2147483647s", [("str", b"a")], widest),
                               (b"%99999999999999999999p", [("long", 1)], widest), (b"%*d", most + [("int", 1)], widest),
                               (b"%*d", [("int", -2147483648), ("int", 1)], widest + 1), (b"%.*x", most + [("int", 1)], widest)):
        out, err = printed([(b"before\n", []), (form, args), (b"behind\n", [])])
        assert out == b"before\nbehind\n" and lost(err) == (1, 3, length), (form, out[:80], err)


def a_limit_holds_for_all_that_a_launch_prints():
    line = [(b"line %6d\n", [("int", 7)])]
    long_line, length = [(b"%1000000d\n", [("int", 7)])], 1000001
    out, err = printed(long_line, around=times(80))
    assert len(out) == LIMIT // length * length and lost(err) == (80 - LIMIT // length, 80, length * (80 - LIMIT // length)), err
    for options, limit in (("--printf", "2K"), 2048), (("--printf", 11), 0):
        n = limit // 12 + 100
        out, err = printed(line, *options, around=times(n))
        assert out == b"line      7\n" * (limit // 12) and lost(err) == (n - limit // 12, n, 12 * (n - limit // 12)), err
    out, err = printed(line, "--printf", "16M", around=times(1000000))
    assert len(out) == 12000000 and not err


def each_launch_has_the_limit_anew():
    out, err = printed([(b"12345678", [])], "--printf", 8, "--repeat", 3)
    assert out.startswith(b"12345678" * 3) and not err, (out, err)


def a_kernel_that_prints_for_ever_is_stopped_with_little_memory():
    with written(module([(b"%100d for ever\n", [("int", 1)])], times(2**32 - 1))) as path:
        for engine in "interp", "jit":
            words = [heddle, "launch", path, "--grid", "1", "--block", "32", "u32[1]+hide", "--engine", engine, "--step-limit", "1000000"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            done = subprocess.run(words, capture_output=True, timeout=60)
            assert done.returncode == 1 and b"[step-limit]" in done.stderr and lost(done.stderr.decode()), done.stderr
            assert len(done.stdout) <= LIMIT and done.stdout.count(b"for ever\n") > 70000
            assert SANITIZED or resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before < 100 << 10  # in KB


def json_says_what_was_lost_and_takes_any_bytes():
    with written(module([(b"a%cb\n", [("int", 200)]), (b"%1000d", [("int", 1)])])) as path:
        result = launch(path, "--grid", 1, "--block", 1, "u32[2]", "--printf", 100)
    assert result["output"] == "a\ufffdb\n" and result["stats"]["lost_print_bytes"] == 1000


def what_is_no_conversion_is_printed_as_it_is():
    out, _ = printed([(b"[%y %-5.3hhk %q 100%", []), (b"] [%] %", []), (b"[%*y]", [("int", 5)]), (b"%", []), (b"[%5%] [%n]", [("long", 1)])])
    assert out == b"[%y %-5.3hhk %q 100%] [%] %[%*y]%[%] []", out


def more_than_32_arguments_are_not_taken():
    """CUDA C++ Programming Guide 10.35.2."""
    form = b"".join(b"%d," for _ in range(34))
    out, _ = printed([(form, [("int", i) for i in range(34)])])
    assert out == b"".join(b"%d," % i for i in range(32)) + b"%d,%d,", out
    with written(module([(form + b"%*d", [("int", i) for i in range(36)])])) as path:
        assert values(launch(path, "--grid", 1, "--block", 1, "u32[1]+print"), 1) == [32]


def a_missing_argument_is_what_the_kernel_left_there_or_zero():
    out, _ = printed([(b"%d %lld %d %d\n", [("int", 1)]), (b"%d %d %d %d\n", [("int", i) for i in range(4)]), (b"%d %d %d %d\n", [("int", 9)])])
    assert out == b"1 0 0 0\n0 1 2 3\n9 1 2 3\n", out


def a_precision_ends_a_string_that_has_no_end():
    """The string is the end of its buffer."""
    with written(module([(b"%.4s|%4.2s|\n", [("long", 0), ("long", 0)])]).replace(
            "mov.u64 %rd2, 0;", "add.u64 %rd2, %rd4, 0;")) as path:
        for engine in "interp", "jit":
            out = run("launch", path, "--grid", 1, "--block", 1, "u8[4]=fill:65+hide", "--engine", engine)
            assert out[0] == 0 and out[1].startswith("AAAA|  AA|\n"), out


def a_string_that_cannot_be_read_ends_the_launch_and_prints_nothing_of_its_call():
    for address in 16, 2**47 - 64, 2**63:
        out, err = printed([(b"before\n", []), (b"text: %s\n", [("long", address)])], status=1)
        assert out == b"before\n" and "[illegal-address]" in err, (out, err)


def a_string_without_end_is_lost():
    big = 100 << 10
    text = module([(b"%s", [("str", b"x")]), (b"%.10s\n", [("str", b"y" * 20)])]).replace(
        bytes_of("format0_1", b"x"), f".global .align 1 .b8 format0_1[{big + 1}] = {{{', '.join(['120'] * big)}}};\n")
    with written(text) as path:
        status, out, err = run("launch", path, "--grid", 1, "--block", 1, "u32[2]+hide")
    assert status == 0 and out.startswith("yyyyyyyyyy\n") and lost(err)[:2] == (1, 2), (status, out[:100], err)


def functions_of_the_machine_are_declared_as_they_are():
    """Whose parameters are others would be read from beside them."""
    for declaration, call in (
            (".func (.param .b32 r) vprintf(.param .b64 f)", ".param .b32 r; .param .b64 f; call (r), vprintf, (f);"),
            (".func (.param .b32 r) vprintf", ".param .b32 r; call (r), vprintf;"),
            (".func (.param .b32 r) vprintf(.param .b64 f, .param .b32 a)", ".param .b32 r; .param .b64 f; .param .b32 a; call (r), vprintf, (f, a);"),
            (".func (.param .b32 r) malloc(.param .b64 n)", ".param .b32 r; .param .b64 n; call (r), malloc, (n);"),
            (".func (.param .b64 r) malloc", ".param .b64 r; call (r), malloc;"),
            (".func free", "call free;"),
            (".func __assertfail(.param .b64 a)", ".param .b64 a; call __assertfail, (a);")):
        with written(f".extern {declaration};\n.visible .entry k()\n{{\n{{ {call} }}\nret;\n}}\n") as path:
            status, out, err = run("launch", path, "--grid", 1, "--block", 1)
        assert status == 1 and "[ptx-call]" in err and "is declared with other parameters or results" in err, (declaration, status, out, err)


def a_report_for_programs_is_neither_forged_nor_broken():
    """What strangers print is a string of JSON, or lines on stderr that no terminal obeys and no CI service takes for a command."""
    forged = b"\x1b[31mred\n::error file=x::forged\n{\"runs\": []}\n\xff end"
    shown = "kernel: \\x1b[31mred\nkernel: ::error file=x::forged\nkernel: {\"runs\": []}\nkernel: \\xff end"
    with written(module([(b"%s", [("str", forged)])])) as path:
        words = [path, "--grid", 1, "--block", 1, "u32[1]+hide"]
        for command in "launch", "check":
            status, out, err = run(command, *words, "--format", "sarif")
            assert status == 0 and json.loads(out)["version"] == "2.1.0" and err.startswith(shown), (command, out, err)
            assert "\x1b" not in out + err and err.endswith("\n"), err
            status, out, err = run(command, *words, "--json")
            assert json.loads(out)["output"].startswith("\x1b[31mred\n::error") and err == "", (command, out, err)
        with tempfile.TemporaryDirectory() as folder:
            status, out, err = run("explain", *words, "--json", "-", "-o", os.path.join(folder, "page.html"))
        assert status == 0 and json.loads(out)["version"] == 1 and err.startswith(shown + "\n"), (out, err)


def a_program_has_no_part_of_the_standard_output_that_a_report_is_written_to():
    need_loadable_libraries()
    with tempfile.TemporaryDirectory() as folder:
        status, out, err = run("explain", "--json", "-", "-o", os.path.join(folder, "page.html"), "sh", "-c", "echo '{}'")
    assert json.loads(out)["version"] == 1 and err.startswith("{}\n"), (status, out, err)


main(globals())
