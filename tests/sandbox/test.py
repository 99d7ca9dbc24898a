"""The sandbox of `heddle launch`, `check` and `run`: what it keeps in, and that whatever the command line asks for goes on inside.
tests/unit/test_sandbox.c tries the system calls one by one. Prints TAP."""
import contextlib
import ctypes
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import SAXPY, compile_each_time, environment, need_compiler  # noqa: E402
from tap import SANITIZED, Skip, examples, heddle, launch, main, need_loadable_libraries, run, source, values  # noqa: E402

folder = tempfile.TemporaryDirectory()

# Each thread adds to the cell, a million millions of times: long enough to be looked at.
LONG = """.version 7.0
.target sm_75
.address_size 64
.visible .entry long(.param .u64 cell)
{
    .reg .u64 %rd<3>; .reg .pred %p;
    ld.param.u64 %rd1, [cell];
    mov.u64 %rd2, 0;
MORE:
    red.global.add.u64 [%rd1], 1;
    add.u64 %rd2, %rd2, 1;
    setp.lt.u64 %p, %rd2, 1000000000000;
    @%p bra MORE;
    ret;
}
"""

# Stores behind the end of its buffer, at a line of CUDA.
FAULT = """.version 7.0
.target sm_75
.address_size 64
.visible .entry fault(.param .u64 p)
{
    .reg .u64 %%rd; .reg .u32 %%r;
    .loc 1 2 1
    ld.param.u64 %%rd, [p];
    mov.u32 %%r, 1;
    st.global.u32 [%%rd+4096], %%r;
    ret;
}
.file 1 "%s"
"""


def path(*names):
    return os.path.join(folder.name, *names)


def write(name, text):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path(name)


def need_sandbox(command="launch"):
    if SANITIZED:
        raise Skip("sanitizers need more of the system than the sandbox allows")
    status, _, err = run(command, *SAXPY, "--sandbox")
    if status:
        raise Skip(err.strip())


def processes(word):
    """Ids of processes whose command line begins with the word."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
            if f.read().split(b"\0")[0] == word.encode():
                found.append(int(pid))
    return found


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


def facts(pid):
    """What /proc says of each thread: /proc/PID/task/TID/status. None of a process that is gone."""
    with contextlib.suppress(FileNotFoundError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as f:
                yield dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def until(condition, seconds=300 if SANITIZED else 60):
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)
    return result


@contextlib.contextmanager
def running(*args, **env):
    """A launch of LONG, which is killed at the end."""
    process = subprocess.Popen([heddle, "launch", write("long.ptx", LONG), "--grid", "4", "--block", "64", *args, "u64[1]"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(**env))
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        return [line.split() for line in f]


def has_code(pid):
    """Is there memory that can be executed, and is of no file: a kernel's?"""
    return any("x" in m[1] and len(m) == 5 for m in mappings(pid))


# ---- what is inside ----


def all_threads_of_a_launch_are_inside_and_so_is_the_compiler():
    need_sandbox()
    need_compiler()
    compiler = path("own-heddle-jit")
    os.symlink(os.path.realpath(os.path.join(os.path.dirname(heddle), "heddle-jit")), compiler)
    with running("--engine", "jit", "--workers", "3", HEDDLE_JIT=compiler, HEDDLE_TIER="1") as process:
        until(lambda: has_code(process.pid))
        inside = list(facts(process.pid))
        assert len(inside) >= 3
        (compiling,) = until(lambda: processes(compiler))
        inside += facts(compiling)
        for f in inside:
            assert f["Seccomp"] == "2" and f["NoNewPrivs"] == "1", f
        for pid in process.pid, compiling:
            with open(f"/proc/{pid}/limits", encoding="ascii") as limits:
                assert re.search(r"^Max core file size +0 +0 ", limits.read(), re.M)


def compiled_code_can_be_executed_or_written_and_never_both():
    need_compiler()
    for more in [], ["--no-sandbox"]:
        with running("--engine", "jit", *more) as process:
            seen = []
            until(lambda: seen.extend(mappings(process.pid)) or has_code(process.pid))
            seen.extend(mappings(process.pid))
            assert not [m for m in seen if "w" in m[1] and "x" in m[1]]


def the_broker_ends_with_the_launch_however_that_ends():
    need_sandbox()
    for number in signal.SIGTERM, signal.SIGKILL:
        with running() as process:
            (broker,) = until(lambda: children(process.pid))
            process.send_signal(number)
            process.wait(timeout=60)
            until(lambda: next(facts(broker), {"State": "Z"})["State"].startswith("Z"))


