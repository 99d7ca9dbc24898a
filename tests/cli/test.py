"""The command line: what users type, what they get wrong, what they read."""
import itertools
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import SANITIZED, Skip, examples, heddle, launch, main, need_clang, run, source, values, variable

folder = tempfile.TemporaryDirectory()
SAXPY = f"{examples}/saxpy/saxpy.ptx"
SAXPY_ARGS = ["--grid", 1, "--block", 32, 4, 2.0, "f32[4]=range", "f32[4]=ones"]


def path(name):
    return os.path.join(folder.name, name)


def ptx(name, text, version="7.0", target="sm_75"):
    """A PTX file in the folder of this test."""
    with open(path(name), "w") as f:
        f.write(f".version {version}\n.target {target}\n.address_size 64\n{text}")
    return path(name)


# Copies parameter p, of 32 bytes, to *out.
STRUCT = ptx("struct.ptx", """
.visible .entry copy(.param .align 8 .b8 p[32], .param .u64 out)
{
    .reg .u64 %rd<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [p];     st.global.u64 [%rd1], %rd2;
    ld.param.u64 %rd3, [p+8];   st.global.u64 [%rd1+8], %rd3;
    ld.param.u64 %rd4, [p+16];  st.global.u64 [%rd1+16], %rd4;
    ld.param.u64 %rd5, [p+24];  st.global.u64 [%rd1+24], %rd5;
    ret;
}
""")

# Parameters as in the dialect of sm_100.
UNTYPED = ptx("untyped.ptx", """
.visible .entry store(.param .b32 x, .param .u64 .ptr .align 1 out)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [x];
    ld.param.b64 %rd1, [out];
    st.global.b32 [%rd1], %r1;
    ret;
}
""")

PRINT = ptx("print.ptx", """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[10] = {116, 105, 100, 32, 61, 32, 37, 117, 10, 0};
.visible .entry hello()
{
    .local .align 8 .b8 list[8];
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    mov.u64 %rd1, list;
    st.local.u32 [%rd1], %r1;
    cvta.local.u64 %rd1, %rd1;
    mov.u64 %rd2, text;
    cvta.global.u64 %rd2, %rd2;
    {
    .param .b64 f;
    .param .b64 a;
    .param .b32 r;
    st.param.b64 [f], %rd2;
    st.param.b64 [a], %rd1;
    call.uni (r), vprintf, (f, a);
    }
    ret;
}
""")

# Spins for so many nanoseconds.
SPIN = ptx("spin.ptx", """
.visible .entry spin(.param .u64 nanoseconds)
{
    .reg .u64 %rd<5>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [nanoseconds];
    mov.u64 %rd2, %globaltimer;
again:
    mov.u64 %rd3, %globaltimer;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, %rd1;
    @%p1 bra again;
    ret;
}
""")


def usage(*args, says):
    """Wrong usage: status 2, nothing on stdout, and stderr says this."""
    status, out, err = run(*args)
    assert status == 2 and out == "" and err.startswith("heddle: ") and says in err, (args, status, out, err)


# ---- the program ----

def version_and_help():
    assert re.fullmatch(r"heddle \d+\.\d+\.\d+\n", run("--version")[1])
    for word in "--help", "-h", "help":
        status, out, _ = run(word)
        assert status == 0 and all(c in out for c in ("launch", "ptx", "info"))
    assert run()[0] == 2
    commands = re.findall(r"^  (\w+) ", out.split("Commands:")[1], re.M)
    assert len(commands) >= 9, commands
    for command in commands:
        status, out, _ = run(command, "--help")
        assert status == 0 and f"usage: heddle {command}" in out and ("--json" in out or command in ("run", "cc", "cache", "debug", "pack", "completion", "manual"))
        assert out == run("help", command)[1] == run(command, "-h")[1]


def unknown_commands_and_options_suggest():
    usage("lunch", says="did you mean `launch`?")
    usage("frobnicate", says="heddle --help")
    usage("launch", SAXPY, "--gird", 4, says="did you mean `--grid`?")
    usage("info", "--grid", 4, says="`--grid` is an option of `heddle launch`")
    usage("info", "extra", says="unexpected")
    for command in "launch", "explore", "ptx":
        usage(command, os.path.join(examples, "race", "sum.cu"), says="is CUDA C++, not PTX: `heddle cc -ptx -lineinfo ")


