"""heddle debug: sessions are texts that were typed and read; what goes forward comes back to the same states."""
import ctypes.util
import glob
import lzma
import os
import pty
import random
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from printed import Beside
from tap import FULL, Folder, Skip, heddle, main, some, source

here = os.path.dirname(os.path.abspath(__file__))
folder = Folder()
TILE = "tile.ptx", "turn", "--grid", 2, "--block", 64, "f32[128]", "f32[128]=range", 128, "f32:0.5,0,0,0"
ADDS = "faults.ptx", "adds", "--grid", 2, "--block", 32, "s32[1]", "s32[1]"


def debug(args, commands, cwd=here, **more):
    """The exit status, what was printed, and what was said on stderr."""
    done = subprocess.run([heddle, "debug", *map(str, args)], input=commands, capture_output=True, text=True, cwd=cwd, timeout=120, **more)
    return done.returncode, done.stdout, done.stderr


def answers(args, commands, **more):
    """What each of the commands was answered."""
    status, out, err = debug(args, "".join(c + "\n" for c in commands), **more)
    parts = out.split("(heddle) ")[1:]
    assert len(parts) >= len(commands), (out, err)
    return [part.split("\n", 1)[1].rstrip("\n") for part in parts[: len(commands)]]


def masked(text):
    """Addresses differ from run to run, and so do times in seconds."""
    text = re.sub(r"\b0x7[0-9a-f]{11}\b", "0xADDRESS", text)
    text = re.sub(r"\b1[34]\d{13}\b", "ADDRESS", text)
    text = re.sub(r"\b\d+ bytes kept", "N bytes kept", text)
    return re.sub(r"threads, [\d.]+ .?s", "threads, TIME", text)


def session(name):
    with open(os.path.join(here, "sessions", name)) as f:
        first, expected = f.read().split("\n", 1)
    commands = re.findall(r"^(?:\(heddle\) |>)(.+)\n", expected, re.M)
    status, out, err = debug(shlex.split(first)[3:], "".join(c + "\n" for c in commands))
    assert status == 0, (status, err)
    assert masked(out) == masked(expected), f"{name}:\n{masked(out)}\n--- expected ---\n{masked(expected)}"


def each_command_does_as_in_its_session():
    names = sorted(os.listdir(os.path.join(here, "sessions")))
    assert len(names) >= 10, names
    typed = set()
    for name in names:
        session(name)
        with open(os.path.join(here, "sessions", name)) as f:
            typed |= set(re.findall(r"^(?:\(heddle\) |>)([a-z-]+)", f.read(), re.M))
    with open(os.path.join(source, "src", "cli", "debug_commands.def")) as f:
        commands = re.findall(r'^DEBUG_COMMAND\("([^"]+)", "([^"]*)"', f.read(), re.M)
    left = [name for name, alias in commands if name not in typed and alias not in typed]
    assert left == [], f"no session has {left}"


def each_form_of_a_command_is_in_a_session():
    """Each word of info, each format of print and x, each size of memory, each way to select a thread."""
    lines = set()
    for name in os.listdir(os.path.join(here, "sessions")):
        with open(os.path.join(here, "sessions", name)) as f:
            lines |= set(re.findall(r"^\(heddle\) (.+)", f.read(), re.M))
    with open(os.path.join(source, "src", "cli", "debug_commands.def")) as f:
        text = f.read()
    usage = dict(re.findall(r'DEBUG_COMMAND\("([^"]+)",[^"]*"[^"]*",[^"]*"((?:\\.|[^"\\])*)"', text))
    words, _, of_cuda = usage["info"].removeprefix("info ").partition("cuda ")
    wanted = ["info " + w.split()[0] for w in words.split("|") if w.strip()] + ["info cuda " + w for w in of_cuda.replace("|", " ").split()]
    wanted += ["cuda " + w for w in re.findall(r"\[(\w+)", usage["cuda"])]
    assert len(wanted) >= 20, wanted
    left = [w for w in wanted if not any(line.startswith(w) for line in lines)]
    left += [f"print/{f}" for f in "xduotcaf" if not any(re.match(rf"p(rint)?/{f} ", line) for line in lines)]
    left += [f"x/{f}" for f in "xduotcafsibhwg" if not any(re.match(rf"x/\d*\w?{f}", line) for line in lines)]
    assert left == [], f"no session has {left}"


def the_page_shows_real_sessions():
    with open(os.path.join(source, "docs", "DEBUG.md")) as f:
        blocks = re.findall(r"```console\n\$ (heddle debug [^\n]*)\n(.*?)```", f.read(), re.S)
    assert len(blocks) >= 2
    for command, expected in blocks:
        status, out, err = debug(shlex.split(command)[2:], "".join(c + "\n" for c in re.findall(r"^\(heddle\) (.+)\n", expected, re.M)))
        assert masked(out).rstrip() == masked(expected).rstrip(), (command, out, expected)


def the_page_finds_a_race_and_a_store_gone_wild_by_ten_commands_or_fewer():
    with open(os.path.join(source, "docs", "DEBUG.md")) as f:
        blocks = re.findall(r"```console\n\$ heddle cc ([^\n]*) (\S+)/(\w+\.cu) -o (\S+)\n\$ (heddle debug [^\n]*)\n(.*?)```", f.read(), re.S)
    assert len(blocks) == 2
    for options, of, name, ptx, command, expected in blocks:
        shutil.copy(os.path.join(source, of, name), folder.path(name))
        subprocess.run([heddle, "cc", *options.split(), name, "-o", ptx], cwd=folder.name, check=True)
        commands = re.findall(r"^\(heddle\) (.+)\n", expected, re.M)
        assert len(commands) <= 10
        status, out, err = debug(shlex.split(command)[2:], "".join(c + "\n" for c in commands), cwd=folder.name)
        assert masked(out).rstrip() == masked(expected).rstrip(), (command, out, expected)


def findings_stop_once_and_again_after_going_back():
    name = folder.write("unwritten.cu", """__global__ void unwritten(int *out, int n)
{
    __shared__ int part[32];
    int t = threadIdx.x;
    if (t < n)
        part[t] = t;
    out[t] = part[t];
    out[t + 64 * (t == 7)] = t;
}
""")
    ptx = folder.path("unwritten.ptx")
    subprocess.run([heddle, "cc", "-G", "-ptx", name, "-o", ptx], check=True)
    got = answers(["--check", ptx, "--grid", 1, "--block", 32, "s32[32]", 20],
                  ["run", "print t", "continue", "print t", "reverse-continue", "print t", "continue", "print t", "continue"], cwd=folder.name)
    assert got[0].startswith("Found (uninitialised-read): "), got[0]
    assert "unwritten.cu:7" in got[0] and got[1] == "$1 = 20", got[:2]
    assert got[2].startswith("Found (illegal-address): ") and "unwritten.cu:8" in got[2] and got[3] == "$2 = 7", got[2:4]
    assert got[4].startswith("Found (") and "unwritten.cu:7" in got[4] and got[5] == "$3 = 20", got[4:6]
    assert got[6] == got[2] and got[7] == "$4 = 7", got[6:8]
    assert "[The launch has ended]" in got[8], got[8]


def a_checked_program_stops_where_its_check_says():
    source_file = os.path.join(source, "examples", "race", "sum.cu")
    path = folder.path("sum")
    subprocess.run([heddle, "cc", "-G", source_file, "-o", path], check=True)
    got = answers(["--check", path], ["run", "print half", "reverse-step", "next"] + ["continue"] * 6)
    assert "Found (data-race): " in got[0] and "sum.cu:12: the other access: thread (16,0,0)" in got[0] and got[1] == "$1 = 16", got
    assert any("the sum is " in text for text in got[4:]), got


LATE = """#include <cstdio>
__global__ void push(int *at, int n)
{
    int old = atomicAdd(at, n);
    if (n == 3 && old != n * blockIdx.x)
        at[1] = n;
}
int main()
{
    int *at, got[2];
    cudaMalloc(&at, 8);
    for (int n = 1; n < 5; n++) {
        cudaMemset(at, 0, 8);
        push<<<8, 1>>>(at, n);
        cudaMemcpy(got, at, 8, cudaMemcpyDeviceToHost);
        printf("%d %d\\n", got[0], got[1]);
    }
}
"""


