"""Limits on the command line: of steps, time, memory and stacks; and that every policy gives everyone a turn."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import compile_each_time, need_compiler, written
from tap import Skip, heddle, launch, main, run, source, values

KERNELS = os.path.join(source, "tests", "limits", "fairness.ptx")
WAITING = [("lanes", 1, 32), ("lanes_behind", 1, 32), ("counting", 1, 32), ("counting_behind", 1, 32), ("one_barrier", 1, 64),
           ("two_meet", 1, 96), ("lock", 3, 40), ("sleeping", 4, 32), ("give_and_take", 1, 64)]
ENDLESS = """.visible .entry endless(.param .u64 p)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [p];
LOOP:
    ld.volatile.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
    bar.sync 0;
    bra LOOP;
}
"""
FAR = """.func f(.param .u64 q)
{{
    .reg .u64 %rd<2>; .reg .u32 %r<{n}>;
    ld.param.u64 %rd1, [q];
    {loads}
    {{
    .param .u64 a;
    st.param.u64 [a], %rd1;
    call f, (a);
    }}
    {stores}
    ret;
}}
.visible .entry far(.param .u64 p)
{{
    .reg .u64 %rd<2>;
    .param .u64 a;
    ld.param.u64 %rd1, [p];
    st.param.u64 [a], %rd1;
    call f, (a);
    ret;
}}
""".format(n=500, loads="\n".join(f"ld.volatile.global.u32 %r{i}, [%rd1+{4 * i}];" for i in range(500)),
           stores="\n".join(f"st.volatile.global.u32 [%rd1+{4 * i}], %r{i};" for i in range(500)))
SPIN = """#include <cstdio>
#include <unistd.h>
__global__ void spin(volatile unsigned *p) { while (!*p) ; }
int main(int argc, char **)
{
    unsigned *p;
    cudaError_t e = cudaMalloc(&p, 4);
    if (!e) {
        cudaMemset(p, 0, 4);
        spin<<<1, 32>>>(p);
        e = cudaDeviceSynchronize();
    }
    printf("%s\\n", cudaGetErrorName(e));
    fflush(stdout);
    if (argc > 1 && (fork() || fork()))
        sleep(1000);
    return 0;
}
"""
# What takes longer than all other tests here runs beside them: a program that does not end when its kernels do, a compiler that
# does not answer.
slow = {}


def start_slow(engines=("jit", "auto")):
    folder = tempfile.mkdtemp(prefix="heddle-limits-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    deaf = os.path.join(folder, "deaf")
    with open(deaf, "w") as f:
        f.write("#!/bin/sh\nexec sleep 1000\n")
    os.chmod(deaf, 0o755)
    saxpy = [os.path.join(source, "examples/saxpy/saxpy.ptx"), "--grid", "1", "--block", "32", "32", "2.0", "f32[32]", "f32[32]"]
    for engine in engines:
        slow[engine] = start([heddle, "launch", *saxpy, "--engine", engine], HEDDLE_JIT=deaf)
    slow["run"] = start([heddle, "run", "--timeout", "0.2", "sh", "-c", "sleep 1000 & sleep 1000"])


def start(command, **env):
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **env})


def end_of(name):
    out, err = slow[name].communicate(timeout=60)
    return slow[name].returncode, out, err


def has_process(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def every_policy_gives_everyone_a_turn():
    for kernel, grid, block in WAITING:
        for policy in ["fair", "serial", *(f"random:{seed}" for seed in range(1, 21))]:
            status, out, err = run("launch", KERNELS, kernel, "--grid", grid, "--block", block, "--policy", policy,
                                   "--step-limit", 1000000, "u32[256]+print", "--json")
            assert status == 0 and json.loads(out)["buffers"][0]["values"][0] == 1, f"{kernel} {policy}: {err}{out}"


def a_random_schedule_can_be_repeated_and_recorded():
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "schedule")
        args = ["launch", KERNELS, "give_and_take", "--grid", 1, "--block", 64, "u32[256]+hide", "--json"]
        counts = [json.loads(run(*args, "--policy", policy, *more)[1])["stats"]["lane_instructions"]
                  for policy, more in [("random:5", []), ("random:5", ["--record", record]), (f"replay:{record}", [])]]
        assert counts[0] == counts[1] == counts[2], counts


def loops_that_nobody_can_end_are_deadlocks_under_every_policy():
    spin = ENDLESS.replace("add.u32 %r1, %r1, 1;", "").replace("st.volatile.global.u32 [%rd1], %r1;", "").replace("bar.sync 0;", "")
    with written(spin) as path:
        for policy in "fair", "serial", "random:1", "random:2":
            status, _, err = run("launch", path, "--grid", 2, "--block", 40, "--policy", policy, "--timeout", 100, "u32[1]")
            assert status == 1 and "[deadlock]" in err, err


def steps_and_time_end_what_runs_for_ever():
    with written(ENDLESS) as path:
        for command, more in ("launch", ["--engine", "interp"]), ("launch", ["--engine", "auto"]), ("check", []):
            status, _, err = run(command, path, "--grid", 3, "--block", 64, "--step-limit", 100000, *more, "u32[1]")
            assert status == 1 and "100000 warp instructions" in err and "[step-limit]" in err and "--step-limit" in err, err
            began = time.monotonic()
            status, _, err = run(command, path, "--grid", 3, "--block", 64, "--timeout", 0.2, *more, "u32[1]")
            assert status == 1 and "thread (" in err and "[timeout]" in err and "--timeout" in err, err
            assert time.monotonic() - began < 2


def the_time_of_all_repetitions_counts():
    with written(".visible .entry k(.param .u64 p) { ret; }") as path:
        status, _, err = run("launch", path, "--grid", 1000000, "--block", 32, "--repeat", 100000, "--timeout", 0.3, "u32[1]")
        assert status == 1 and "[timeout]" in err, err


def values_that_are_no_limits_are_refused():
    wrong = {"--step-limit": ["0", "-1", "1K", "x", "18446744073709551616"], "--timeout": ["0", "-1", "inf", "nan", "1e3", "0.0001", "1.2.3"],
             "--memory": ["0", "-1", "x", "99999999999999999999"], "--stack": ["0", "x", "2G"]}
    for option, values in wrong.items():
        for value in values:
            for command in ["launch", KERNELS, "lock", "--grid", "1", "--block", "1"], ["check", KERNELS, "lock"], ["run"]:
                status, _, err = run(*command[:1], f"{option}={value}", *command[1:], *(["true"] if command[0] == "run" else ["u32[4]"]))
                assert status == 2 and option in err, (command, option, value, err)


def the_memory_of_threads_is_bounded():
    with written(FAR) as path:
        for memory in 48, 160:
            process = start([heddle, "launch", path, "--grid", "8", "--block", "128", "--memory", f"{memory}M", "--stack", "64K",
                             "--workers", "2", "--engine", "interp", "u32[600]"])
            err = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 1 and "[out-of-memory]" in err and "--memory" in err, err
            assert used.ru_maxrss < 1.1 * 1024 * memory + 16 * 1024, f"{used.ru_maxrss} KiB of {memory} MiB"


def a_program_ends_with_its_kernels_or_soon_after():
    if not shutil.which("clang++-19"):
        raise Skip("there is no clang 19")
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "spin")
        with open(program + ".cu", "w") as f:
            f.write(SPIN)
        subprocess.run([heddle, "cc", program + ".cu", "-o", program], check=True, timeout=300)
        for options, status in (["--timeout", "0.3"], 124), (["--step-limit", "100000"], 0):
            done = run("run", *options, program)
            assert done[0] == status and done[1] == "cudaErrorLaunchTimeout\n", done
        for variable, value in ("HEDDLE_TIMEOUT", "x"), ("HEDDLE_MEMORY", "0"), ("HEDDLE_STACK", "2G"), ("HEDDLE_STEP_LIMIT", "-1"), ("HEDDLE_DEVICES", "x"):
            done = subprocess.run([program], capture_output=True, text=True, env={**os.environ, variable: value})
            assert done.stdout != "cudaSuccess\n" and f"{variable}={value}" in done.stderr, done


def the_limit_is_over_however_late_that_is_noticed():
    process = start([heddle, "run", "--timeout", "0.3", "sleep", "0.6"])
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    while not (child := open(children).read()):
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    while has_process(child.strip()):
        time.sleep(0.01)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 124 and "ran out" in err, (process.returncode, err)


def each_run_of_a_check_has_the_time():
    with tempfile.NamedTemporaryFile("r") as began:
        program = f"import ctypes, os; ctypes.CDLL('libcuda.so.1').cuInit(0); print(os.environ['HEDDLE_TIMEOUT_FROM'], file=open('{began.name}', 'a'))"
        run("check", "--runs", 2, "--timeout", 20, sys.executable, "-c", program)
        times = began.read().split()
    assert len(times) == 2 and float(times[0]) < float(times[1]), times


def heddle_run_hands_on_status_and_signals():
    assert run("run", "--timeout", 20, "sh", "-c", "exit 7")[0] == 7
    assert run("run", "--timeout", 20, "sh", "-c", "kill -SEGV $$")[0] == -signal.SIGSEGV
    process = start([heddle, "run", "--timeout", "20", "sh", "-c", "trap 'echo told; exit 3' TERM; echo ready; while :; do sleep 0.05; done"])
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=10)
    assert process.returncode == 3 and out == "told\n", (process.returncode, out)


def time_passes_while_the_compiler_is_waited_for_and_a_stopped_one_goes():
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        stopped, noted = os.path.join(folder, "stopped"), os.path.join(folder, "pid")
        with open(stopped, "w") as f:
            f.write(f"#!/bin/sh\necho $$ >{noted}\nkill -STOP $$\nexec {os.path.join(os.environ['HEDDLE_BUILD'], 'heddle-jit')}\n")
        os.chmod(stopped, 0o755)
        began = time.monotonic()
        process = start([heddle, "launch", KERNELS, "lock", "--grid", "1", "--block", "32", "--engine", "jit", "u32[4]"], HEDDLE_JIT=stopped)
        while not os.path.exists(noted) or not os.path.getsize(noted):
            time.sleep(0.01)
        pid = int(open(noted).read())
        time.sleep(0.1)
        assert has_process(pid)
        process.kill() # the program has no time to clean up
        process.communicate()
        while has_process(pid) and time.monotonic() < began + 5:
            time.sleep(0.01)
        assert not has_process(pid)
        status, _, err = run("launch", KERNELS, "lock", "--grid", 1, "--block", 32, "--engine", "jit", "--timeout", 0.3, "u32[4]",
                             env={**os.environ, "HEDDLE_JIT": stopped})
        assert status == 1 and "[timeout]" in err, err


def a_program_that_does_not_end_is_ended_with_its_children():
    status, _, err = end_of("run") # a child that were left would hold the pipes open
    assert status == 124 and "it is killed" in err, err


def a_compiler_that_does_not_answer_is_given_up():
    need_compiler()
    status, _, err = end_of("auto")
    assert status == 0, err
    status, _, err = end_of("jit")
    assert status == 1 and "does not answer" in err, err


compile_each_time()
start_slow()


# Each thread adds to cells as often as it is told, and nothing else changes meanwhile: the look for deadlocks lets all warps go on.
ADDS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry adds(.param .u64 cells, .param .u32 rounds)
{
    .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %p;
    ld.param.u64 %rd0, [cells];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r0, 0;
    mov.u32 %r2, %tid.x;
AGAIN:
    and.b32 %r3, %r2, 255;
    mul.wide.u32 %rd1, %r3, 4;
    add.s64 %rd2, %rd0, %rd1;
    atom.global.add.u32 %r4, [%rd2], 1;
    add.u32 %r2, %r2, %r4;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p, %r0, %r1;
    @%p bra AGAIN;
    ret;
}
"""


def a_warp_that_ends_while_deadlocks_are_looked_for_is_not_run_again():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "adds.ptx")
        with open(path, "w") as f:
            f.write(ADDS)
        for seed in range(1, 5):
            result = launch(path, "adds", "--engine", "interp", "--policy", f"random:{seed}", "--grid", 4, "--block", 128,
                            "u32[256]+print", 3000)
            assert sum(values(result, 1)) == 4 * 128 * 3000, (seed, sum(values(result, 1)))


main(globals())