def a_full_disk_is_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run([heddle, "info"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "No space left" in done.stderr


def a_reader_that_ends_early_is_no_error():
    for action in signal.SIG_DFL, signal.SIG_IGN:
        reads, writes = os.pipe()
        os.close(reads)
        done = subprocess.run([heddle, "info"], stdout=writes, stderr=subprocess.PIPE, text=True, restore_signals=False,
                              preexec_fn=lambda: signal.signal(signal.SIGPIPE, action))
        os.close(writes)
        assert done.returncode == -signal.SIGPIPE and not done.stderr, (action, done)


# ---- launch ----

def a_launch_shows_what_changed():
    status, out, err = run("launch", SAXPY, *SAXPY_ARGS)
    assert status == 0 and err == ""
    lines = out.splitlines()
    assert lines[0] == "argument 4: f32[4] = 1 3 5 7 (3 of 4 changed)"
    assert re.fullmatch(r"saxpy: 1 block of 32 threads, \d+\.\d+ ms", lines[1]) and len(lines) == 2


def suffixes_say_what_is_shown():
    out = run("launch", SAXPY, *SAXPY_ARGS[:-2], "f32[2,2]=range+print", "f32[4]=ones+sum")[1]
    assert "argument 3: f32[2,2] =\n  0 1\n  2 3\n" in out
    assert "argument 4: f32[4]: crc32 66a463d1, min 1, max 7, mean 4\n" in out
    out = run("launch", SAXPY, *SAXPY_ARGS[:-1], "f32[4]=ones+hide")[1]
    assert "argument" not in out


def the_crc_is_zlibs():
    import zlib
    r = launch(SAXPY, *SAXPY_ARGS)
    assert r["buffers"][1]["crc32"] == f"{zlib.crc32(struct.pack('<4f', 1, 3, 5, 7)):08x}"


def stats_are_counted():
    out = run("launch", SAXPY, *SAXPY_ARGS, "-v")[1]
    assert "32 in 1 warps" in out and re.search(r"lane efficiency +\d+\.\d%", out)
    r = launch(SAXPY, "--grid", 3, "--block", 50, 150, 2.0, "f32[150]", "f32[150]")
    assert r["stats"]["blocks"] == 3 and r["stats"]["threads"] == 150
    assert r["stats"]["lane_instructions"] > 150 * 15 and 0.7 < r["stats"]["lane_efficiency"] < 0.8


def shapes_are_written_with_commas_or_x():
    for grid, block in ("2,3", "4,2"), ("2x3x1", "4x2x1"):
        r = launch(f"{examples}/atomics/atomics.ptx", "count_in_shared", "--grid", grid, "--block", block, "s32[1]")
        assert r["grid"] == [2, 3, 1] and r["block"] == [4, 2, 1]
        assert r["stats"]["threads"] == 48


def repeated_launches_start_anew():
    r = launch(SAXPY, *SAXPY_ARGS, "--repeat", 5)
    assert values(r, 4) == [1, 3, 5, 7] and len(r["stats"]["all_seconds"]) == 5
    assert re.search(r"5 launches: least .* median .* greatest", run("launch", SAXPY, *SAXPY_ARGS, "--repeat", 5)[1])


def too_few_arguments_show_the_parameters():
    status, out, err = run("launch", SAXPY, "--grid", 1, "--block", 1, 1000)
    assert status == 2 and "saxpy takes 4 arguments, not 1" in err
    assert ".f32  saxpy_param_1" in err and "a buffer: 'f32[1024]'" in err
    example = err.rstrip().splitlines()[-1].strip()
    assert example.startswith("heddle launch ")
    done = subprocess.run(example.replace("heddle", heddle, 1), shell=True, capture_output=True)
    assert done.returncode == 0, "the example runs"


def wrong_arguments_are_explained():
    usage("launch", says="the PTX file is missing")
    usage("launch", "/no/such.ptx", says="No such file")
    usage("launch", SAXPY, "sxpy", says="did you mean `saxpy`?")
    usage("launch", SAXPY, *SAXPY_ARGS[2:], says="--grid")
    usage("launch", SAXPY, *SAXPY_ARGS[:2], *SAXPY_ARGS[4:], says="--block")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], "f32:2", "f32[4]",
          says="argument 3, `f32:2`: it is a 4-byte f32, but parameter `saxpy_param_2` is a .u64; it takes a buffer")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], "f32[4]", "f32[4]+save:/no/such/folder/y.npy", says="No such file")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], f"f32[4]+save:{path('y')}", f"f32[4]+save:{path('y')}", says="two buffers")
    usage("launch", SAXPY, *SAXPY_ARGS, "--cpu", "abacus", says="this CPU has")
    usage("launch", SAXPY, *SAXPY_ARGS, "--workers", 0, says="a number of at least 1")


