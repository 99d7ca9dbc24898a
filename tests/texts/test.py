"""Texts as nobody writes them: large, deep, damaged, hostile. What is measured is processor time, at two sizes."""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import families
from both import compile_each_time, need_compiler, written
from families import HEAD, kernel
from tap import SANITIZED, Skip, examples, heddle, main, run

CHECK = ["--grid", "1", "--block", "32", "u32[64]"]
RUN = CHECK + ["--engine", "interp"]
SAXPY = [f"{examples}/saxpy/saxpy.ptx", "--grid", "4", "--block", "256", "1000", "2.0", "f32[1000]=range", "f32[1000]=ones"]


class Done:
    """A run of heddle: status, out, err, seconds of processor time, peak_bytes of memory."""

    def __init__(self, *args, timeout=60, **more):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            p = subprocess.Popen(["timeout", str(timeout), heddle, *map(str, args)], stdout=out, stderr=err,
                                 stdin=subprocess.DEVNULL, **more)
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.seconds, self.peak_bytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()


# ---- time ----

def seconds(command, text):
    with written(text) as path:
        done = Done(command, path, *(RUN if command == "launch" else []))
        if command == "launch" and len(done.err) and b"name of the kernel is missing" in done.err:
            done = Done(command, path, "k", *RUN)
    assert done.status in (0, 1), (done.status, done.err[:300])
    return done.seconds


def grows_in_proportion(command, family):
    """Four times the text takes less than eight times as long; of quadratic work it would be sixteen times. A first run that is
    too short to be measured is one of a larger text."""
    n = 4000
    small, large = seconds(command, family(n)), seconds(command, family(4 * n))
    for _ in range(2):
        if large < 8 * small + 0.1:
            return
        small, large = max(small, seconds(command, family(n))), min(large, seconds(command, family(4 * n)))
    raise AssertionError(f"{family.__name__}: {n} take {small:.2f} s, {4 * n} take {large:.2f} s")


def reading_takes_time_in_proportion_to_the_text():
    for family in families.ALL:
        grows_in_proportion("ptx", family)


def launching_takes_time_in_proportion_to_the_text():
    for family in families.ALL:
        grows_in_proportion("launch", family)


def a_launch_does_not_compare_all_variables_with_each_other():
    with written(families.variables(150000)) as path:
        done = Done("launch", path, *RUN)
    assert done.status == 0 and done.seconds < 2, (done.status, done.seconds)


def printing_takes_time_in_proportion_to_the_text():
    for family in families.functions, families.variables, families.one_initialiser, families.targets, families.instructions:
        with written(family(20000)) as path:
            done = Done("ptx", "--print", path)
        assert done.status == 0 and done.seconds < 5, (family.__name__, done.seconds)


def loops_deep_in_each_other_are_refused_in_bounded_time():
    branches = ".reg .pred %p; setp.eq.u32 %p, 0, 1;\n" + "".join(f"L{i}: @%p bra L{i * 7919 % 20000};\n" for i in range(20000))
    chain = (".reg .u32 %r<20001>; .reg .u64 %a; .reg .pred %p;\nL: ld.volatile.global.u32 %r20000, [%a];\n"
             + "".join(f"mov.u32 %r{i}, %r{i + 1};\n" for i in range(20000)) + "setp.eq.u32 %p, %r0, 1;\n@%p bra L;\n")
    for body in branches, chain:
        with written(kernel(body)) as path:
            done = Done("launch", path, *RUN)
        assert done.status in (1, 0) and done.seconds < 20, done.seconds
        assert done.status == 0 or b"`k` is too large" in done.err and b"[not-supported]" in done.err, done.err[:300]


def few_words_do_not_stand_for_much_code():
    returns = f".func ({', '.join(f'.reg .u32 r{i}' for i in range(1000))}) f() {{\n{'ret;' * 50000}\n}}\n"
    many = kernel(".reg .u32 %r;\ncall (" + ", ".join(["%r"] * 1000) + "), f;\n", returns)
    tables = kernel(".reg .u32 %r; mov.u32 %r, 0;\nT: .branchtargets " + ", ".join(["L"] * 30000) + ";\nL:\n" +
                    "brx.idx %r, T;\n" * 5000)
    for text in many, tables:
        with written(text) as path:
            done = Done("launch", path, *RUN)
        assert done.status == 1 and b"is too large" in done.err, (done.status, done.err[:300])
        assert done.seconds < 20 and (SANITIZED or done.peak_bytes < 3 << 29), (done.seconds, done.peak_bytes)


def the_compiler_gives_up_what_is_too_much_for_it():
    need_compiler()
    for family in families.calls_of_the_one_before, families.labels, families.registers, families.the_same_target:
        with written(family(20000)) as path:
            done = Done("launch", path, "--engine", "jit", "--grid", 1, "--block", 32, "u32[64]", timeout=100)
        assert done.status in (0, 1), (family.__name__, done.status, done.err[:300])