def an_interrupt_ends_a_launch_inside():
    with running() as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 1
        assert b"cancelled" in process.stderr.read()


def a_call_that_nothing_in_heddle_makes_is_named_and_ends_it():
    need_sandbox()
    source = write("escape.c", """
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
int puts(const char *text) { return socket(AF_INET, SOCK_STREAM, 0) + ((int (*)(const char *))dlsym(RTLD_NEXT, "puts"))(text); }
""")
    subprocess.run(["cc", "-w", "-D_GNU_SOURCE", "-shared", "-fPIC", source, "-o", path("escape.so"), "-ldl"], check=True)
    quiet = [*SAXPY[:-2], "f32[1000]+hide", "f32[1000]+hide"]
    status, _, err = run("launch", *quiet, env=environment(LD_PRELOAD=path("escape.so")))
    assert status == -signal.SIGSYS, (status, err)
    assert "system call `socket`" in err and "please report" in err and "--no-sandbox" in err, err
    assert run("launch", *quiet, "--no-sandbox", env=environment(LD_PRELOAD=path("escape.so")))[0] == 0


def a_library_that_opens_files_is_told_no_and_goes_on():
    source = write("opens.c", """
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
int puts(const char *text)
{
    printf("%d\\n", open("/etc/passwd", O_RDONLY) < 0 ? errno : 0);
    return ((int (*)(const char *))dlsym(RTLD_NEXT, "puts"))(text);
}
""")
    need_sandbox()
    subprocess.run(["cc", "-w", "-D_GNU_SOURCE", "-shared", "-fPIC", source, "-o", path("opens.so"), "-ldl"], check=True)
    status, out, err = run("launch", *SAXPY[:-2], "f32[1000]+hide", "f32[1000]+hide", env=environment(LD_PRELOAD=path("opens.so")))
    assert (status, err) == (0, "") and out.startswith("1\nno buffer was changed\n"), (status, out, err)


# ---- what goes on inside ----


def saxpy(*more):
    return SAXPY[:-2] + list(more)


def results_are_those_without_a_sandbox():
    for more in [], ["--engine", "jit"], ["--policy", "random:7"], ["--policy", "serial", "--check"], ["--workers", "1"], ["--repeat", "3"]:
        if "jit" in more:
            need_compiler()
        inside, outside = (launch(*SAXPY, *more, *switch) for switch in ([], ["--no-sandbox"]))
        assert values(inside, 4) == values(outside, 4)
        assert inside["stats"]["warp_instructions"] == outside["stats"]["warp_instructions"]


def files_of_arguments_are_read_and_written():
    x = path("x y+1;.bin")
    with open(x, "wb") as f:
        f.write(struct.pack("<1000f", *range(1000)))
    saved = path("saved.npy")
    launch(*saxpy(f"f32[1000]=@{x}", f"f32[1000]=ones+print+save:{saved}"))
    again = launch(*saxpy(f"@{saved}", "f32[1000]=@" + saved + "+sum+print"), cwd=folder.name)
    assert values(again, 4)[:3] == [3, 9, 15], values(again, 4)
    assert not [name for name in os.listdir(folder.name) if name.startswith("saved.npy.")]
    status, out, _ = run("launch", *saxpy("f32[1000]+hide", "f32[1000]+hide+save:/dev/stdout"))
    assert status == 0 and out.startswith("\0" * 4000), out


def closed_standard_output_is_nobodys_connection():
    x = path("closed.npy")
    script = f'exec "$0" launch {SAXPY[0]} --grid 4 --block 256 1000 2.0 "f32[1000]=range" "f32[1000]+save:{x}" "$@" <&- >&- 2>&-'
    for more in [], ["--engine", "interp"], ["--no-sandbox"]:
        subprocess.run(["sh", "-c", script, heddle, *more], timeout=60, check=False)
        assert os.path.getsize(x) == 4128, more
        os.remove(x)


def files_that_cannot_be_read_or_written_have_the_words_they_have_outside():
    for argument in "f32[1000]=@" + path("none"), "f32[1000]+save:" + path("none", "x.npy"), "@" + folder.name:
        inside, outside = (run("launch", *saxpy("f32[1000]", argument), *switch) for switch in ([], ["--no-sandbox"]))
        assert inside == outside and inside[0] == 2, (inside, outside)


def schedules_and_timelines_are_written():
    status, _, err = run("launch", *SAXPY, "--policy", "random:3", "--record", path("schedule"), "--trace", path("trace.json"))
    assert status == 0, err
    with open(path("trace.json"), encoding="utf-8") as f:
        assert len(json.load(f)["traceEvents"]) > 10
    assert run("launch", *SAXPY, "--policy", "replay:" + path("schedule"))[0] == 0