def limits_of_the_device_are_kept():
    status, _, err = run("launch", SAXPY, *SAXPY_ARGS[:3], 2048, *SAXPY_ARGS[4:])
    assert status == 1 and "2048" in err and "1024" in err
    status, _, err = run("launch", SAXPY, *SAXPY_ARGS, "--shared", "1M")
    assert status == 1 and "shared memory" in err
    status, _, err = run("launch", SAXPY, *SAXPY_ARGS[:-1], "f32[1M]", "--memory", "1M")
    assert status == 1 and "argument 4" in err and "4.0 MiB" in err and "--memory" in err
    for size, good in (49152, True), (49156, False), (1 << 33, False):
        file = ptx("static.ptx", f".visible .entry k()\n{{\n.shared .b8 s[{size}];\n.reg .b32 %r<2>;\n"
                   "ld.shared.b32 %r1, [s];\nret;\n}\n")
        status, _, err = run("launch", file, "--grid", 1, "--block", 32)
        assert status == (0 if good else 1), (size, status, err)
        assert good or ("static.ptx:8:1: error: kernel `k` has" in err and "49152 are the most" in err), err


def kernels_are_chosen_by_readable_names():
    file = f"{examples}/matmul_tiled/matmul_tiled.ptx"
    args = ["--grid", 1, "--block", "8,8", "f32[8,8]=ones", "f32[8,8]=ones", "f32[8,8]", 8]
    usage("launch", file, *args, says="the name of the kernel is missing")
    usage("launch", file, "matmul_tiled", *args, says="fits several kernels")
    usage("launch", file, "matmul_tlied", *args, says="did you mean `matmul_tiled<")
    for name in "matmul_tiled<8>", "_Z12matmul_tiledILi8EEvPKfS1_Pfi":
        r = launch(file, name, *args)
        assert r["kernel"] == "matmul_tiled<8>" and values(r, 3) == [8.0] * 8


def several_files_are_linked():
    body = "{ .reg .u32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 1; st.param.u32 [y], %r2; ret; }"
    callee = ptx("callee.ptx", f".visible .func (.param .u32 y) next(.param .u32 x) {body}\n")
    caller = ptx("caller.ptx", """
.extern .func (.param .u32 y) next(.param .u32 x);
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<3>;
    .param .u32 a;
    .param .u32 b;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    st.param.u32 [a], %r1;
    call.uni (b), next, (a);
    ld.param.u32 %r2, [b];
    st.global.u32 [%rd1], %r2;
    ret;
}
""")
    args = ["--grid", 1, "--block", 1, "u32[1]", 41]
    assert values(launch(caller, callee, *args), 1) == [42]
    assert values(launch(callee, caller, "k", *args), 1) == [42]
    status, _, err = run("launch", caller, *args)
    assert status == 1 and "next" in err and "not defined" in err


def standard_input_is_a_file():
    with open(SAXPY) as f:
        status, out, _ = run("launch", "-", *SAXPY_ARGS, stdin=f.read())
    assert status == 0 and "1 3 5 7" in out


def structures_are_passed_by_value():
    out = f"u64[4]+print"
    size = ["--grid", 1, "--block", 1]
    assert values(launch(STRUCT, *size, "u64:1,2,3,4", out), 2) == [1, 2, 3, 4]
    assert values(launch(STRUCT, *size, "hex:" + "01" + "00" * 31, out), 2) == [1, 0, 0, 0]
    with open(path("p.raw"), "wb") as f:
        f.write(struct.pack("<4Q", 9, 8, 7, 6))
    assert values(launch(STRUCT, *size, f"@{path('p.raw')}", out), 2) == [9, 8, 7, 6]
    r = launch(STRUCT, *size, "{f32[8]=ones;u32:5,6;f64:1;u8:7}", out)
    assert values(r, 2)[1:] == [5 | 6 << 32, 0x3ff0000000000000, 7] and values(r, 2)[0] != 0
    usage("launch", STRUCT, *size, "u64:1,2", out, says="a structure of 32 bytes")


def untyped_parameters_take_integers_and_floats():
    size = ["--grid", 1, "--block", 1]
    assert values(launch(UNTYPED, *size, 7, "u32[1]"), 2) == [7]
    assert values(launch(UNTYPED, *size, "f32:2.5", "f32[1]"), 2) == [2.5]
    usage("launch", UNTYPED, *size, 2.5, "f32[1]", says="f32:2.5")
    usage("launch", UNTYPED, says="x                    a number")


def a_buffer_can_be_passed_twice():
    r = launch(SAXPY, "--grid", 1, "--block", 32, 4, 2.0, "f32[4]=range+print", "same:3")
    assert values(r, 3) == [0, 3, 6, 9] and len(r["buffers"]) == 1