# ---- depth ----

SMALL_STACK = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_STACK, (128 << 10, 128 << 10))


NESTS = {"parentheses": lambda n: f".global .u32 x[{'(' * n}1{')' * n}];\n", "signs": lambda n: f".global .u32 x[{'+' * n}1];\n",
         "choices": lambda n: f".global .u32 x[{'1?' * n}1{':1' * n}];\n",
         "choices on the right": lambda n: f".global .u32 x[{'1?1:' * n}1];\n",
         "casts": lambda n: f".global .u32 x[{'(.u64)' * n}1];\n",
         "casts of parentheses": lambda n: f".global .u32 x[{'(.u64)(' * n}1{')' * n}];\n",
         "sums in parentheses": lambda n: f".global .u32 x[{'1||1&&1|1^1&1==1<1<<1+1*(' * n}1{')' * n}];\n"}


def what_is_nested_too_deeply_is_refused_in_words_on_a_small_stack():
    for name, nest in NESTS.items():
        for n, accepted in (8, True), (100, None), (150, False), (200000, False):
            with written(HEAD + nest(n) + ".visible .entry k() { ret; }\n") as path:
                done = Done("ptx", path, preexec_fn=SMALL_STACK)
            assert done.status in (0, 1), (name, n, done.status)
            assert accepted is None or (done.status == 0) == accepted, (name, n, done.err[:300])
            assert done.status == 0 or b"nested too deeply" in done.err, (name, n, done.err[:300])


def blocks_vectors_and_lists_have_a_greatest_depth():
    for body, words in ("{" * 100000 + "}" * 100000, b"nested more than"), \
                       (".reg .u32 %r; mov.u32 %r, " + "{" * 100000 + "1" + "}" * 100000 + ";\n", b"nested too deeply"):
        with written(kernel(body)) as path:
            done = Done("ptx", path)
        assert done.status == 1 and words in done.err, done.err[:300]
    with written(HEAD + ".global .u32 x[1] = " + "{" * 200000 + "1" + "}" * 200000 + ";\n") as path:
        assert Done("ptx", path).status == 1
    with written(kernel("{" * 200 + "}" * 200 + "\n")) as path:
        assert Done("ptx", path).status == 0


def chains_of_calls_may_be_longer_than_the_stack_is_deep():
    for family in families.calls_of_the_one_before, families.calls_of_the_one_behind:
        with written(family(30000)) as path:
            done = Done("launch", path, *RUN, preexec_fn=SMALL_STACK)
        assert done.status in (0, 1), (done.status, done.err[:300])
        assert done.status == 0 or b"stack" in done.err, done.err[:300]


# ---- what is said ----

