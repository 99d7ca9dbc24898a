"""Processes that mpirun starts together: they share the work, say what one process says, and end together (docs/EXPLORE.md, "More machines")."""
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import SANITIZED, Skip, heddle, main, need_clang, run, some, source, unpack

KERNELS = os.path.join(source, "tests/explore/kernels")
# A tree of 25,680 graphs, with a finding; one that takes a minute of a core.
STACK = ("explore", f"{KERNELS}/treiber.ptx", "--grid", "3", "--block", "1", "u32[96]", "u32[3]+outcomes", "63", "--no-symmetry", "--examples",
         "--forbid", "2[0] == 12", "--workers", "1")
LOCK = ("explore", f"{KERNELS}/ticket.ptx", "--grid", "4", "--block", "1", "u32[96]", "4", "--observe", "1[64]", "--no-symmetry")
# Block 0 writes where block 1 does, if it sees the flag before it gives up: under some schedules.
RACE = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p<3>; .reg .u32 %r<9>; .reg .u64 %rd<9>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ctaid.x;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra first;
mov.u32 %r3, 0;
look: ld.relaxed.gpu.global.u32 %r2, [%rd1];
setp.ne.u32 %p2, %r2, 0;
@%p2 bra seen;
add.u32 %r3, %r3, 1;
setp.ne.u32 %p2, %r3, 20;
@%p2 bra look;
bra done;
seen: st.global.u32 [%rd1+4], 2;
bra done;
first: st.relaxed.gpu.global.u32 [%rd1], 1;
st.global.u32 [%rd1+4], 1;
done: ret;
}
"""
# mpirun refuses root, and more ranks than cores, unless it is asked to.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(n):
    if SANITIZED:
        raise Skip("it is built with sanitizers, which MPI is not")
    if not shutil.which("mpirun") or "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
        raise Skip("no mpirun of Open MPI's (openmpi-bin)")
    if not os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "libheddle-mpi.so")):
        raise Skip("it is built without MPI (libopenmpi-dev)")
    return ["mpirun", "-q", "--oversubscribe", "-n", str(n)]


def run_ranks(n, *args, cwd=None):
    done = subprocess.run([*mpirun(n), heddle, *map(str, args)], capture_output=True, text=True, env=ENVIRONMENT, timeout=120, cwd=cwd,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def without(result, *keys):
    return {k: v for k, v in result.items() if k not in keys}


PROGRAMS = tempfile.TemporaryDirectory()


@functools.cache
def built(file):
    need_clang()
    program = os.path.join(PROGRAMS.name, os.path.basename(file).removesuffix(".cu"))
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", program, os.path.join(source, file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


# ---- heddle explore ----

def ranks_find_and_show_what_one_process_does():
    with tempfile.TemporaryDirectory() as d:
        def explored(call):
            status, out, err = call(*STACK, "--json", f"{d}/found.json", "-v")
            with open(f"{d}/found.json") as f:
                found = without(json.load(f), "seconds")
            counts, runs = next(line for line in out.splitlines() if line.startswith("graphs ")).split("; 3 threads, ")
            return status, [counts if line.startswith("graphs ") else line for line in out.splitlines()], found, int(runs.split()[0])
        alone = explored(run)
        assert alone[0] == 1 and alone[2]["graphs"] == 25680 and alone[2]["findings"], alone
        for n in some(1, (4, 2)):
            got = explored(lambda *args: run_ranks(n, *args))
            assert got[:3] == alone[:3], (n, got[2], alone[2])
            assert got[3] > alone[3], "each rank that takes part runs the threads once more"


def litmus_tests_of_ranks_have_the_same_results():
    with tempfile.TemporaryDirectory() as d:
        unpack(os.path.join(source, "tests/explore/litmus.tar.xz"), d)
        files = sorted(os.path.join(d, "litmus", f) for f in os.listdir(f"{d}/litmus") if f.endswith(".json"))
        results = []
        for call in (run, lambda *args: run_ranks(2, *args)):
            status, out, err = call("litmus", "--json", f"{d}/all.json", *files)
            assert (status, out) == (0, ""), out + err
            with open(f"{d}/all.json") as f:
                results.append([without(r, "seconds") for r in json.load(f)])
        assert results[0] == results[1] and len(results[0]) == len(files)


def steps_of_all_ranks_count_for_a_limit():
    for limit in some(1, (20000, 1000)):
        status, out, err = run_ranks(3, *LOCK, "--limit", limit)
        assert status == 3 and f"--limit {limit}: the search was ended" in out and "a part of all executions" in out, out + err
    status, out, err = run_ranks(3, "explore", f"{KERNELS}/ticket.ptx", "--grid", 3, "--block", 1, "u32[96]", 2, "--no-symmetry", "--limit", 100000)
    assert status == 0 and "explored: all executions, 0 findings" in out, out + err


def processes_with(mark):
    """Those whose command line has it, this one and zombies aside."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if mark.encode() in f.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def end_ranks(words, act):
    """Three ranks of a command that takes long, to which `act` happens, by the ids of mpirun and of the ranks; how it has ended, and who is left.
    In the words, FILE is one that it may write."""
    with tempfile.TemporaryDirectory() as d:
        mark = f"{d}/found.json"
        command = mpirun(3)  # which gives ranks so many seconds for what they have to say when they are to end
        command[1:1] = ["--mca", "odls_base_sigkill_timeout", "2"]
        process = subprocess.Popen([*command, heddle, *(mark if w == "FILE" else w for w in words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=ENVIRONMENT, stdin=subprocess.DEVNULL)
        while len(processes_with(mark)) < 4:
            time.sleep(0.05)
        time.sleep(1)
        act(process.pid, sorted(set(processes_with(mark)) - {process.pid}))
        out, err = process.communicate(timeout=60)
        deadline = time.monotonic() + 20
        while processes_with(mark) and time.monotonic() < deadline:
            time.sleep(0.1)
        return process.returncode, out, err, processes_with(mark), os.path.exists(mark)


def a_rank_that_is_lost_ends_the_search_with_an_error():
    for which in some(1, (1, 0)):
        status, out, err, left, written = end_ranks((*LOCK, "--json", "FILE"), lambda mpi, ranks: os.kill(ranks[which], signal.SIGKILL))
        assert status and "explored: all" not in out and "outcomes" not in out and not written and not left, (which, status, out, err, left)


def an_interrupted_search_says_what_is_known():
    """What it knows comes within the time that mpirun gives, except on a busy machine; that it was asked to end comes at once."""
    status, out, err, left, written = end_ranks((*LOCK, "--json", "FILE"), lambda mpi, ranks: os.kill(mpi, signal.SIGINT))
    assert status and "heddle: the search was interrupted" in err and not left, (status, out, err, left)
    assert ("not exhausted: the search was interrupted" in out and "explored: a part of all executions" in out) or "explored: all" not in out, (status, out, err)


# ---- heddle explore PROGRAM ----

LAUNCH = ("--no-symmetry", "--observe", "2[0]", "--workers", "1")


def program_of_tickets(folder):
    return shutil.copy(built("tests/ranks/tickets.cu"), folder)


def a_launch_of_a_program_is_explored_by_all_ranks():
    """Each runs the program as far as the launch; what it prints, and its status, are the first rank's."""
    with tempfile.TemporaryDirectory() as d:
        program = program_of_tickets(d)

        def explored(call, *words):
            status, out, err = call("explore", *words, "--examples", "--json", f"{d}/found.json", "-v", *LAUNCH, program, *more)
            with open(f"{d}/found.json") as f:
                found = without(json.load(f), "seconds")
            counts, runs = next(line for line in err.splitlines() if line.startswith("graphs ")).split("; 3 threads, ")
            return (status, out, [counts if line.startswith("graphs ") else line for line in err.splitlines()], found), int(runs.split()[0])
        for more, condition, status in ((), ("--require", "2[0] < 8"), 1), (("fail",), (), 7):
            alone = explored(run, *condition)
            assert alone[0][0] == status and alone[0][1] == "9\n" and alone[0][3]["complete"] and alone[0][3]["graphs"] >= 1680, alone
            for _ in range(5): # on a busy machine the first rank may be done before another one has started
                got = explored(lambda *args: run_ranks(3, *args), *condition)
                assert got[0] == alone[0], (got, alone)
                if got[1] > alone[1]: # where a rank begins with another's work, it runs threads again
                    break
            else:
                raise AssertionError(("no rank has taken work of the first one", got[1], alone[1]))


def a_rank_whose_program_is_lost_ends_the_search_with_an_error():
    with tempfile.TemporaryDirectory() as d:
        program = program_of_tickets(d)
        words = ("explore", *LAUNCH, "--json", "FILE", program, "long")
        for which in some(1, (2, 0)):  # of the programs; of the commands
            status, out, err, left, written = end_ranks(words, lambda mpi, ranks: os.kill(processes_with(program)[-1] if which else ranks[0], signal.SIGKILL))
            assert status and "explored: all" not in err and "outcomes" not in err and not written and not left, (which, status, out, err, left)
            assert not processes_with(program), "programs end with their ranks"


def ranks_whose_programs_differ_are_told_so():
    with tempfile.TemporaryDirectory() as d:
        program = program_of_tickets(d)
        for what in "other-memory", "other-constant":
            status, out, err = run_ranks(2, "explore", *LAUNCH, program, what)
            assert status == 2 and "rank 1 explores something else" in err and "outcomes" not in err, (what, status, err)


def a_launch_that_does_not_come_is_said_once():
    with tempfile.TemporaryDirectory() as d:
        program = program_of_tickets(d)
        status, out, err = run_ranks(2, "explore", "--kernel", "none", program)
        assert status == 2 and out == "9\n" and err.count("has launched no kernel `none`") == 1 and "rank" not in err, (status, out, err)
        words = "--no-symmetry", "--", program
        for first, second, says in (words, words + ("no",), "the program of rank 1 has not reached the launch"), (words + ("no",), words, "without launching a kernel"):
            done = subprocess.run([*mpirun(1), heddle, "explore", *first, ":", "-n", "1", heddle, "explore", *second], capture_output=True, text=True,
                                  env=ENVIRONMENT, timeout=60, stdin=subprocess.DEVNULL)
            assert done.returncode == 2 and says in done.stderr and "explored" not in done.stderr, done


# ---- heddle check --runs ----

def same_report(*words):
    """What one process prints, and its status: 1."""
    alone = run("check", *words)
    assert alone[0] == 1, alone
    for n in some(1, (3, 2)):
        got = run_ranks(n, "check", *words)
        assert got == alone, (n, got, alone)
    return alone


def runs_of_a_kernel_are_shared():
    with tempfile.TemporaryDirectory() as d:
        file = os.path.join(d, "race.ptx")
        with open(file, "w") as f:
            f.write(RACE)
        words = ["--runs", 12, "--policy", "serial", file, "k", "--grid", 2, "--block", 1, "u32[2]+print"]
        _, _, err = same_report(*words)
        assert "[data-race" in err and "again by: heddle check --policy random:" in err and err.endswith("1 error, 0 warnings in 12 runs\n"), err
        assert json.loads(same_report("--format", "json", *words)[1])["runs"] == 12


def runs_of_a_program_are_shared():
    program = built("tests/check_program/ways.cu")
    _, out, err = same_report("--runs", 12, "--seed", 3, "--tool", "initcheck", "--policy", "serial", program, "early")
    assert out == "cudaSuccess\n" and "again by: heddle check --policy random:" in err and err.endswith("1 error, 0 warnings in 12 runs\n"), err


def interrupted_runs_of_a_program_say_how_many_were_done():
    """At once: mpirun ends ranks soon after it has asked them to end, which on a busy machine comes before the report."""
    words = ("check", "--runs", "5000", "--save", "FILE", built("tests/check_program/ways.cu"))
    status, _, err, left, written = end_ranks(words, lambda mpi, ranks: os.kill(ranks[1], signal.SIGKILL))
    assert status and ("check:" not in err or "of 5000 runs were done" in err) and not left, (status, err, left)
    status, _, err, left, written = end_ranks(words, lambda mpi, ranks: os.kill(mpi, signal.SIGINT))
    assert status and "heddle: interrupted after " in err and " of 5000 runs\n" in err and not left, (status, err, left)


# ---- mistakes ----

def what_all_ranks_do_wrong_is_said_once():
    status, out, err = run_ranks(3, "explore", "nothing.ptx", "--grid", 1, "--block", 1)
    assert status == 2 and err.count("cannot read nothing.ptx") == 1, err


def ranks_that_explore_different_files_are_told_so():
    with tempfile.TemporaryDirectory() as d:
        with open(f"{KERNELS}/ticket.ptx") as f, open(f"{d}/ticket.ptx", "w") as g:
            g.write(f.read() + "\n// changed\n")
        words = ["--grid", "2", "--block", "1", "u32[96]", "1"]
        done = subprocess.run([*mpirun(1), heddle, "explore", f"{KERNELS}/ticket.ptx", *words, ":", "-n", "1", heddle, "explore", f"{d}/ticket.ptx", *words],
                              capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    assert done.returncode == 2 and "rank 1 explores something else" in done.stderr and "explored" not in done.stdout, done


def a_launcher_whose_ranks_cannot_be_connected_is_told_so():
    """Where no MPI is, or another one's launcher has begun the process: not the same search by each rank."""
    with tempfile.TemporaryDirectory() as d:
        copy = shutil.copy(heddle, d)
        for size, rank, name in (("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI"), ("PMI_SIZE", "PMI_RANK", "PMI"),
                                 ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"), ("PALS_SIZE", "PALS_RANKID", "PALS"),
                                 ("JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun"), ("FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux")):
            done = subprocess.run([copy, *STACK], capture_output=True, text=True, env={**os.environ, size: "8", rank: "0"}, timeout=60)
            assert done.returncode == 2 and not done.stdout, done
            assert f"started by " in done.stderr and name in done.stderr and "8 ranks" in done.stderr and "was built without MPI" in done.stderr, done
        done = subprocess.run([copy, *STACK], capture_output=True, text=True, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "1",
                                                                                  "OMPI_COMM_WORLD_RANK": "0"}, timeout=60)
        assert done.returncode == 1 and "outcomes" in done.stdout, "one rank is alone, and needs no MPI"


main(globals())