def variables_are_set_and_shown():
    file = f"{examples}/atomics/atomics.ptx"
    out = run("launch", file, "atomic_add_one", "--grid", 1, "--block", 8)[1]
    assert "variable count: u32[1] = 8 (1 of 1 changed)" in out
    out = run("launch", file, "atomic_add_one", "--grid", 1, "--block", 8, "--var", "count=34+print")[1]
    assert "variable count: u32[1] = 42\n" in out
    usage("launch", file, "atomic_add_one", "--grid", 1, "--block", 8, "--var", "cuont", says="the module has count")
    usage("launch", file, "atomic_add_one", "--grid", 1, "--block", 8, "--var", "count=1,2", says="2 values for the 1")


# ---- printing, faults ----

def what_kernels_print_comes_first_and_in_order():
    status, out, err = run("launch", PRINT, "--grid", 1, "--block", 3)
    assert status == 0 and err == "" and out.startswith("tid = 0\ntid = 1\ntid = 2\nhello: 1 block of 3 threads")
    assert launch(PRINT, "--grid", 1, "--block", 3)["output"] == "tid = 0\ntid = 1\ntid = 2\n"


def faults_have_a_place_and_status_1():
    args = ["launch", SAXPY, "--grid", 1, "--block", 32, 32, 2.0, "f32[4]", "f32[32]"]
    status, out, err = run(*args)
    assert status == 1 and out == "" and "illegal" in err and "saxpy.ptx:" in err and "argument 3" in err, err
    status, out, err = run(*args, "--json")
    r = json.loads(out)
    assert status == 1 and err == "" and r["result"] == "HD_ERROR_ILLEGAL_ADDRESS"
    assert r["diagnostics"][0]["severity"] == "error" and r["diagnostics"][0]["file"].endswith("saxpy.ptx")


def ptx_prints_what_it_reads():
    status, printed, err = run("ptx", "--print", SAXPY)
    assert status == 0 and err == "" and printed.startswith(".version") and "ld.global.f32 %f2, [%rd6];" in printed
    again = ptx("again.ptx", "")
    open(again, "w").write(printed)
    assert run("ptx", "--print", again)[1] == printed
    (entry,) = json.loads(run("ptx", "--print", "--json", SAXPY)[1])
    assert entry["text"] == printed and entry["functions"][0]["missing"] is None
    usage("ptx", "--print", "--isa", says="--print")


def bad_ptx_has_status_1():
    bad = ptx("bad.ptx", ".entry k() { bogus.u32 x; }")
    status, out, err = run("launch", bad, "--grid", 1, "--block", 1)
    assert status == 1 and f"{bad}:4:14: error" in err and "^" in err
    status, out, _ = run("launch", bad, "--grid", 1, "--block", 1, "--json")
    r = json.loads(out)
    assert status == 1 and r["result"] == "HD_ERROR_INVALID_PTX" and r["diagnostics"][0]["line"] == 4


def endless_kernels_meet_the_step_limit():
    args = ["--grid", 1, "--block", 1, 10**15, "--step-limit", 100000]
    status, out, err = run("launch", SPIN, *args)
    assert status == 1 and "step" in err
    r = json.loads(run("launch", SPIN, *args, "--json")[1])
    assert r["result"] == "HD_ERROR_LAUNCH_TIMEOUT"


def a_step_limit_ends_a_launch_on_a_crowded_computer():
    """Where other processes want the cores, too, a yield takes milliseconds. A wait in vain yields often."""
    source, crowd = (os.path.join(folder.name, name) for name in ("crowd.c", "crowd.so"))
    with open(source, "w") as f:
        f.write("#include <unistd.h>\nint sched_yield(void) { return usleep(4000); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", crowd, source], check=True)
    begun = time.monotonic()
    for engine in "interp", "jit":
        status, _, err = run("launch", SPIN, "--grid", 1, "--block", 1, 10**15, "--step-limit", 1000000, "--engine", engine,
                             env={**os.environ, "LD_PRELOAD": crowd, "ASAN_OPTIONS": "verify_asan_link_order=0"})
        assert status == 1 and "1000000 warp instructions, the step limit" in err, err
    assert time.monotonic() - begun < 60 # 250,000 yields would take 1,000 seconds