def text_of(raw, *args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.ptx")
        with open(path, "wb") as f:
            f.write(raw)
        return Done("ptx", path, *args)


GOOD = kernel("").encode()


def a_mark_of_utf_8_is_skipped_and_lines_may_end_as_elsewhere():
    for raw in b"\xef\xbb\xbf" + GOOD, GOOD.replace(b"\n", b"\r\n"), GOOD.replace(b"\n", b"\r"), GOOD + b"\0", GOOD + b"\0" * 9, \
               GOOD.rstrip():
        done = text_of(raw)
        assert done.status == 0 and b"1 kernel" in done.out, (raw[:20], done.err)
    done = text_of(b"\xef\xbb\xbf" + GOOD.replace(b"ret", b"rat"))
    assert b"k.ptx:6:1: error: unknown instruction `rat`" in done.err, done.err


def a_nul_byte_in_the_text_is_named_wherever_it_stands():
    for raw in GOOD.replace(b".visible", b"\0.visible"), GOOD.replace(b"ret", b"// \0\nret"), GOOD.replace(b"ret", b"/*\0*/ret"), \
               GOOD.replace(b".visible", b'.file 1 "a\0b"\n.visible'), GOOD.replace(b"ret", b"r\0et"), b"\0" + GOOD:
        done = text_of(raw)
        assert done.status == 1 and b"NUL byte" in done.err, (raw, done.err)
    for raw in GOOD.decode().encode("utf-16"), GOOD.decode().encode("utf-16-be"):
        done = text_of(raw)
        assert done.status == 1, done.err
    assert b"UTF-16" in text_of(GOOD.decode().encode("utf-16")).err


def messages_are_short_however_long_a_word_is():
    for raw in GOOD.replace(b"ret", b"x" * 10000000), GOOD.replace(b"ret", b"add." + b"x" * 10000000 + b" a, b, c"), \
               GOOD.replace(b"ret", b".reg .u32 " + b"a" * 10000000 + b", " + b"a" * 10000000), \
               GOOD.replace(b"ret", b"bra " + b"x " * 5000000), GOOD.replace(b"ret", b'"' + b"x" * 10000000 + b'"'):
        for form in [], ["--json"]:
            done = text_of(raw, *form)
            assert done.status == 1 and len(done.err) + len(done.out) < 10000, (raw[:200], len(done.err), len(done.out))
    done = text_of(GOOD.replace(b"ret", b"a" * 1000 + b"; foo; " + b"b" * 1000))
    assert b"... foo; " in done.err or b"; foo; " in done.err, done.err[-1500:]


HOSTILE = b"\x1b]0;owned\x07\x1b[2J\x9b2J\x7f\b\r\xc2\x9b31m\xe2\x80\xae\xe2\x80\xa8\xf3\xa0\x80\x81\xff\xfe"


def no_control_character_of_a_file_reaches_the_terminal():
    folder = tempfile.mkdtemp(suffix=HOSTILE.replace(b"/", b"").decode("utf-8", "surrogateescape"))
    path = os.path.join(folder, "k.ptx")
    texts = [GOOD.replace(b"ret", HOSTILE + b"ret"), GOOD.replace(b"ret", b'.pragma "' + HOSTILE + b'" ret'),
             GOOD.replace(b"ret", b"foo /*" + HOSTILE + b"*/ ret"), HOSTILE + GOOD,
             GOOD.replace(b".visible", b'.file 1 "' + HOSTILE + b'.cu"\n.visible').replace(
                 b"ret", b".loc 1 5 1\n.reg .u64 %a; .reg .u32 %r; mov.u64 %a, 8;\nld.global.u32 %r, [%a];\nret")]
    try:
        for raw in texts:
            with open(path, "wb") as f:
                f.write(raw)
            runs = [Done("ptx", path), Done("ptx", path, "--json")]
            assert raw is texts[-1] or runs[0].status == runs[1].status == 1
            runs += [Done(c, path, "--format", f, *CHECK) for c in ("launch", "check") for f in ("text", "json", "sarif")]
            for done in runs:
                said = done.out + done.err
                assert not re.search(rb"[\x00-\x08\x0b-\x1f]", said), said
                assert not re.search("[\x80-\x9f\u202a-\u202e\u2028\u2029\U000e0000-\U000e0fff]", said.decode("utf-8")), said
    finally:
        os.remove(path) if os.path.exists(path) else None
        os.rmdir(folder)


def a_caret_stands_below_its_character_behind_escapes():
    done = text_of(GOOD.replace(b"ret", "/*é\u202e\x1b*/ foo".encode()))
    lines = done.err.decode().splitlines()
    assert lines[1].index("foo") == lines[2].index("^"), lines


def an_error_before_the_first_instruction_has_a_place():
    for body in ".local .b8 s[4294967296];\n", "call f;\n.local .b8 s[4294967296];\n":
        with written(kernel(body, ".func f() { ret; }\n")) as path:
            done = Done("launch", path, *RUN)
        assert done.status == 1 and re.search(rb":\d+:12: error: local memory of a thread is limited to 1 GB", done.err), done.err
    with written(kernel("call f, (0);\n", ".func f(.param .b8 s[4294967296]) { ret; }\n")) as path:
        done = Done("launch", path, *RUN)
        assert done.status == 1 and b"error" in done.err, done.err
    with written(HEAD + ".visible .entry k(.param .b8 p[4294967296], .param .u64 q)\n{\nret;\n}\n") as path:
        done = Done("ptx", path)
        assert done.status == 1 and b"32764 are the most" in done.err, done.err


# ---- output ----

def a_full_disk_is_an_error_of_every_command():
    commands = [["ptx", SAXPY[0]], ["ptx", "--json", SAXPY[0]], ["ptx", "--print", SAXPY[0]], ["ptx", "--isa"],
                ["ptx", "--isa", "--json"], ["ptx", "--isa", "--markdown"], ["info"], ["info", "--json"], ["cache"], ["--help"],
                ["--version"], ["cc", "--help"], ["run", "--help"], ["launch", "--help"]]
    commands += [[c, *SAXPY, "--format", f] for c in ("launch", "check") for f in ("text", "json", "sarif")]
    for command in commands:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([heddle, *command], stdout=full, stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == 1 and b"cannot write the output" in done.stderr, (command, done)


def parts(text):
    """What a JSON text has, without its numbers and addresses."""
    def keys(value):
        if isinstance(value, dict):
            return {k: keys(v) for k, v in value.items()}
        return [keys(v) for v in value] if isinstance(value, list) else type(value)
    return keys(json.loads(text))


def json_is_whole_or_an_error():
    """One request for memory in n fails."""
    library = os.path.join(os.environ["HEDDLE_BUILD"], "tests", "fail-allocations.so")
    if SANITIZED or not os.path.exists(library):
        raise Skip("memory cannot be made to run out here")
    commands = [["launch", *SAXPY, "--engine", "interp", "--json"], ["ptx", "--json", SAXPY[0]], ["ptx", "--isa", "--json", "add"],
                ["info", "--json"], ["check", *SAXPY, "--format", "sarif"]]
    for command in commands:
        whole = parts(run(*command)[1])
        for n in [*range(3, 150, 13), 300, 700, 2000]:
            done = Done(*command, env=dict(os.environ, LD_PRELOAD=library, FAIL_EVERY=str(n)))
            assert done.status in (0, 1, 2), (command, n, done.status)
            if done.status == 0:
                assert parts(done.out) == whole, (command, n, done.out)
            else:
                assert done.out.strip() or done.err.strip(), (command, n)


def every_help_is_words():
    for command in "run", "cc", "launch", "check", "ptx", "info", "cache":
        status, out, _ = run(command, "--help")
        assert status == 0 and "(null)" not in out and out.startswith("usage: heddle " + command), out


# ---- memory ----

def memory_beyond(before, *args):
    """A run with these variables, and the memory that it takes beyond one without. (What this process has counts for both.)"""
    options = CHECK if args[0] == "check" else RUN
    with written(kernel("")) as path:
        without = Done(*args[:1], path, *args[1:], *options)
    with written(kernel("", before)) as path:
        done = Done(*args[:1], path, *args[1:], *options)
    return done, 0 if SANITIZED else done.peak_bytes - without.peak_bytes


def a_variable_costs_nothing_before_it_is_touched():
    for before in ".global .b8 x[400000000];\n", ".const .b8 x[400000000];\n", ".global .b8 x[400000000] = {1, 2};\n":
        for command in "launch", "check":
            done, bytes = memory_beyond(before, command)
            assert done.status == 0 and bytes < 50 << 20 and done.seconds < 5, (before, done.err, bytes, done.seconds)


def a_change_in_a_large_variable_is_found():
    body = ".reg .u64 %a; .reg .u32 %r; mov.u64 %a, x; mov.u32 %r, 7; st.global.u32 [%a+200000000], %r;\n"
    with written(kernel(body, ".global .u32 x[60000000] = {1, 2};\n")) as path:
        status, out, err = run("launch", path, *RUN)
    assert status == 0 and "variable x" in out and "1 of 60000000 changed" in out, out + err


def a_variable_beyond_the_machine_is_refused_by_name():
    for before in ".global .b8 x[2000000000];\n", ".global .b8 y[900000000];\n.global .b8 x[900000000];\n", \
                  ".const .b8 x[1500000000];\n", ".global .b8 x[70000000000000];\n":
        done, bytes = memory_beyond(before, "launch", "--memory", "1G")
        assert done.status == 1 and b"`x` needs" in done.err and b"[memory-limit]" in done.err, done.err
        assert b"x[" in done.err and bytes < 50 << 20, (done.err, bytes)


# ---- files ----

def with_content(content):
    return Done("launch", SAXPY[0], "--grid", 4, "--block", 256, 1000, 2.0, content, "f32[1000]=ones", timeout=30)


def devices_give_what_is_asked_for_and_no_more():
    assert with_content("f32[1000]=@/dev/zero").status == 0
    assert with_content("f32[1000]=@/dev/urandom").status == 0
    for content in "f32[]=@/dev/zero", "f32[]=@/dev/urandom", "@/dev/zero":
        done = with_content(content)
        assert done.status == 2 and b"it has more than" in done.err, done.err
    assert b"is empty" in with_content("f32[1000]=@/dev/null").err
    assert b"Is a directory" in with_content("f32[1000]=@/tmp").err
    assert b"it has more than" in Done("ptx", "/dev/zero").err


def a_file_larger_than_memory_is_not_read():
    with tempfile.NamedTemporaryFile() as f:
        os.truncate(f.name, 1 << 43)
        for done in with_content(f"f32[1000]=@{f.name}"), with_content(f"f32[]=@{f.name}"), Done("ptx", f.name):
            assert done.status == 2 and b"too large" in done.err, done.err


def a_pipe_is_read_to_its_end_and_waiting_for_one_can_be_interrupted():
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        writer = subprocess.Popen(["dd", "if=/dev/zero", f"of={pipe}", "bs=4000", "count=1"], stderr=subprocess.DEVNULL)
        assert with_content(f"f32[1000]=@{pipe}").status == 0
        writer.wait()
        done = subprocess.run(["timeout", "-s", "INT", "-k", "20", "0.5", heddle, "launch", SAXPY[0], "--grid", "4", "--block", "256",
                               "1000", "2.0", f"f32[1000]=@{pipe}", "f32[1000]"], capture_output=True, timeout=60)
        assert done.returncode == 124, done


compile_each_time()
main(globals())