def the_compiler_says_what_it_does_and_perf_is_told():
    need_compiler()
    process = subprocess.Popen([heddle, "launch", *map(str, SAXPY), "--engine", "jit"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment(HEDDLE_DUMP="ir,asm,time", HEDDLE_PERF="1"))
    _, err = process.communicate(timeout=60)
    for word in "; IR of", "; assembly of", "instructions, shapes in":
        assert word in err, err
    names = f"/tmp/perf-{process.pid}.map"
    with open(names, encoding="utf-8") as f:
        assert "saxpy" in f.read()
    os.remove(names)


def a_second_compilation_happens_inside():
    need_compiler()
    cache = path("tiers")
    with running("--engine", "auto", HEDDLE_CACHE=cache):
        until(lambda: os.path.isdir(cache) and len([f for f in os.listdir(cache) if f.endswith(".code")]) == 2)


def the_compilers_failure_is_a_sentence():
    status, _, err = run("launch", *SAXPY, "--engine", "jit", env=environment(HEDDLE_JIT="/bin/false"))
    assert status == 1 and "/bin/false does not start" in err, err


def compiled_code_is_kept_for_the_next_launch_in_a_sandbox_and_for_no_other():
    need_sandbox()
    need_compiler()
    cache = path("cache")
    entries = lambda: sorted(os.listdir(cache))
    once = lambda *more: launch(*SAXPY, "--engine", "jit", *more, env=environment(HEDDLE_CACHE=cache))
    once()
    first = entries()
    assert len(first) == 1
    os.utime(os.path.join(cache, first[0]), (0, 0))
    once()
    assert entries() == first and os.stat(os.path.join(cache, first[0])).st_mtime > 0  # used, not made again
    once("--no-sandbox")
    assert len(entries()) == 2
    os.utime(os.path.join(cache, first[0]), (0, 0))
    once("--no-sandbox")
    assert len(entries()) == 2 and os.stat(os.path.join(cache, first[0])).st_mtime == 0


def lines_of_CUDA_are_shown_of_sources_beside_the_PTX_and_of_nothing_else():
    need_sandbox()
    secret = "first\nthe secret line\n"
    write("mine/near.cu", secret)
    write("mine/near.txt", secret)
    write("yours/far.cu", secret)
    os.symlink(path("yours", "far.cu"), path("mine", "link.cu"))
    for name, shown in ("near.cu", True), ("../mine/near.cu", True), (path("mine", "near.cu"), True), ("near.txt", False), \
            (path("yours", "far.cu"), False), ("../yours/far.cu", False), ("link.cu", False), ("/etc/passwd", False):
        for command in "launch", "check":
            status, _, err = run(command, write("mine/fault.ptx", FAULT % name), "--grid", 1, "--block", 1, "u32[4]",
                                 "--sandbox", cwd="/")
            assert status == 1 and os.path.basename(name) + ":2: error" in err, err
            assert ("the secret line" in err) == shown and "root:" not in err, (name, err)


# ---- the options ----


def the_options_contradict_each_other():
    status, _, err = run("launch", *SAXPY, "--sandbox", "--no-sandbox")
    assert status == 2 and "contradict" in err, err


def without_filters_a_launch_goes_on_and_says_so_where_it_is_asked():
    """seccomp(2) fails under a filter that refuses it, as in containers of old."""
    need_sandbox()
    refuse = write("refuse.py", """
import ctypes, os, struct, sys
c = ctypes.CDLL(None)
number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
i = lambda code, jt, jf, k: struct.pack("HBBI", code, jt, jf, k)
code = i(0x20, 0, 0, 0) + i(0x15, 0, 1, number) + i(0x06, 0, 0, 0x50000 | 38) + i(0x06, 0, 0, 0x7fff0000)
buffer = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))
assert c.prctl(38, 1, 0, 0, 0) == 0 and c.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
""")
    def under(*args):
        done = subprocess.run([sys.executable, refuse, heddle, *map(str, args)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    status, _, err = under("launch", *SAXPY)
    assert (status, err) == (0, ""), err
    status, _, err = under("launch", *SAXPY, "-v")
    assert status == 0 and "without a sandbox: the system has no seccomp filters" in err, err
    status, _, err = under("launch", *SAXPY, "--sandbox")
    assert status == 1 and "--sandbox is not possible here" in err, err
    status, _, err = under("run", "--sandbox", "true")
    assert status == 126 and "--sandbox is not possible here" in err, err


# ---- heddle run ----


def confined(script, **env):
    need_loadable_libraries()
    os.makedirs(path("here"), exist_ok=True)
    os.makedirs(path("temporary"), exist_ok=True)
    os.makedirs(path("elsewhere"), exist_ok=True)
    status, out, err = run("run", "--sandbox", "sh", "-c", script, cwd=path("here"), env=environment(TMPDIR=path("temporary"), **env))
    if status == 126:
        raise Skip(err.strip())
    return status, out, err


def a_program_writes_below_its_folder_and_the_temporary_one_alone():
    status, out, err = confined("""
        echo 1 >file && mkdir -p folder && mv file folder/ && echo 2 >$TMPDIR/file && rm $TMPDIR/file && echo 3 >/dev/null || echo bad
        for command in 'echo >../elsewhere/file' 'mkdir ../elsewhere/folder' 'mv folder/file ../elsewhere/' 'ln -s x ../elsewhere/link'; do
            sh -c "$command" 2>/dev/null && echo "$command"
        done
        cat folder/file /etc/hostname >/dev/null && echo end""")
    assert (status, out) == (0, "end\n"), (out, err)
    assert os.listdir(path("elsewhere")) == []


def a_program_has_no_network_and_no_way_to_other_processes():
    script = write("try.py", """
import os, socket, subprocess
for family in socket.AF_INET, socket.AF_INET6, socket.AF_UNIX:
    try:
        socket.socket(family, socket.SOCK_DGRAM)
        print("a socket", family)
    except OSError:
        pass
one, other = socket.socketpair()
one.send(b"pairs work")
print(other.recv(99).decode())
print(subprocess.run(["grep", "NoNewPrivs", "/proc/self/status"], capture_output=True, text=True).stdout.split()[-1])
""")
    status, out, err = confined(f"{sys.executable} {script}")
    assert (status, out) == (0, "pairs work\n1\n"), (out, err)


def outcomes(program, *arguments):
    """What a confined program says of each thing that it tries, at a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(path("here"))
        os.execve(heddle, [heddle, "run", "--sandbox", program, *map(str, arguments)], environment(TMPDIR=path("temporary")))
    told = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while part := os.read(terminal, 4096):
            told += part
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0, told
    return dict(line.split() for line in told.decode().split("\r\n") if line)


def the_list_of_what_a_program_can_reach_is_whole():
    """docs/SECURITY.md has it; all else fails, and has no effect outside."""
    confined("true")
    subprocess.run(["cc", "-w", "-D_GNU_SOURCE", "-o", path("reach"), os.path.join(source, "tests", "sandbox", "reach.c"), "-lrt"], check=True)
    libc = ctypes.CDLL(None)
    with open(os.path.join(source, "docs", "SECURITY.md"), encoding="utf-8") as f:
        rows = re.search(r"\| tried as \|\n\|---\|---\|\n((?:\|.*\n)+)", f.read())[1].splitlines()
    listed = {name: "6.12" in row for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[2])}
    landlock = libc.syscall(444, None, 0, 1)
    other = write("elsewhere/file", "untouched")
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as hears, subprocess.Popen(["sleep", "100"]) as victim:
        hears.bind(path("hears"))
        memory = libc.shmget(0, 4096, 0o1600)
        try:
            found = outcomes(path("reach"), victim.pid, memory, path("hears"), other)
            assert victim.poll() is None or landlock < 6
            assert os.getpriority(os.PRIO_PROCESS, victim.pid) == os.getpriority(os.PRIO_PROCESS, 0) or landlock < 6
            hears.setblocking(False)
            try:
                assert not hears.recv(99)
            except BlockingIOError:
                pass
        finally:
            victim.kill()
            assert libc.shmctl(memory, 0, None) == 0  # it is still there
    with open(other, encoding="utf-8") as f:
        assert f.read() == "untouched"
    assert os.listdir(path("elsewhere")) == ["file"] and not os.path.exists("/dev/shm/heddle-reach")
    os.remove(other)
    done = {name for name, result in found.items() if result == "done"}
    sure = {name for name, old in listed.items() if not old}
    unsure = {name for name, old in listed.items() if old and landlock < 6}
    if subprocess.run(["unshare", "-r", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        unsure |= {"own-shared-memory", "own-queue", "own-system-v"}
    with open("/proc/filesystems", encoding="ascii") as f:
        if "mqueue" not in f.read().split():
            unsure.add("own-queue")
    assert done - unsure == sure - unsure and done <= set(listed), (done ^ sure, found)
    assert found["new-call"] == "ENOSYS" and len(found) > 100, found  # which C libraries go back from


def a_confined_program_starts_others_and_threads_and_has_shared_memory():
    script = write("many.py", """
import multiprocessing, os, subprocess, threading
def work(x): return x + 1
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(work, [1, 2]))
    thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
    print(subprocess.run("echo $((1 + 1)) | cat", shell=True, capture_output=True, text=True).stdout.strip())
""")
    status, out, err = confined(f"{sys.executable} {script}")
    if os.path.exists("/dev/shm") and not subprocess.run(["unshare", "-r", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        assert (status, out) == (0, "[2, 3]\nthread\n2\n"), (out, err)


def programs_go_on_where_attributes_and_threads_processors_are_refused():
    """As on file systems without attributes; and the C library starts no thread whose processors it cannot set."""
    with open(path("threads.c"), "w", encoding="utf-8") as f:
        f.write("""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static void *work(void *to) { return *(int *)to = 1, to; }
int main(void)
{
    int ran = 0;
    cpu_set_t all;
    pthread_t t;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_getaffinity_np(pthread_self(), sizeof all, &all);
    pthread_attr_setaffinity_np(&a, sizeof all, &all);
    int error = pthread_create(&t, &a, work, &ran);
    if (!error)
        pthread_join(t, NULL);
    printf("%d %d\\n", error, ran);
}""")
    confined("true")
    subprocess.run(["cc", "-o", path("threads"), path("threads.c"), "-pthread"], check=True)
    assert confined("echo a >from && cp -a from to && cat to && ionice -c 3 echo b") == (0, "a\nb\n", "")
    assert confined(path("threads")) == (0, "0 1\n", "")


def capabilities_that_are_inherited_are_given_up():
    inherits = "+sys_admin,+kill,+mknod,+chown"
    confined("true")
    if os.geteuid() or subprocess.run(["setpriv", f"--inh-caps={inherits}", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("it takes root's capabilities")
    done = subprocess.run(["setpriv", f"--inh-caps={inherits}", heddle, "run", "--sandbox", "grep", "^Cap", "/proc/self/status"],
                          capture_output=True, text=True, cwd=path("here"))
    has = {int(line.split()[1], 16) for line in done.stdout.splitlines()}
    assert done.returncode == 0 and has <= {0, 1 << 0, 0xdf}, done


def a_program_is_not_confined_to_all_files():
    confined("true")
    for folders in {"cwd": "/"}, {"cwd": path("here"), "env": environment(TMPDIR="/")}:
        status, out, err = run("run", "--sandbox", "echo", "ran", **folders)
        assert (status, out) == (126, "") and "which is /" in err and "choose another folder" in err, (status, out, err)


def a_confined_program_confines_another():
    status, out, err = confined('"$HEDDLE" run --sandbox sh -c "echo >../elsewhere/file || echo refused"; "$HEDDLE" launch --sandbox $SAXPY f32[1000]+hide f32[1000]+hide',
                                HEDDLE=heddle, SAXPY=" ".join(map(str, SAXPY[:-2])))
    assert out.startswith("refused\n") and "saxpy" in out, (status, out, err)


def a_program_is_checked_where_it_is_confined():
    confined("true")
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", path("here/sum"), os.path.join(examples, "race", "sum.cu")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    status, out, err = run("check", "--sandbox", "sh", "-c", "./sum; echo >../elsewhere/file || echo refused", cwd=path("here"),
                           env=environment(TMPDIR=path("temporary")))
    assert status == 1 and "data-race" in err and out.endswith("refused\n"), (out, err)
    assert os.listdir(path("elsewhere")) == []


def exit_status_and_output_of_a_confined_program_pass_through():
    assert confined("cat; echo error >&2; exit 7")[::2] == (7, "error\n")


def a_sandbox_without_descriptors_says_so():
    """However few are left: from hardly any to enough."""
    need_sandbox()
    failed = 0
    for n in range(6, 20):
        done = subprocess.run(["prlimit", f"--nofile={n}", heddle, "launch", *map(str, SAXPY)], capture_output=True, text=True, timeout=60)
        if done.returncode:
            failed += 1
            assert done.stderr.startswith("heddle: the sandbox cannot be entered: there are no more file descriptors for this "
                                          "process: raise `ulimit -n` (--no-sandbox"), (n, done.stderr)
    assert 0 < failed < 14, failed


compile_each_time()
main(globals())