def a_launch_can_be_interrupted():
    spinning = subprocess.Popen([heddle, "launch", SPIN, "--grid", "1", "--block", "1", str(10**15)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.3)
    spinning.send_signal(signal.SIGINT)
    out, err = spinning.communicate(timeout=20)
    assert spinning.returncode == 1 and out == "" and "cancelled" in err, err


# ---- checking, schedules ----

def the_checker_finds_what_nobody_has_written():
    args = [*SAXPY_ARGS[:-2], "f32[4]=undef", "f32[4]=ones"]
    assert run("launch", SAXPY, *args)[0] == 0
    status, out, err = run("launch", SAXPY, *args, "--check")
    assert status == 1 and "no buffer was changed" in out and "argument 3" in err and "never been written" in err, err
    status, out, _ = run("launch", SAXPY, *args, "--check", "--json")
    assert status == 1 and json.loads(out)["findings"][0]["file"].endswith("saxpy.ptx")
    status, out, err = run("launch", SAXPY, *SAXPY_ARGS, "--check")
    assert status == 0 and err == "check: no errors\n", err
    status, out, err = run("launch", SAXPY, *SAXPY_ARGS, "--check", "--policy", "serial")
    assert status == 0 and err == "check: no errors\nheddle: repeat this run with --policy serial\n", err


def stable(result):
    """A run's status and texts without times and addresses."""
    return re.sub(r"0x\w+|[\d.]+ ms", "...", str(result))


def what_others_call_commands_leads_on():
    for word, instead in (("profile", "heddle explain"), ("compile", "heddle cc"), ("memcheck", "--tool memcheck"), ("gdb", "heddle debug"), ("ctest", "heddle run ctest")):
        usage(word, "app", says=f"there is no command `{word}`: ")
        assert instead in run(word)[2]
    assert run("version")[:2] == run("--version")[:2]
    usage("chek", says="did you mean `check`?")
    usage("-v", "app", says="options follow a command")
    for words, instead in (("debug -tui app", "--dap"), ("explain -t cuda app", "--trace FILE.json"), ("check -q app", "--log-file"),
                           ("check --gen-suppressions=all app", "--generate-suppressions")):
        usage(*words.split(), says=instead)
    with tempfile.TemporaryDirectory() as folder:
        for name, instead in (("a.cu", "heddle cc"), ("a.ptx", "heddle launch"), ("a.py", "heddle run python3")):
            with open(os.path.join(folder, name), "w") as f:
                f.write("\n")
            usage(os.path.join(folder, name), says=f"is a file, not a command: `{instead} ")
        script = os.path.join(folder, "a.py")
        status, _, err = run("run", script)
        assert status == 126 and f"`{script}` is a script: `heddle run python3 {script}`" in err, err
        status, _, err = run("check", os.path.join(folder, "a.cu"))
        assert "heddle cc" in err, err
    usage("explain", "--metrics", "all", "x", says="Nsight Compute's names")
    usage("explain", "--set", "full", "x", says="always have all sections")


def the_ptx_inside_of_a_program_is_what_messages_name():
    need_clang()
    with tempfile.TemporaryDirectory() as folder:
        source_file, program = os.path.join(folder, "a.cu"), os.path.join(folder, "app")
        with open(source_file, "w") as f:
            f.write("__global__ void one(int *p) { p[threadIdx.x] = 1; }\nint main() { int *p; cudaMalloc(&p, 4); one<<<1, 8>>>(p); return cudaDeviceSynchronize(); }\n")
        done = subprocess.run([heddle, "cc", source_file, "-o", program], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        status, out, _ = run("ptx", "--of", program)
        assert status == 0 and re.fullmatch(r"PTX 1 of app: .* KiB, 1 kernel: one\n|PTX 1 of app: .*, 1 kernel: one\n", out), out
        text = run("ptx", "--of", program, 1)[1]
        _, _, err = run("check", "--format", "json", program)
        finding = json.loads(err)["findings"][0]
        assert finding["file"] == "PTX 1 of app" and text.splitlines()[finding["line"] - 1] == finding["source"], finding
        usage("ptx", "--of", program, 2, says="has no PTX of number 2")
        usage("ptx", "--of", "/bin/true", says="has no PTX inside")


def check_is_a_command():
    args = [*SAXPY_ARGS[:-2], "f32[4]=undef", "f32[3]=ones"]
    assert stable(run("check", SAXPY, *args)) == stable(run("launch", SAXPY, *args, "--check"))
    status, _, err = run("check", SAXPY, *args)
    assert status == 1 and "saxpy.cu:6: error: " in err and "    6 |         y[i] = a * x[i] + y[i];\n" in err and "saxpy.ptx:50:2" in err and "check: 3 errors" in err, err
    assert err.endswith("--policy serial or random:SEED makes a run repeatable\n"), err
    assert run("check", SAXPY, *SAXPY_ARGS)[0] == 0
    status, _, err = run("check", SAXPY, *args, "--tool", "memcheck")
    assert status == 1 and "[illegal-address" in err and "uninitialised-read" not in err and "check: 2 errors" in err, err
    status, _, err = run("check", SAXPY, *args, "--tool", "initcheck,memcheck")
    assert status == 1 and "check: 3 errors" in err, err
    usage("check", SAXPY, *args, "--tool", "leakcheck", says="there is no tool `leakcheck`")
    usage("check", says="heddle check --help")
    usage("check", SAXPY, *args, "--format", "xml", says="text, json, sarif or junit")


def findings_are_there_after_a_fault_too():
    status, _, err = run("check", f"{source}/tests/faults/faults.ptx", "spin_on_global", "--grid", 1, "--block", 32,
                         "u32[1024]=undef")
    assert status == 1 and "[deadlock]" in err and "[uninitialised-read" in err and "check: 2 errors" in err, err


def sarif_has_findings_with_places_and_counts():
    args = [SAXPY, *SAXPY_ARGS[:-2], "f32[4]=undef", "f32[3]=ones", "--format", "sarif"]
    status, out, _ = run("check", *args)
    log = json.loads(out)
    results = log["runs"][0]["results"]
    assert status == 1 and log["version"] == "2.1.0" and len(results) == 3
    rules = [r["id"] for r in log["runs"][0]["tool"]["driver"]["rules"]]
    assert sorted(rules) == ["illegal-address", "uninitialised-read"]
    first = results[0]
    where = first["locations"][0]["physicalLocation"]
    assert first["ruleId"] == "uninitialised-read" and first["level"] == "error" and first["occurrenceCount"] == 4
    assert where["artifactLocation"]["uri"] == "saxpy.cu" and where["region"]["startLine"] == 6
    ptx = first["relatedLocations"][0]["physicalLocation"]
    assert ptx["artifactLocation"]["uri"].endswith("saxpy.ptx") and ptx["region"]["startLine"] == 48
    status, out, _ = run("launch", *args)  # without the checker, the fault
    assert status == 1 and [r["ruleId"] for r in json.loads(out)["runs"][0]["results"]] == ["illegal-address"]
    status, out, _ = run("check", SAXPY, *SAXPY_ARGS, "--format", "sarif")
    assert status == 0 and json.loads(out)["runs"][0]["results"] == []


def seeds_side_by_side_give_unlike_schedules():
    """--runs takes S, S + 1, S + 2, ..."""
    recorded = []
    for seed in range(1, 5):
        launch(f"{examples}/atomics/atomics.ptx", "add_by_cas", "--grid", 4, "--block", 64, "s32[1]", 1, "s32[256]", "--policy",
               f"random:{seed}", "--record", path("schedule"))
        with open(path("schedule"), "rb") as f:
            recorded.append(f.read().split(b"\n", 1)[1])
    for a, b in itertools.permutations(recorded, 2):
        assert len(a) > 200 and not any(a[i:i + 24] in b for i in range(len(a) - 24))


def runs_that_are_not_fair_say_how_to_repeat_them():
    file = f"{examples}/atomics/atomics.ptx"
    args = [file, "add_by_cas", "--grid", 4, "--block", 64, "s32[1]", 1, "s32[256]+print", "--policy"]
    first = launch(*args, "random")
    assert re.fullmatch(r"random:\d+", first["policy"])
    again = launch(*args, first["policy"])
    assert again["policy"] == first["policy"] and values(again, 3) == values(first, 3)
    err = run("launch", *args, "random:3")[2]
    assert err == "heddle: repeat this run with --policy random:3\n", err
    err = run("launch", SAXPY, *SAXPY_ARGS[:-1], "f32[3]", "--policy", "random:3")[2]
    assert err.endswith("heddle: repeat this run with --policy random:3\n"), err
    assert run("launch", SAXPY, *SAXPY_ARGS)[2] == ""


def schedules_are_recorded_and_replayed():
    file, schedule = f"{examples}/atomics/atomics.ptx", path("schedule")
    args = [file, "add_by_cas", "--grid", 4, "--block", 64, "s32[1]", 1, "s32[256]+print"]
    first = values(launch(*args, "--policy", "random:7", "--record", schedule), 3)
    assert values(launch(*args, "--policy", f"replay:{schedule}"), 3) == first
    assert values(launch(*args, "--policy", "random:7"), 3) == first
    assert any(values(launch(*args, "--policy", f"random:{seed}"), 3) != first for seed in range(8, 12))
    serial = values(launch(*args, "--policy", "serial", "--record", schedule), 3)
    assert values(launch(*args, "--policy", f"replay:{schedule}"), 3) == serial
    usage("launch", *args, "--policy", "lottery", says="random:SEED or replay:FILE")
    usage("launch", *args, "--record", schedule, says="has no schedule to record")


def timelines_are_written():
    launch(SAXPY, *SAXPY_ARGS, "--trace", path("trace.json"))
    with open(path("trace.json")) as f:
        assert json.load(f)
    assert run("launch", SAXPY, *SAXPY_ARGS, "--trace", "/no/such/folder/t.json")[0] == 2



def a_dash_is_standard_output_wherever_a_file_is_written():
    """Alone there: what is for people goes to the other stream."""
    empty = os.listdir(folder.name)
    for command in "launch", "check":
        status, out, err = run(command, SAXPY, *SAXPY_ARGS, "--trace", "-", cwd=folder.name)
        assert status == 0 and json.loads(out)["traceEvents"] and "argument 4" in err, (out, err)
        status, out, err = run(command, SAXPY, *SAXPY_ARGS, "--policy", "serial", "--record", "-", cwd=folder.name)
        assert (status, out) == (0, "heddle schedule 1 serial\n") and "argument 4" in err, (out, err)
    status, out, err = run("launch", SAXPY, *SAXPY_ARGS, "--policy", "serial", "--record", "-", "--trace", "-")
    assert status == 2 and "--record and --trace would both write to standard output" in err, err
    status, out, err = run("check", "--log-file", "-", "/bin/true", cwd=folder.name)
    assert status == 0 and out.startswith("check: `/bin/true` ran without"), (out, err)
    assert os.listdir(folder.name) == empty

def levels_of_which_this_computer_has_none_are_no_success():
    if not shutil.which("make"):
        raise Skip("there is no make")
    build = os.environ["HEDDLE_BUILD"]
    done = subprocess.run(["make", "-s", "-o", "all", "-C", source, "check-levels", "LEVELS=x86-64-v9", f"BUILD={build}"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode and "SKIP" in done.stdout and "this computer has none of x86-64-v9" in done.stderr, done


def cooperative_launches_must_fit():
    file = f"{examples}/atomics/atomics.ptx"
    args = [file, "count_in_shared", "--block", 1024, "s32[1]", "--cooperative", "--grid"]
    assert launch(*args, 132)["result"] == "HD_SUCCESS"
    r = json.loads(run("launch", *args, 100000, "--json")[1])
    assert r["result"] == "HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"


# ---- files ----

def programs_are_not_taken_for_ptx():
    for command in "launch", "ptx":  # `heddle check` takes both
        usage(command, heddle, says="`heddle run` runs programs")


def results_are_saved_and_read_again():
    x, y = path("x.npy"), path("y.raw")
    launch(SAXPY, *SAXPY_ARGS[:-2], f"f32[2,2]=range+save:{x}", f"f32[4]=ones+save:{y}")
    with open(x, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\x01\x00" and b"'shape': (2, 2,)" in data and b"'<f4'" in data
    assert data[-16:] == struct.pack("<4f", 0, 1, 2, 3)
    with open(y, "rb") as f:
        assert f.read() == struct.pack("<4f", 1, 3, 5, 7)
    r = launch(SAXPY, *SAXPY_ARGS[:-2], f"@{x}", f"f32[]=@{y}")
    assert r["buffers"][0]["shape"] == [2, 2] and values(r, 4) == [1, 5, 9, 13]
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], f"f64[]=@{x}", "f32[4]", says="holds f32, not f64")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], f"@{y}", "f32[4]", says="give their type")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], f"f32[5]=@{x}", "f32[4]", says="4 values for the 5")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], f"@{path('none.npy')}", "f32[4]", says="No such file")