def the_command_of_a_report_stops_in_a_later_launch_that_few_schedules_make_race():
    """Blocks have to come out of turn in the third launch: each has choices of its own, by the seed and its number."""
    name, path = folder.write("late.cu", LATE), folder.path("late")
    subprocess.run([heddle, "cc", "-G", name, "-o", path], check=True)
    done = subprocess.run([heddle, "check", "--runs", "12", "./late"], capture_output=True, text=True, cwd=folder.name, timeout=120)
    command = re.search(r"stops there: heddle (debug --check --policy random:\d+ ./late)\n", done.stderr)
    assert command, done
    got = answers(command[1].split()[1:], ["run", "bt", "p n", "info time", "rs", "c"], cwd=folder.name)
    assert "Found (data-race): " in got[0] and "writes it here, too" in got[0], got
    assert got[1].startswith("#0  push at late.cu:6") and got[2] == "$1 = 3" and "Found (data-race): " in got[5], got


def schedules_of_explore_stop_at_what_they_are_of():
    """Of a PTX file; of a launch of a program, whose other launches run as they do without it."""
    lock = os.path.join(source, "examples", "race", "lock.cu")
    with open(lock) as f:
        twice = f.read().replace("    count<<<2, 1>>>(data, data + 1);", "    count<<<2, 1>>>(data, data + 1);\n" * 2)
    name = folder.write("twice.cu", twice)
    subprocess.run([heddle, "cc", "-G", name, "-o", folder.path("twice")], check=True)
    subprocess.run([heddle, "cc", "-G", "-ptx", name, "-o", folder.path("twice.ptx")], check=True)
    launch = ["twice.ptx", "--grid", "2", "--block", "1", "s32[1]", "s32[1]+outcomes"]
    for words, of in (launch, launch[:-1] + ["s32[1]"]), (["./twice", "--kernel", "count", "--launch", "2", "--observe", "2[0]"], ["./twice"]):
        made = folder.path("a place" + str(len(of)))  # its name has a space
        subprocess.run([heddle, "explore", *words[:1], "--schedules", made, *words[1:]] if of != ["./twice"] else
                       [heddle, "explore", *words, "--schedules", made], cwd=folder.name, capture_output=True, timeout=120)
        got = answers(["--check", "--policy", f"replay:{made}/finding-1.schedule", *of], ["run", "bt"], cwd=folder.name)
        assert "Found (data-race): " in got[0] and got[1] == "#0  count at twice.cu:8", got
        if of == ["./twice"]:
            asked = ["b count", "run"] + ["info cuda kernels", "info time", "c"] * 5
            got = answers(["--policy", f"replay:{made}/finding-1.schedule", *of], asked, cwd=folder.name)
            seen = {(re.search(r"launch (\d)", a)[1], "replay:" in b) for a, b in zip(got[2::3], got[3::3]) if "launch" in a}
            assert seen == {("1", False), ("2", True)}, got