def damaged_numpy_files_are_refused():
    with open(path("short.npy"), "wb") as f:
        f.write(b"\x93NUMPY\x01\x00\x10\x00{'descr'")
    usage("launch", SAXPY, *SAXPY_ARGS[:-2], f"@{path('short.npy')}", "f32[4]", says="short.npy: it ends within")


def a_file_that_cannot_be_written_is_an_error():
    status, _, err = run("launch", SAXPY, *SAXPY_ARGS[:-1], "f32[4]=ones+save:/dev/full")
    assert status == 1 and "/dev/full" in err and "No space left" in err


def saving_replaces_files_at_once():
    os.makedirs(path("out"))
    for _ in range(2):
        launch(SAXPY, *SAXPY_ARGS[:-1], f"f32[4]=ones+save:{path('out')}/y.npy")
        assert os.listdir(path("out")) == ["y.npy"]


# ---- ptx, info ----

def ptx_files_are_checked():
    status, out, err = run("ptx", SAXPY, STRUCT)
    assert status == 0 and err == "" and len(out.splitlines()) == 2
    assert out.startswith(f"{os.path.relpath(SAXPY)}: PTX 9.0 for sm_75: 1 kernel, 0 functions, 0 variables, 20 instructions")
    bad = ptx("bad2.ptx", ".entry k() { add.u32 %r1, 1, 2; }")
    status, out, err = run("ptx", SAXPY, bad)
    assert status == 1 and f"{bad}:4:" in err and "saxpy.ptx" in out
    r = json.loads(run("ptx", SAXPY, bad, "--json")[1])
    assert r[0]["valid"] and r[0]["functions"][0]["name"] == "saxpy" and not r[1]["valid"] and r[1]["diagnostics"]
    usage("ptx", says="the PTX file is missing")
    usage("ptx", "/no/such.ptx", says="No such file")


def instructions_are_looked_up():
    status, out, _ = run("ptx", "--isa", "atom.add.f32")
    assert status == 0 and out.startswith("atom (PTX ISA 9.7.13.5)") and ".ATOMSEM = .relaxed" in out
    assert "index of the thread" in run("ptx", "--isa", "%tid.x")[1]
    usage("ptx", "--isa", "atmo", says="did you mean `atom`?")
    usage("ptx", "--isa", "%tdi", says="no register")
    r = json.loads(run("ptx", "--isa", "add", "clusterlaunchcontrol", "--json")[1])
    assert {f["opcode"] for f in r["forms"]} == {"add", "clusterlaunchcontrol"}
    assert not any(f["runs"] for f in r["forms"] if f["opcode"] == "clusterlaunchcontrol")


def the_instruction_page_is_current():
    with open(os.path.join(source, "docs", "ISA.md")) as f:
        assert f.read() == run("ptx", "--isa", "--markdown")[1], "docs/ISA.md is old: run `make docs`"


def info_shows_the_device():
    out = run("info", "--workers", 3, "--memory", "64M")[1]
    assert "64 MiB" in out and re.search(r"Worker threads +3", out) and "9.0" in out
    r = json.loads(run("info", "--json")[1])
    assert r["attributes"]["MULTIPROCESSOR_COUNT"] == r["multiprocessors"] == 132