def a_fault_starts_the_debugger():
    path = build_program("-lineinfo")
    done = subprocess.run([heddle, "run", "--debug-on-fault", path, "6"], input="print threadIdx.x\nbt\n", capture_output=True, text=True, timeout=120)
    assert "The kernel fails (illegal-address): " in done.stdout and "$1 = 2\n" in done.stdout and "#0  check at " in done.stdout, done
    assert done.returncode == 1, done.returncode
    done = subprocess.run([heddle, "run", "--debug-on-fault", path], input="", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "036903690369\nlast 189, cudaSuccess\n", done
    done = subprocess.run([heddle, "run", "--debug-on-fault", "--timeout", "5", path], capture_output=True, text=True)
    assert done.returncode == 2 and "leave out --timeout" in done.stderr, done


def states(args, begin, command, n):
    """The state behind each of n commands: time, registers, memory."""
    asked = list(begin)
    for _ in range(n):
        asked += [command, "info time", "info registers", "print (int[128])tile" if "tile" in args[0] else "print *(int *)$arg1"]
    got = answers(args, asked)[len(begin) :]
    assert len(got) == 4 * n
    return [(re.sub(r", of .*", "", got[i + 1]), masked(got[i + 2]), got[i + 3].split(" = ", 1)[1]) for i in range(0, 4 * n, 4)]


def steps_back_come_to_the_states_of_steps_forth():
    random.seed(1)
    for case in range(12):
        forth, back = random.choice([("step", "reverse-step"), ("stepi", "reverse-stepi"), ("next", "reverse-next")])
        base = TILE if case % 2 else ADDS
        args = base[:2] + ("--policy", random.choice(["serial", f"random:{case}"])) + base[2:]
        n = random.randrange(4, 7) if case % 2 else random.randrange(3, 6)  # until the thread ends
        start = ["break turn" if case % 2 else "break adds", "run", "delete"]
        there = states(args, start, forth, n)
        again = states(args, start + [forth] * n, back, n - 1)
        assert again == there[-2::-1], (case, forth, args, there, again)


def random_statements(rng, depth, loops=""):
    """Of a kernel with variables a and b, its thread's i, shared memory s and out; threads come to barriers together."""
    lines = []
    for _ in range(rng.randrange(2, 5)):
        kind = rng.randrange(9 if depth else 10)
        number, body = rng.randrange(1, 9), lambda: random_statements(rng, depth + 1, loops) if depth < 2 else ["b++;"]
        if kind == 0:
            lines += [f"if ((a + {number}) & 1) {{", *body(), "} else {", *body(), "}"]
        elif kind == 1 and depth < 2:
            lines += [f"for (int k{depth} = 0; k{depth} < {number % 3 + 1}; k{depth}++) {{", *body(), "}"]
        elif kind == 9:
            lines += ["s[i] = a;", "__syncthreads();", f"b += s[(i + {number}) % 32];", "__syncthreads();"]
        else:
            lines.append([f"a = a * {number} + b;", f"b ^= a >> {number};", f"atomicAdd(out + {64 + number}, a & 15);", f"a = mix(a, b + {number});",
                          f"out[32 * blockIdx.x + (i ^ {number})] = a;", f"b += in[(i + {number}) % 32];", "a -= b;"][kind % 7])
    return lines


def random_kernels(n, seed):
    rng = random.Random(seed)
    text = ["__device__ int mix(int x, int y)", "{", "int z = x ^ y << 3;", "return z + (y & 1);", "}"]
    for k in range(n):
        text += [f'extern "C" __global__ void k{k}(int *out, const int *in)', "{", "__shared__ int s[32];", "int i = threadIdx.x, a = in[i], b = blockIdx.x + 1;",
                 *random_statements(rng, 0), "out[32 * blockIdx.x + i] = a;", "out[64] = b;", "}"]
    name, ptx = folder.write("random.cu", "\n".join(text) + "\n"), folder.path("random.ptx")
    subprocess.run([heddle, "cc", "-G", "-ptx", name, "-o", ptx], check=True)
    return ptx, text


ALL = ["info time", "info registers", "info locals", "p *out@80", "p s", "info cuda lanes"]


def all_states(args, begin, commands):
    """What each of the commands was answered, and the whole state behind it."""
    got = answers(args, begin + [x for c in commands for x in [c, *ALL]], cwd=folder.name)[len(begin) :]
    return [(got[i], [re.sub(r"^\$\d+|, of .*", "", masked(x)) for x in got[i + 1 : i + 1 + len(ALL)]]) for i in range(0, len(got), 1 + len(ALL))]


def random_kernels_step_back_to_the_states_that_they_came_from():
    """n steps, n back and n again; `make check-all` asks 100 kernels."""
    count = 100 if FULL else 4
    ptx, text = random_kernels(count, 46)
    rng, steps = random.Random(1), 0
    for k in range(count):
        forth, back = rng.choice([("step", "reverse-step"), ("stepi", "reverse-stepi"), ("next", "reverse-next")])
        args = [ptx, f"k{k}", "--policy", rng.choice(["serial", f"random:{k}"]), "--grid", 2, "--block", 32, "s32[80]", "s32[32]=range"]
        begin = [f"b k{k} if blockIdx.x == {rng.randrange(2)}", "run", "delete", f"cuda lane {rng.randrange(32)}"]
        n = rng.randrange(5, 13)
        there = all_states(args, begin, [forth] * n)
        ends = [i for i, (said, state) in enumerate(there) if "ended" in said or "ended" in state[1]]
        n = ends[0] if ends else n
        if n < 2:
            continue
        again = all_states(args, begin, [forth] * n + [back] * (n - 1) + [forth] * (n - 1))
        states = [state for said, state in there[:n]]
        assert [s for _, s in again[:n]] == states, (k, forth)
        assert [s for _, s in again[n : 2 * n - 1]] == states[-2::-1], (k, back, args, again[n : 2 * n - 1], states[-2::-1])
        assert [s for _, s in again[2 * n - 1 :]] == states[1:], (k, forth, args)
        steps += n
    assert steps > 4 * count, steps


def the_last_write_is_the_last_of_all_that_watchpoints_have_seen():
    """In random kernels; `make check-all` asks 100."""
    count = 100 if FULL else 4
    ptx, text = random_kernels(count, 47)
    rng, found = random.Random(2), 0
    for k in range(count):
        last = text.index(f'extern "C" __global__ void k{k}(int *out, const int *in)')
        last = text.index("out[64] = b;", last) + 1
        args = [ptx, f"k{k}", "--policy", rng.choice(["serial", f"random:{k}"]), "--grid", 2, "--block", 32, "s32[80]", "s32[32]=range"]
        what = f"out[{rng.choice([rng.randrange(64), 64 + rng.randrange(1, 9)])}]"
        seen = answers(args, [f"b k{k}", "run", "delete", f"watch {what}", f"tbreak {last} if blockIdx.x == 1"] + ["continue"] * 3000, cwd=folder.name)[5:]
        stop = next((i for i, s in enumerate(seen) if re.match(r"(?s)(.*\n)?Breakpoint \d", s)), None)
        assert stop is not None, (k, what, args, seen[:3], [s for s in seen if s][-3:])
        asked = [f"b k{k}", "run", "delete", f"tbreak {last} if blockIdx.x == 1", "continue", f"last-write {what}"]
        answer = answers(args, asked, cwd=folder.name)[-1]
        writes = [s for s in seen[: stop + 1] if s.startswith("Watchpoint")]
        if not writes:
            assert "this launch has not written" in answer, (k, answer)
            continue
        old, new = re.search(r"Old value = (\S+)\nNew value = (\S+)", writes[-1]).groups()
        line = re.search(r"written at (\S+)", writes[-1])[1]
        assert f"at {line} (time" in answer and f"Old value = {old}\nValue now = {new}" in answer, (k, what, writes[-1], answer)
        found += 1
    assert found >= count // 4, found


def what_has_no_memory_has_no_writes():
    got = answers(TILE, ["b 31", "run", "lw n + 1", "lw v", "watch $r1", "lw nothing", "lw tile[99999999]", "lw", "lw out[0]"])
    assert got[2] == "`n + 1` is in a register, or is not a variable: writes are known of memory alone" and got[4] == got[2].replace("n + 1", "$r1"), got
    assert got[3].startswith("`v` is in a register") and got[5] == "there is no `nothing` here" and got[6].startswith("there are no 4 bytes of memory at 0x"), got
    assert got[7].startswith("the place in memory is missing") and got[8].startswith("this launch has not written out[0] so far"), got


def the_last_write_is_the_last_that_a_watchpoint_has_seen():
    args = ADDS[:2] + ("--policy", "random:5") + ADDS[2:]
    seen = answers(args, ["b adds", "run", "delete", "watch *(int *)$arg1"] + ["continue", "info time"] * 9 + ["last-write *(int *)$arg1"])
    watched, last = seen[4:-1], seen[-1]
    times = [int(re.match(r"time (\d+)", t)[1]) for t in watched[1::2]]
    assert times == sorted(times) and len(set(times)) == 9, times
    value = re.search(r"New value = (\d+)", watched[-2])[1]
    assert value == "9" and f"Value now = {value}\n" in last, (watched[-2], last)
    written = int(re.search(r"\(time (\d+)\)", last)[1])
    assert times[-2] < written < times[-1], (times, written)


def a_run_is_the_same_every_time_and_goes_to_any_time():
    args = ADDS[:2] + ("--policy", "random:9") + ADDS[2:]
    one = answers(args, ["run", "b 29", "run", "c"])
    first = answers(args, ["b 29", "run", "c", "c", "c", "info time", "goto 40", "cuda block 0 thread 7", "info registers"])
    second = answers(args, ["b 29", "run", "c", "c", "c", "rc", "rc", "goto 40", "cuda block 0 thread 7", "info registers"])
    assert masked(first[-1]) == masked(second[-1]) and first[-2] == second[-2], (first, second)
    assert "Breakpoint 1" in one[2], one


def what_cannot_be_leaves_all_as_it_is():
    asked = ["b turn", "run", "display nothing", "info display", "advance 99", "until nowhere", "info breakpoints", "info time", "p n = 4", "x/s n", "x/2s in", "info scope turn", "advance 31"]
    got = answers(TILE, asked)
    assert got[2] == "there is no `nothing` here" and got[3] == "" and got[4].endswith("nothing has run") and got[5].endswith("nothing has run"), got
    assert "\n" not in got[6] and got[8] == "an expression cannot change a value: use `set var EXPRESSION = VALUE`" and "one text at a time" in got[10], got
    assert got[9] == "there is no text at `n`" and "`info locals`" in got[11] and "tile.cu:31" in got[12], got


def both_compilers_variables_have_the_same_values():
    ptx = folder.path("tile.ptx")
    subprocess.run([heddle, "cc", "-G", "-ptx", "tile.cu", "-o", ptx], cwd=here, check=True)
    asked = ["b 31 if v > 60 && i < 64", "b sum if times == 3", "run", "info args", "print *p", "delete 2", "continue", "print v",
             "print own", "print given.n[2]", "print tile", "print in[i]", "print out[0]@3", "print sizeof(own)", "watch out[i]", "continue"]
    ours, nvccs = (answers((path,) + TILE[1:-1] + ("hex:0000003f010000000200000003000000",), asked) for path in (ptx, "tile.ptx"))
    for question, a, b in zip(asked, ours, nvccs):
        assert masked(a) == masked(b), (question, a, b)
    assert "times = 3" in ours[3] and ours[4].endswith("= {x = 0.5, n = {1, 2, 3}}"), ours


def variables_are_what_printf_prints():
    name = folder.write("shown.cu", """#include <stdio.h>
enum color { RED, GREEN = 7 };
struct item { short a; unsigned char b : 3; long c; float f[2]; };
__device__ int scale = 3;
__global__ void shown(double d, unsigned n)
{
    item it = {(short)(threadIdx.x - 5), 5, (long)n << 33, {0.25f, -1.5f}};
    color c = threadIdx.x ? GREEN : RED;
    bool even = threadIdx.x % 2 == 0;
    char letter = 'a' + threadIdx.x;
    const int *at = &scale;
    for (int i = 0; i < 2; i++) {
        it.c += i;
        printf("%d %d %ld %g %d %d %c %d %g %u %d\\n", it.a, it.b, it.c, it.f[1], (int)c, (int)even, letter, *at, d, n, i);
    }
}
""")
    ptx = folder.path("shown.ptx")
    subprocess.run([heddle, "cc", "-G", "-ptx", name, "-o", ptx], check=True)
    names = ["it.a", "it.b", "it.c", "it.f[1]", "(int)c", "(int)even", "letter", "*at", "d", "n", "i"]
    stop = ["cuda thread 3"] + [f"print {n}" for n in names]
    got = answers([ptx, "--grid", 1, "--block", 8, 2.5, 9], ["b 14", "run"] + stop + ["continue"] + stop + ["print c", "print it", "delete", "continue"], cwd=folder.name)
    printed = [line.split() for part in got for line in part.split("\n") if re.fullmatch(r"-?\d+ 5 .* [01]", line)]
    assert len(printed) == 16, got
    for k in range(2):
        start = 3 + k * (len(names) + 2)
        values = [re.sub(r"^(-?\d+) '(.*)'$", r"\2" if n == "letter" else r"\1", g.split(" = ", 1)[1])
                  for n, g in zip(names, got[start : start + len(names)])]
        assert values == printed[8 * k + 3], (k, values, printed)
    assert got[-4].endswith("= GREEN") and re.search(r"= \{a = -2, b = 5( '.*')?, c = \d+, f = \{0.25, -1.5\}\}$", got[-3]), got[-4:-2]


PROGRAMS = ["examples/race/sum.cu", "examples/race/lock.cu", "examples/explain/transpose.cu", "tests/check_program/pipeline.cu", "tests/debug/program.cu"]


def variables_of_programs_are_what_printf_prints_at_five_places():
    """Of 20 programs; by nvcc -G, too, where there is one, with `make check-all`."""
    course = sorted(glob.glob(os.path.join(source, "examples", "course", "[0-9]*.cu")), key=lambda name: "matrix_product" not in name)
    compilers = [[heddle, "cc", "-G"]] + ([["nvcc", "-G", "-arch=sm_90"]] if FULL and shutil.which("nvcc") else [])
    places = right = 0
    for program in some(1, course + [os.path.join(source, name) for name in PROGRAMS]):
        for compiler in compilers[: 1 if "14_lock" in program else None]:  # nvcc's spins for minutes
            seen = Beside(heddle, compiler, program, folder.name)
            assert seen.wrong == [] and seen.left_out == [], (program, compiler[0], seen.wrong, seen.left_out)
            places, right = places + seen.places, right + seen.right
    assert places > (75 * len(compilers) if FULL else 4) and right > 5 * places, (places, right)


KINDS = ["_Z5kindsP6float47derived6__half13__nv_bfloat164modePKi7double3", "--grid", 1, "--block", 32, "--shared", 64, "f32[128]", "hex:010000000000204007000000cd010000",
         "f16:1.5", "bf16:2.5", 3, "s32[64]=range", "hex:000000000000f03f00000000000000400000000000000840"]


def variables_of_all_kinds_are_those_of_nvcc():
    """Of 40 types: structs by value, bases, bit fields, unions, atomics, lambdas, halves, vectors, shared memory."""
    ours, nvccs = folder.path("kinds-ours.ptx"), recorded("kinds.ptx")
    subprocess.run([heddle, "cc", "-G", "-arch=sm_90", "-ptx", "kinds.cu", "-o", ours], cwd=here, check=True)
    names = ["c", "h2", "b2", "f2", "u4", "name", "big", "ubig", "*sp", "*gp@3", "ref", "rr", "v", "yes", "arr", "used", "g", "sc", "us", "c16", "nan", "dd", "lam", "lr",
             "tile", "ds", "i", "by", "h", "b", "m", "d3", "total", "counter", "table", "ds[1].w", "by.bits", "by.i", "by.id", "h2.x", "d3.y", "(int)m", "c == GREEN",
             "m == mode::fast", "/x u4", "h + 1", "*out@2", "sizeof(by)", "*&by", "total + 1", "mode::slow", "((derived *)ds)[1].flag", "lr + by.w"]
    asked = ["b use", "b generic", "b kinds.cu:58 if i == 3", "run", "p d", "p q", "p ref", "p *&v", "continue", "info args", "continue", "info args", "delete 1", "delete 2", "continue"]
    asked += ["print" + ("" if n.startswith("/") else " ") + n for n in names] + ["ptype by", "ptype m", "whatis f2", "whatis by.w", "ptype derived", "ptype nothing", "p by.size()"]
    a, b = ([masked(x) for x in answers([ptx, *KINDS], asked, cwd=here)] for ptx in (ours, nvccs))
    assert a[4].endswith("= {<base> = {id = 1}, w = 2.5, {i = 7, f = 1e-44}, bits = 13, more = 6, flag = true}"), a[4]
    left = [(q, x, y) for q, x, y in zip(asked, a, b) if x != y]
    assert left == [], left
    assert not [x for x in a[:-1] if "<the" in x or "cannot" in x], a
    assert a[-7].startswith("type = struct derived {\n    base;\n    float w;\n    union {\n        int i;\n        float f;\n    };\n"), a[-7]
    assert a[-2] == "there is no `nothing` here" and a[-1] == "functions cannot be called from here: `size` of derived", a[-2:]


def pointers_have_the_names_of_what_they_lead_to():
    """To functions, members, text; references and types without names as members; dynamic shared memory with its type. A library's calls are skipped."""
    ours, nvccs = folder.path("pointers-ours.ptx"), recorded("pointers.ptx")
    subprocess.run([heddle, "cc", "-G", "-std=c++17", "-arch=sm_90", "-ptx", "pointers.cu", "-o", ours], cwd=here, check=True)
    asked = ["b pointers.cu:25 if i > 3", "b pointers.cu:33", "run", "p i", "next", "reverse-step", "step", "delete 1", "c", "p f", "p table", "p fs", "p p.f", "p p", "p h", "p h.text",
             "p some", "p s", "p s[3] + 1", "p &h", "p f == table[0]", "ptype f", "whatis fs", "ptype h", "p *f", "info args"]
    a, b = ([re.sub(r"@?0x[0-9a-f]{12}", "0x", x) for x in answers([ptx, "--grid", 1, "--block", 8, "--shared", 64, "f64[8]", 8], asked, cwd=here)] for ptx in (ours, nvccs))
    assert a == b, [(q, x, y) for q, x, y in zip(asked, a, b) if x != y]
    values = [x.split(" = ", 1)[1] for x in a[9:19]]
    assert values == ["(float (*)(float)) 0x <twice>", "{0x <twice>, 0x <thrice>}", "{0x <twice>, 0x <twice>}", "(float (*)(float)) 0x <twice>",
                      '{a = 4, f = 0x <twice>, {i = 3, g = 4e-45}, {u = 4, v = 5}, named = {tag = "abc", low = -2}, m = {f = 0x <item::get>, d = 0}}',
                      '{ref = 0x: 4, text = 0x "text", wide = {low = 7, high = 4}}', '(@global char *) 0x "text"', "(READ | EXEC)",
                      "{0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5}", "5.5"], values
    assert a[3] == "$1 = 4" and "pointers.cu:26" in a[4] and "pointers.cu:25" in a[5] and "pointers.cu:26" in a[6], a[3:7]  # past the library's barrier
    name = folder.write("spaces.cu", """struct item { float a; int b; };
template <class T> __global__ void local(T *out)
{
    extern __shared__ __align__(16) item t[][2];
    t[threadIdx.x][1].b = threadIdx.x;
    out[threadIdx.x] = t[0][1].b;
}
template __global__ void local<int>(int *);
extern __shared__ float g[];
extern __shared__ float g[];
extern "C" { namespace ns { extern __shared__ double h[]; } }
__global__ void outside(float *out)
{
    g[threadIdx.x] = out[threadIdx.x];
    ns::h[1] = 2;
    out[1] = 1;
}
""")
    ptx = folder.path("spaces.ptx")
    subprocess.run([heddle, "cc", "-G", "-ptx", name, "-o", ptx], check=True)
    got = answers([ptx, "local<int>", "--grid", 1, "--block", 2, "--shared", 32, "s32[2]"], ["b 6", "run", "p t", "ptype t"], cwd=folder.name)
    assert got[2].endswith("= {{{a = 0, b = 0}, {a = 0, b = 0}}, {{a = 0, b = 0}, {a = 0, b = 1}}}") and got[3] == "type = item[2][2]", got
    got = answers([ptx, "outside", "--grid", 1, "--block", 2, "--shared", 16, "f32[2]=range"], ["b 16", "run", "p g", "p h", "p ns::h[1]", "info locals"], cwd=folder.name)
    assert got[2:] == ["$1 = {0, 1, 0, 2}", "$2 = {0.0078125, 2}", "$3 = 2", "There are none."], got


def members_namespaces_and_bases_are_named_as_in_the_source():
    """members.ptx.xz is what `nvcc -G -std=c++17 -arch=sm_90` makes of members.cu."""
    ours = folder.path("members-ours.ptx")
    subprocess.run([heddle, "cc", "-G", "-std=c++17", "-arch=sm_90", "-ptx", "members.cu", "-o", ours], cwd=here, check=True)
    asked = ["b sq::area", "b acc::add", "b members.cu:36 if i == 1", "run", "p total", "p hist[1] + 1", "p *this", "delete 2", "c", "p b", "p b.b", "p s.id", "p s.side", "p m", "p p", "p base", "p r", "p v4[1].z",
             "p grid3[1][0]", "p geo::in::depth", "p geo::origin", "p geo::origin.y", "p p.k == geo::pt::B", "p calls", "p limit", "p flags", "p visits", "c", "p side", "p id"]
    a, b = ([re.sub(r"(_vptr\$shape|__vptr) = 0x[0-9a-f]+", "vptr", masked(x)) for x in answers([ptx, "--grid", 1, "--block", 2, "s32[2]", "f32[8]=range", 2], asked, cwd=here)] for ptx in (ours, recorded("members.ptx")))
    left = [(q, x, y) for q, x, y in zip(asked, a, b) if x != y]
    assert left == [], left
    values = [x.split(" = ", 1)[-1] for x in a]
    assert values[4:7] == ["0", "1", "{total = 0, hist = {0, 0, 0}}"] and values[9] == "{a = 5, b = 9, c = 77}" and values[11:13] == ["1", "1.5"], values
    assert values[13:19] == ["{v = {{v = {0, 0}}, {v = {0, 7}}, {v = {0, 0}}}}", "{x = 3, y = 4, k = B}", "3", "22", "7", "{5, 6}"], values
    assert values[19:27] == ["4", "{x = 1, y = 2, k = A}", "2", "true", "1", "17", "{true, false, true}", "26"] and values[28:] == ["1.5", "1"], values


def recorded(name):
    path = folder.path(name)
    with lzma.open(os.path.join(here, name + ".xz")) as packed, open(path, "wb") as f:
        f.write(packed.read())
    return path


def kernels_of_numba_have_arrays_and_tuples():
    """blur.ptx.xz is what numba-cuda 0.30 makes of it by debug=True, opt=False: its arrays have two dimensions of (2, 32)."""
    array = [0, 0, 64, 4, "f32[64]=range", 2, 32, 128, 4]
    asked = ["b blur if threadIdx.y == 3 && blockIdx.x == 1", "run", "info args", "b 13", "c", "p x[i, k]", "p x[1, 31]", "p x[0, k] + 1", "p tile[k]", "p x[i]", "p x.shape", "p pair[1]", "p i", "p k", "p a",
             "watch out[i, k]", "c", "last-write out[i, k]", "p nothing"]
    got = answers([recorded("blur.ptx"), "--grid", "2,1", "--block", "1,32", *array[:4], "f32[64]", *array[5:], *array, "f64:2"], asked)
    assert "shape = {2, 32}" in got[2] and "a = 2" in got[2], got[2]  # its places are filled where a function begins
    values = [x.split(" = ", 1)[-1] for x in got[5:15]]
    assert values == ["35", "63", "4", "70", "the array has 2 dimensions", "{2, 32}", "2.5", "1", "3", "2"], values
    assert "Watchpoint 3: out[i, k]" in got[16] and "New value = " in got[16] and "was last written by block (1,0,0), thread (0,3,0)" in got[17], got[15:18]
    assert got[18] == "there is no `nothing` here", got[18]


def kernels_of_triton_have_lines_and_registers():
    """add.ptx.xz is what Triton 3.2 makes of `out = x + y * 2`: it writes no variables, which is said."""
    asked = ["b add if threadIdx.x == 3", "run", "info locals", "p x", "p ((float *)$arg1)[3]", "b 9", "c", "bt", "info registers r9", "p %f1 + %f2", "next", "rs", "info cuda kernels"]
    got = answers([recorded("add.ptx"), "--grid", 2, "--block", 128, "f32[256]=range", "f32[256]=range", "f32[256]", 200], asked)
    assert got[2].startswith("the code has no debugging information for variables, which Triton does not write; `info registers`"), got[2]
    assert got[3].startswith("there is no `x` here: the code has no debugging information for variables") and got[4] == "$1 = 3", got[3:5]
    assert got[7] == "#0  add at tri.py:9" and got[8] == "%r9 = 3", got[7:9]
    assert "tri.py:10" in got[10] and "tri.py:9" in got[11] and "add <<<(2,1,1),(128,1,1)>>>" in got[12], got[10:]


def templates_references_enums_and_dynamic_shared_memory_are_known():
    name = folder.write("kinds.cu", """#include <cuda_fp16.h>
template <typename T> struct vec { T x, y; __device__ T dot(const vec &o) const { return x * o.x + y * o.y; } };
enum class mode : int { slow, fast = 3 };
namespace geo { __device__ int depth = 4; }
template <int N> __global__ void kinds(vec<double> *v, __half h, mode m)
{
    extern __shared__ int dyn[];
    int arr[N][2];
    for (int i = 0; i < N; i++) { arr[i][0] = i; arr[i][1] = -i; }
    const auto &ref = v[threadIdx.x];
    dyn[threadIdx.x] = (int)ref.dot(vec<double>{1, 2});
    auto lam = [&](int k) { return 2 * k + arr[1][1]; };
    int r = lam(threadIdx.x);
    v[threadIdx.x].x = r + __half2float(h) + geo::depth + (m == mode::fast);
}
template __global__ void kinds<3>(vec<double> *, __half, mode);
""")
    ptx = folder.path("kinds.ptx")
    subprocess.run([heddle, "cc", "-G", "-std=c++17", "-ptx", name, "-o", ptx], check=True)
    asked = ["b kinds", "b 14", "run", "continue", "p arr", "p ref", "p ref.y", "p v[3]", "p h", "p m", "p geo::depth", "p (*lam.arr)[2][1]", "p r",
             "p sizeof(vec<double>)", "p ((vec<double> *)v)[1].x", "p dyn[2]", "p dyn[0]@2"]
    got = answers([ptx, "--grid", 1, "--block", 8, "--shared", 64, "f64[16]=range", "f16:0.5", 3], asked, cwd=folder.name)
    assert "kinds<3> at " in got[2] and got[3].startswith("Breakpoint 2, by 8 threads"), got[:4]
    values = [g.split(" = ", 1)[1] for g in got[4:]]
    assert values == ["{{0, 0}, {1, -1}, {2, -2}}", "{x = 0, y = 1}", "1", "{x = 6, y = 7}", "0.5", "fast", "4", "-2", "-1", "16", "2", "14", "{2, 8}"], values
    asked = ["b vec<double >::dot if x == 2", "tbreak kinds", "info breakpoints", "run", "c", "finish", "p $ + 1", "ptype vec<double >", "p dot", "p dot(1)"]
    got = answers([ptx, "--grid", 1, "--block", 8, "--shared", 64, "f64[16]=range", "f16:0.5", 3], asked, cwd=folder.name)
    assert "vec<double >::dot if x == 2" in got[2] and "(once)\tkinds" in got[2] and "vec<double>::dot at " in got[4], got
    assert got[5].endswith("Value returned is $1 = 8") and got[6] == "$2 = 9" and got[7].startswith("type = struct vec<double> {"), got
    assert got[8] == got[9] == "`dot` is a function, which cannot be called from here; `break dot` stops in it", got


CONSTANTS = """constexpr int TILE = 16;
static const float SCALE = 0.5f;
enum class mode : unsigned char { SLOW = 3, FAST = 200 };
struct sizes { static constexpr int N = 7; int x; __device__ __noinline__ int all() const { return x * N; } };
template <int N, typename T, mode M> struct buffer {
    T at[N];
    __device__ __noinline__ T get(int i) const
    {
        const T two = 2;
        return at[i] * N + two + (M == mode::SLOW);
    }
};
template <int BLOCK, bool EXACT> __global__ void constants(float *out, int n)
{
    const double d = 2.5;
    const float f = -1.25f;
    const unsigned long large = 0xffffffffffffff00ul;
    const short less = -3;
    constexpr mode m = mode::FAST;
    buffer<4, int, mode::SLOW> b = {{1, 2, 3, 4}};
    sizes s = {n};
    out[threadIdx.x] = b.get(threadIdx.x & 3) + TILE + SCALE * d + f + (float)large + less + (int)m + s.all() + BLOCK + EXACT;
}
template __global__ void constants<32, true>(float *, int);
"""


def constants_that_lie_nowhere_have_their_values():
    """Also of floats, template arguments and static members, in code that is optimised and in code that is not."""
    names = ["TILE", "SCALE", "d", "f", "large", "less", "m", "(int)m", "sizes::N", "BLOCK", "EXACT", "BLOCK * 2 + s.x"]
    values = ["16", "0.5", "2.5", "-1.25", "18446744073709551360", "-3", "FAST", "200", "7", "32", "true", "69"]
    inside = {"buffer::get": ["next", "p N", "p M", "p two", "p at[1] + N"], "sizes::all()": ["p N", "p this->N", "p sizes::N", "p x + N"]}
    values_inside = ["4", "SLOW", "2", "6", "7", "7", "7", "12"]
    name, ptx = folder.write("constants.cu", CONSTANTS), folder.path("constants.ptx")
    for options in [], ["-dopt=on"]:
        subprocess.run([heddle, "cc", "-G", *options, "-std=c++17", "-ptx", name, "-o", ptx], check=True)
        got = answers([ptx, "--grid", 1, "--block", 32, "f32[32]", 5], ["b constants.cu:22", "run", *[f"p {n}" for n in names]], cwd=folder.name)[2:]
        assert [re.sub(r"^\$\d+ = ", "", g) for g in got] == values, (options, got)
        if not options:
            asked = [command for f, names in inside.items() for command in [f"tbreak {f}", "c", *names]]
            got = [g for g in answers([ptx, "--grid", 1, "--block", 32, "f32[32]", 5], asked, cwd=folder.name) if g.startswith("$")]
            assert [re.sub(r"^\$\d+ = ", "", g) for g in got] == values_inside, got


def inlined_calls_are_calls_like_others():
    """Of heddle cc, which says in DWARF where they are; sessions/inlined.txt has nvcc's -lineinfo."""
    ptx = folder.path("inlined.ptx")
    subprocess.run([heddle, "cc", "-G", "-ptx", "inlined.cu", "-o", ptx], cwd=here, check=True)
    asked = ["b square", "run", "bt", "info locals", "info args", "up", "info args", "p a", "up", "info locals", "print a", "down", "finish", "bt", "finish",
             "b 9 if a > 900", "delete 1", "continue", "bt", "reverse-finish", "bt"]
    got = dict(enumerate(answers([ptx, "project", "--grid", 1, "--block", 32, "f32[32]", "f32[96]=range", "hex:0000003f0000803f00000040"], asked)))
    assert got[0] == "Breakpoint 1 at inlined.cu:8, in square (2 places)", got[0]
    assert got[2] == "#0  square at inlined.cu:8\n#1  dot at inlined.cu:16\n#2  project at inlined.cu:23", got[2]
    assert got[3].startswith("q = ") and "\n" not in got[3] and got[4] == "a = 5", got
    assert got[6] == "a = {x = 0, y = 1, z = 2}\nb = {x = 0.5, y = 1, z = 2}" and got[7].endswith("= {x = 0, y = 1, z = 2}"), got
    assert "project at inlined.cu:23" in got[8] and got[9].startswith("i = 0\nv = {x = 0") and got[10] == "there is no `a` here", got
    assert got[12].startswith("project at inlined.cu:23") and got[13] == "#0  project at inlined.cu:23", got
    assert got[14].startswith("the thread is in the kernel itself"), got[14]
    assert got[17].startswith("Breakpoint 2, by ") and got[18] == "#0  square at inlined.cu:9\n#1  project at inlined.cu:25", got
    assert "project at inlined.cu:25" in got[19] and got[20] == "#0  project at inlined.cu:25", got


def on_a_terminal(args, keys):
    """What a terminal shows where each of the keys is typed when the text before it stands there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(here)
        os.environ["TERM"] = "xterm"
        os.execv(heddle, [heddle, "debug", *map(str, args)])
    shown, end = b"", time.monotonic() + 60
    try:
        for before, typed in keys:
            since = len(shown)
            while before not in shown[since:]:
                assert time.monotonic() < end and select.select([terminal], [], [], 30)[0], (before, shown)
                shown += os.read(terminal, 4096)
            if typed is None:  # a progress bar would begin two seconds behind a launch's beginning
                time.sleep(2.5)
            else:
                os.write(terminal, typed)
    finally:
        os.close(terminal)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return shown.decode()


def a_terminal_completes_words_and_shows_nothing_but_the_session():
    if not ctypes.util.find_library("edit"):
        raise Skip("no libedit")
    prompt = b"(heddle) "
    shown = on_a_terminal(("inlined.ptx", "project", "--grid", 1, "--block", 32, "f32[32]", "f32[96]=range", "hex:0000003f0000803f00000040"),
                          [(prompt, b"tbr\t"), (b"eak", b"squ\t"), (b"are", b"\n"), (prompt, b"run\n"), (prompt, b"info regi\t"), (b"sters", b"r1\n"),
                           (prompt, b"p blockD\t"), (b"im", b"\x7f.x\n"), (b"= 32", None), (b"", b"help cond\t"), (b"ition", b"\n"), (b"CONDITION", b"")])
    assert "Breakpoint 1 at inlined.cu:8, in square (2 places)" in shown and "%r1 = " in shown, shown
    assert "blocks (" not in shown and "project:" not in shown, shown


def optimised_code_has_lines_and_inlined_calls():
    """heddle cc -G -dopt on: its compiler says nothing of where variables are; the debugger says that, and not something wrong."""
    ptx = folder.path("optimised.ptx")
    subprocess.run([heddle, "cc", "-G", "-dopt=on", "-ptx", "inlined.cu", "-o", ptx], cwd=here, check=True)
    got = answers([ptx, "project", "--grid", 1, "--block", 32, "f32[32]", "f32[96]=range", "hex:0000003f0000803f00000040"],
                  ["b dot", "run", "bt", "info locals", "up", "info args", "print by.z", "finish", "b square", "c", "bt", "finish"])
    assert got[2] == "#0  dot at inlined.cu:14\n#1  project at inlined.cu:23", got[2]
    assert got[3] == "r = <the compiler has removed it>" and "by = {x = 0.5, y = 1, z = 2}" in got[5] and got[6] == "$1 = 2", got
    assert got[10].startswith("#0  square at inlined.cu:8\n#1  project at inlined.cu:25") and got[11].startswith("project at inlined.cu:25"), got
    with open(ptx) as f:
        assert "__local_depot" not in f.read()


def build_program(*options):
    path = folder.path("program")
    done = subprocess.run([heddle, "cc", *options, "program.cu", "-o", path], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


def a_program_stops_in_the_kernels_that_have_breakpoints():
    path = build_program("-lineinfo")
    got = answers([path], ["break program.cu:9 if threadIdx.x == 8 && blockIdx.x == 1", "break program.cu:14", "info breakpoints", "run", "print threadIdx.x", "print blockIdx.x",
                           "info cuda kernels", "continue", "info cuda kernels", "delete", "continue", "run"])
    assert "will be set when the program's first kernel is launched" in got[0], got
    assert got[3].startswith("Breakpoint 1\n") and "fill at program.cu:" in got[3], got[3]
    assert got[4] == "$1 = 8" and got[5] == "$2 = 1", got
    assert got[6] == "* launch 1: fill <<<(2,1,1),(32,1,1)>>>", got[6]
    assert got[7].startswith("Breakpoint 2, by 4 threads of the warp\n"), got[7]
    assert got[8] == "* launch 2: check <<<(1,1,1),(4,1,1)>>>", got[8]
    assert got[10] == "036903690369\nlast 189, cudaSuccess\n[The program has ended normally]", got[10]
    assert got[11] == got[10], got[11]  # run again, without breakpoints


def lines_without_code_are_told_where_there_is_some():
    """With the first kernel, if a program was not running yet."""
    got = answers([build_program("-lineinfo")], ["b program.cu:1", "b program.cu:99", "b nowhere.cu:3", "b fil", "run", "b 99", "delete 1", "b check", "c", "disable", "c"])
    assert re.match(r"Breakpoint 1: line 1 has no code; the next line that has code is \d\nBreakpoint 2: line 99 has no code in this kernel; the last line there that has code is 10\n"
                    r"Breakpoint 4: `fil` is not a function of this kernel; did you mean `fill`\?\nBreakpoint 1\b", got[4]), got[4]
    assert got[5].endswith("the last line there that has code is 10"), got[5]
    assert "Breakpoint 6, by 4 threads" in got[8] and got[10].endswith("[The program has ended normally]"), got[8:]


def breakpoints_without_code_in_any_kernel_are_told_at_the_end():
    got = answers([build_program("-lineinfo")], ["b nowhere.cu:3 if 1", "b check", "b fill", "b nothing", "tbreak fill", "run", "delete 3", "c", "disable 2", "c"])
    assert got[9].split("[The program has ended normally]\n")[1] == (
        "Breakpoint 1 (nowhere.cu:3 if 1) was not reached: no kernel that was launched has code there\n"
        "Breakpoint 4 (nothing) was not reached: no kernel that was launched has code there"), got
    got = answers(["/bin/true"], ["b check", "run"])
    assert got[1] == "[The program has ended normally]\nNo kernel was launched, so no breakpoint was set", got


def breakpoints_stay_for_the_next_run():
    got = answers([build_program("-lineinfo")], ["break check if threadIdx.x == 2", "run", "kill", "run", "info breakpoints", "delete 1", "continue"])
    assert "thread (2,0,0)" in got[1] and got[2] == "[The program has been ended]" and got[3] == got[1], got
    assert "1 hit" in got[4] and got[6].endswith("[The program has ended normally]"), got


def breakpoints_are_numbered_and_changed_before_the_program_runs():
    """And keep conditions, commands and numbers for the next run and in a file."""
    path, saved = build_program("-G"), folder.path("saved")
    asked = ["b program.cu:fill if(threadIdx.x == 2)", "b check", "tb 9", "b nothing", "disable 4", "ignore 1 1", "condition 2 threadIdx.x > 1", "condition 8", "delete 8",
             "info b", f"save breakpoints {saved}", "run", "c", "c", "condition 2 threadIdx.x == 1", "kill", "info b", "run", "c", "p threadIdx.x", "delete 1 2-4", "c", "p $_exitcode"]
    got = answers([path], asked)
    assert got[3] == "Breakpoint 4 (nothing) will be set when the program's first kernel is launched" and got[7] == got[8] == "there is no breakpoint 8", got
    assert got[9] == ("1\tbreakpoint\tfill if (threadIdx.x == 2)\twill be set when the program starts\n2\tbreakpoint\tcheck if threadIdx.x > 1\twill be set when the program starts\n"
                      "3\tbreakpoint (once)\tline 9\twill be set when the program starts\n4\tbreakpoint (disabled)\tnothing\twill be set when the program starts"), got[9]
    assert got[11].startswith("Breakpoint 3, by 32 threads") and "Breakpoint 1\n[block (1,0,0), thread (2,0,0)" in got[12], got  # the first is ignored
    assert "Breakpoint 2, by 2 threads" in got[13] and got[16].count("\n") == 2 and "check if threadIdx.x == 1" in got[16], got
    assert got[17].startswith("Breakpoint 1\n[block (0,0,0)") and got[19] == "$1 = 2" and got[21].endswith("[The program has ended normally]"), got
    assert got[22] == "$2 = 0", got
    got = answers([path], [f"source {saved}", "info b", "delete", "info b"])
    assert got[1].split("\n")[1:] == ["2\tbreakpoint\tcheck if threadIdx.x > 1\twill be set when the program starts", "3\tbreakpoint (once)\tline 9\twill be set when the program starts",
                                      "4\tbreakpoint (disabled)\tnothing\twill be set when the program starts"], got
    assert got[3] == "There are no breakpoints or watchpoints.", got


def commands_of_the_command_line_run_first():
    path, file = build_program("-G"), folder.write("first.gdb", "# a comment\nb check if threadIdx.x == 3\nset listsize 2\n")
    done = subprocess.run([heddle, "debug", "-q", "-batch", "-x", file, "-ex", "run", "-ex", "p at[threadIdx.x]", "-ex", "d", "-ex", "c", "-ex", "c", "-ex", "p $_exitcode", "--args", path, "6"],
                          capture_output=True, text=True, timeout=120)
    assert "Breakpoint 1\n[block (0,0,0), thread (3,0,0)" in done.stdout and "$1 = 9\n" in done.stdout and done.stdout.endswith("$2 = 3\n"), done
    assert "(heddle)" not in done.stdout and "set breakpoints and" not in done.stdout and done.returncode == 3, done
    status, out, err = debug(["-x", file, "-ex", "info b", path], "list 7\n")
    assert out.split("\n")[2].startswith("1\tbreakpoint\tcheck if threadIdx.x == 3\t") and status == 0, out
    status, out, err = debug(["-x", folder.path("none"), path], "")
    assert "cannot read" in out and status == 0, out
    for options, words in (["--dap", "-ex", "run"], "are for the terminal"), (["-ex"], "needs a value"), (["--args"], "needs a program"), (["-cd", "x"], "in the folder"):
        status, out, err = debug([*options] + ([path] if len(options) > 1 else []), "")
        assert status == 2 and words in err, (options, err)


def arguments_of_the_program_are_given_to_run():
    got = answers([build_program("-G"), 6], ["run 7", "p $_exitcode", "set args 6", "run", "set args ' 6' \\7", "b check", "start", "c", "p wrong", "run 1", "kill", "run 'a", "run 1 > x"])
    assert "cudaSuccess" in got[0] and got[1] == "$1 = 0" and "cudaErrorIllegalAddress" in got[3] and got[8] == "$2 = 6", got
    assert got[9].startswith("the program is already running") and got[11] == "a quote has no end" and "cannot be redirected" in got[12], got


def of_threads_without_a_place_what_has_an_address_is_known():
    name = folder.write("fresh.cu", """enum mode { OFF, FAST = 3 };
struct pair { short a; float b; };
__device__ pair counts[2];
__global__ void fresh(int *out, mode m)
{
    __shared__ pair tile[64];
    int i = threadIdx.x;
    tile[i].b = i + m;
    counts[1].a = i;
    if (i < 32)
        return;
    out[i] = tile[i].b;
}
""")
    for compiler in [[heddle, "cc", "-G", "-ptx"]] + ([["nvcc", "-G", "-ptx", "-arch=sm_90"]] if shutil.which("nvcc") else []):
        subprocess.run([*compiler, name, "-o", folder.path("fresh.ptx")], check=True)
        asked = ["b 8", "run", "cuda thread 40", "p i", "p tile[3]", "p (mode)3", "p FAST", "whatis tile", "p sizeof(pair)", "p threadIdx.w", "watch tile[40].b", "d 1", "c", "p i", "p counts[1].a",
                 "b 12", "c", "cuda thread 3", "p out", "display tile[0].b", "display i", "info locals", "bt"]
        got = answers(["fresh.ptx", "--grid", 1, "--block", 64, "s32[64]", 3], asked, cwd=folder.name)
        assert got[3] == "there is no `i` here: the thread has not begun" and got[4] == "$1 = {a = 0, b = 0}" and got[5:9] == ["$2 = FAST", "$3 = FAST", "type = pair[64]", "$4 = 8"], got
        assert got[9] == "its members are x, y and z" and got[10].startswith("Watchpoint 2: tile[40].b (4 bytes at 0x"), got
        assert "Old value = 0\nNew value = 43\n" in got[12] and got[13] == "$5 = 40", (compiler, got)
        assert got[18] == "there is no `out` here: the thread has ended" and got[19] == "1: tile[0].b = 3" and got[20] == "there is no `i` here: the thread has ended", (compiler, got)
        assert got[21] == got[22] == "the thread has ended", got


def a_failure_of_a_compiled_kernel_says_how_to_stop_there():
    got = answers([build_program("-lineinfo"), 6], ["run", "break check", "run", "delete", "continue", "print threadIdx.x", "continue"])
    assert "[Kernel check has failed in compiled code: " in got[0] and "to stop there, `break check` and `run` again]" in got[0], got[0]
    assert "[The program has ended with exit status 3]" in got[0], got[0]
    assert got[4].startswith("The kernel fails (illegal-address): ") and got[5] == "$1 = 2", got


def what_the_kernel_prints_is_printed_once():
    path = build_program("-lineinfo")
    got = answers([path], ["b check", "run", "next", "next", "next", "reverse-step", "reverse-step", "next", "next", "delete", "continue"])
    assert "".join(got).count("0369") == 3, got


def lists(policy, *more):
    ptx = folder.path("lists.ptx")
    if not os.path.exists(ptx):
        subprocess.run([heddle, "cc", "-G", "-ptx", "lists.cu", "-o", ptx], cwd=here, check=True)
    return ["--policy", policy, *more, ptx, "--grid", 2, "--block", 64, "s32[128]", 12]


def a_launch_goes_back_behind_malloc_and_free():
    """And prints once: what was freed is there again, what was not allocated yet is not."""
    for policy in "serial", "random:3":
        asked = ["b lists.cu:36 if blockIdx.x == 1 && t == 0", "run", "delete", "info time", "p sum", "print large[1048576]", "next 2", "print large[1048576]", "rn 2",
                 "print large[1048576]", "b lists.cu:21 if blockIdx.x == 1 && t == 5 && round == 3", "rc", "p *head", "info time", "info locals",
                 "tbreak 36 if blockIdx.x == 1 && t == 0", "delete 2", "c", "p sum", "info time", "delete", "c"]
        got = answers(lists(policy), asked)
        assert "lists.cu:36" in got[1] and "lists.cu:36" in got[17] and got[4] == got[18].replace("$6", "$1"), (policy, got)
        assert got[5] == "$2 = 7 '\\007'" and "<no memory" in got[7] and got[9] == "$4 = 7 '\\007'", (policy, got[5:10])
        assert "lists.cu:21" in got[11] and "v = 18}" in got[12], (policy, got[11:14])
        assert re.match(r"time \d+", got[3])[0] == re.match(r"time \d+", got[19])[0], (policy, got[3], got[19])
        assert "".join(got).count("block 0: ") == 1 and "".join(got).count("block 1: ") == 1, got


NESTS = """#include <cstdio>
__global__ void child(int *at, int n)
{
    at[threadIdx.x] += n * 10;
}
__global__ void parent(int *at, int n)
{
    int t = threadIdx.x;
    int x = t * n;
    at[t] = x;
    if (t < 2) {
        int *own = at + 32 * (t + 1);
        child<<<1, 4>>>(own, t + 1);
        x += 5;
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaEvent_t e;
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
        child<<<1, 4, 0, s>>>(own + 16, t + 1);
        cudaEventRecord(e, s);
        cudaStreamWaitEvent(cudaStreamPerThread, e, 0);
        child<<<1, 4, 0, cudaStreamFireAndForget>>>(own + 8, t + 1);
        child<<<1, 4, 0, cudaStreamPerThread>>>(own + 16, 7);
        x += 100;
    }
    child<<<1, 1, 0, cudaStreamTailLaunch>>>(at + 120, 1);
    at[t] += x;
}
int main()
{
    int *at;
    cudaMallocManaged(&at, 512);
    cudaMemset(at, 0, 512);
    parent<<<1, 8>>>(at, 3);
    printf("%s:", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 128; i++)
        printf(" %d", at[i]);
    printf("\\n");
}
"""


def a_kernel_that_launches_kernels_goes_back():
    """Its launches are made once, after it: by their order, and of what it launched last. They go back, too."""
    name, path = folder.write("nests.cu", NESTS), folder.path("nests")
    subprocess.run([heddle, "cc", "-G", "-rdc=true", name, "-o", path], check=True)
    plain = subprocess.run([heddle, "run", path], capture_output=True, text=True, timeout=120).stdout
    assert plain.startswith("cudaSuccess: 105 111 12 18 ") and " 80 80 80 80 " in plain and " 90 90 90 90 " in plain, plain
    state = ["info time", "info registers", "info locals", "p at[0]@128"]
    for policy in "serial", "random:5":
        n = 16
        asked = ["b parent", "run", "d 1"] + ["next", *state] * n + ["reverse-next", *state] * (n - 1) + ["next"] * 3
        got = answers(["--policy", policy, path], asked, cwd=folder.name)
        all_of = [[re.sub(r"^\$\d+|, of .*|; \d+ bytes.*", "", masked(x)) for x in got[3 + 5 * i : 8 + 5 * i]] for i in range(2 * n - 1)]
        there, back = [x[1:] for x in all_of[:n]], [x[1:] for x in all_of[n:]]
        assert back == there[-2::-1] and len({x[0] for x in there}) == n, (policy, [x[0] for x in all_of], [x[0] for x in there], [x[0] for x in back])
        assert "at nests.cu:26" in all_of[n - 1][0], [x[0] for x in all_of]
    got = answers([path], ["b parent", "b child", "run", "next 4", "goto 5", "d 1", "c", "bt", "p n", "reverse-step", "d", "c"], cwd=folder.name)
    assert got[6].startswith("Breakpoint 2, by 4 threads") and got[7] == "#0  child at nests.cu:4" and got[8] == "$1 = 1" and "child at nests.cu:" in got[9], got
    assert plain in got[11] + "\\n" and "[The program has ended normally]" in got[11], got
    got = answers(["--check", path], ["b parent", "run", "next", "reverse-next"], cwd=folder.name)
    assert got[3] == "the launch cannot go back: the kernel launches other kernels, which can be undone only without --check", got


MANY = """#include <cstdio>
#include <cstdlib>
__global__ void leaf(int *at)
{
    atomicAdd(at, 1);
}
__global__ void middle(int *at)
{
    leaf<<<1, 1, 0, cudaStreamFireAndForget>>>(at);
    atomicAdd(at + 1, cudaGetLastError() != cudaSuccess);
}
__global__ void parent(int *at, int n)
{
    for (int i = 0; i < n; i++)
        middle<<<1, 1, 0, cudaStreamFireAndForget>>>(at);
}
int main()
{
    int *at;
    cudaMallocManaged(&at, 8);
    parent<<<1, 1>>>(at, 1500);
    printf("%s: %d %d\\n", cudaGetErrorName(cudaDeviceSynchronize()), at[0], at[1]);
}
"""


def what_waits_for_the_debugger_leaves_room_for_its_own_launches():
    """1500 wait, each of which launches another; 2048 launches may be pending."""
    name, path = folder.write("many.cu", MANY), folder.path("many")
    subprocess.run([heddle, "cc", "-G", "-rdc=true", name, "-o", path], check=True)
    got = answers([path], ["b parent", "run", "next", "reverse-next", "d", "c"], cwd=folder.name)
    assert "cudaSuccess: 1500 0" in got[5], got


def snapshots_lead_back_to_the_same_states_in_the_room_that_they_have():
    """Some way into a launch, with snapshots on the way, few, and none but the first; nothing is kept beyond --snapshots."""
    seen = []
    for room in "1G", "600K", "300K":
        asked = ["b lists.cu:26 if blockIdx.x == 1 && t == 60 && round == 11", "run", "info time", "delete", "rs", "rs", "rs", "p sum", "info locals", "info time", "goto 2000", "info registers",
                 "cuda block 0", "cuda thread 40", "info locals", "rs", "info cuda lanes", "b lists.cu:13 if round == 11", "c", "info locals"]
        got = [masked(x) for x in answers(lists("random:7", "--snapshots", room), asked)]
        kept = int(re.search(r"(\d+) bytes", answers(lists("random:7", "--snapshots", room), asked[:3])[2])[1])
        assert kept < {"1G": 1 << 30, "600K": 600 << 10, "300K": 300 << 10}[room], (room, kept)
        seen.append(got)
    assert seen[0] == seen[1] == seen[2], seen
    assert int(re.match(r"time (\d+)", seen[0][2])[1]) > 10000, seen[0][2]


def an_ended_launch_leads_back():
    got = answers(["tile.ptx", "turn", "--grid", 1, "--block", 32, *TILE[6:]],
                  ["b 31", "run", "delete", "next 9", "info time", "reverse-step", "info time", "reverse-stepi", "info time", "b 31", "next 9", "rc"])
    assert "[The launch has ended; reverse-continue" in got[3], got
    times = [int(re.match(r"time (\d+)", got[i])[1]) for i in (4, 6, 8)]
    assert "tile.cu:32" in got[5] and times[0] > times[1] > times[2], (got[5], times)
    assert "[The launch has ended; " in got[10] and "Breakpoint 2" in got[11] and "tile.cu:31" in got[11], got[10:]


def wrong_command_lines_and_programs_are_told():
    def fails(args, status, text, commands=""):
        got, out, err = debug(args, commands)
        assert got == status and text in out + err, (args, got, out, err)

    fails([], 2, "heddle debug needs a program or a PTX file")
    fails(["nothing.ptx"], 2, "nothing.ptx")
    fails(["./nothing"], 127, "nothing")
    fails(["tile.ptx", "nowhere", "--grid", 1, "--block", 1], 2, "nowhere")
    fails(["tile.ptx", "turn", "--grid", 1, "--block", 1], 2, "takes 4 arguments")
    fails(["--policy", "sometimes", *TILE], 2, "a policy is serial")
    fails(["/bin/true"], 0, "[The program has ended normally]", "break x\nrun\n")
    fails(["--snapshots", "1", *TILE], 0, "the launch cannot go back: the launch has changed more memory than --snapshots keeps",
          "b turn\nr\ndelete\nb 32\nc\nrs\n")


def a_killed_process_ends_the_session_with_a_word():
    path = build_program("-lineinfo")
    with subprocess.Popen([heddle, "debug", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as p:
        p.stdin.write("break check\nrun\n")
        seen = ""
        while "13\t" not in seen and "14\t" not in seen:
            seen += p.stdout.readline()
        with open(f"/proc/{p.pid}/task/{p.pid}/children") as f:
            child = int(f.read().split()[0])
        os.kill(child, signal.SIGKILL)
        p.stdin.write("next\n")
        p.stdin.close()
        rest = p.stdout.read()
        assert "ended by signal 9" in rest, (seen, rest)
        assert p.wait(30) == 0


def of_a_program_that_forks_one_process_is_debugged():
    name, path = folder.write("forks.cu", """#include <cstdio>
#include <unistd.h>
#include <sys/wait.h>
__global__ void count(int *out, int n)
{
    out[threadIdx.x] += n;
}
int main()
{
    pid_t child = fork();
    int *out, got = 0;
    cudaMalloc(&out, 64);
    cudaMemset(out, 0, 64);
    count<<<1, 8>>>(out, 5);
    cudaError_t e = cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    printf("%d %s\\n", got, cudaGetErrorString(e));
    fflush(stdout);
    return child ? wait(NULL) == -1 : 0;
}
"""), folder.path("forks")
    subprocess.run([heddle, "cc", "-G", name, "-o", path], check=True)
    status, out, err = debug([path], "b count\nrun\np n\nc\n")
    assert status == 0 and "Breakpoint 1" in out and "$1 = 5" in out and out.count("5 no error") == 2 and "[The program has ended normally]" in out, (out, err)
    assert re.search(r"heddle: process \d+ is not debugged, because another process of the program is", err), err


def an_interrupt_stops_a_kernel_that_does_not_end():
    name = folder.write("spin.cu", "__global__ void spin(volatile int *at)\n{\n    while (*at == 0)\n        ;\n}\n")
    ptx = folder.path("spin.ptx")
    subprocess.run([heddle, "cc", "-ptx", "-lineinfo", name, "-o", ptx], check=True)
    with subprocess.Popen([heddle, "debug", ptx, "--grid", "1", "--block", "1", "s32[1]"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, bufsize=1, cwd=folder.name) as p:
        p.stdin.write("break spin\nrun\nset var *(int *)$arg1 = 0\ncontinue\n")
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        p.stdin.write("set var *(int *)$arg1 = 1\ncontinue\n")
        p.stdin.close()
        out = p.stdout.read()
        p.wait(60)
    assert "Interrupted" in out or "can never finish" in out, out


main(globals())