def the_CPU_level_is_an_option_or_the_environments():
    level = lambda *args, **env: run("info", "--json", *args, env={**os.environ, **env})
    (best, *others) = levels = re.search(r"has (.+)", run("info", "--cpu", "vax")[2])[1].split(", ")
    for name in levels:
        for status, out, _ in level("--cpu", name), level(HEDDLE_CPU=name), level("--cpu", name, HEDDLE_CPU=best):
            assert status == 0 and json.loads(out)["cpu_level"] == name, out
        if name.startswith("x86-64-"):
            assert json.loads(level(HEDDLE_CPU=name[len("x86-64-"):])[1])["cpu_level"] == name
    assert json.loads(level(HEDDLE_CPU="")[1])["cpu_level"] == best
    for (status, _, err), what in (level("--cpu", "vax"), "`--cpu vax`"), (level(HEDDLE_CPU="vax"), "HEDDLE_CPU=vax"):
        assert status == 2 and f"{what}: this CPU has {', '.join(levels)}" in err, err


# ---- time ----

def starting_up_takes_at_most_30_ms():
    best = 1.0
    limit = 0.300 if SANITIZED else 0.030  # sanitizers take their time
    for _ in range(60):  # on a busy machine, few runs are left alone
        start = time.monotonic()
        assert run("launch", SAXPY, *SAXPY_ARGS)[0] == 0
        best = min(best, time.monotonic() - start)
        if best <= limit:
            break
    assert best <= limit, f"{1000 * best:.1f} ms"


def read_terminal(master):
    """All that was written to a terminal whose other end is closed: a read may give a part of it."""
    told = b""
    try:
        while part := os.read(master, 10000):
            told += part
    except OSError:  # the end
        pass
    return told.decode()


def progress_is_told_on_a_terminal_only():
    nanoseconds = 2700000000
    command = [heddle, "launch", SPIN, "--grid", "1", "--block", "1", str(nanoseconds)]
    quiet = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    master, slave = pty.openpty()
    assert subprocess.run(command, stdout=subprocess.DEVNULL, stderr=slave).returncode == 0
    os.close(slave)
    told = read_terminal(master)
    assert "spin: 0 of 1 blocks (0%), 2 s" in told and told.endswith("\r\033[K"), repr(told)
    assert quiet.communicate()[1] == b""


main(globals())
