"""The compiler is a process of its own, of which a program notices nothing; what it has made is kept on disk."""
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import MATMUL, RAGGED, SAXPY, build, compile_each_time, environment, need_compiler, written
from tap import launch, main, need_loadable_libraries, run, some


def without_the_compiler_jit_is_refused_and_auto_runs():
    gone = environment(HEDDLE_JIT="/nonexistent/heddle-jit")
    status, out, err = run("launch", *SAXPY, "--engine", "jit", env=gone)
    assert status != 0 and "cannot be compiled" in out + err and "heddle-jit: it is built if LLVM 19" in out + err, out + err
    status, out, err = run("launch", *MATMUL, "--engine", "auto", env=gone)
    assert status == 0, err


def kernels_are_kept_on_disk_and_damage_is_mended():
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(HEDDLE_CACHE=folder)
        args = ["launch", *RAGGED, "--engine", "jit", "--json"]

        def buffers():
            status, out, err = run(*args, env=env)
            assert status == 0, err
            return json.loads(out)["buffers"]

        expected = buffers()
        (entry,) = os.listdir(folder)
        path = os.path.join(folder, entry)
        whole = open(path, "rb").read()
        assert buffers() == expected
        assert open(path, "rb").read() == whole
        for damaged in whole[:100], whole[:-1], whole[:3000] + b"x" + whole[3001:], b"", whole + b"x":
            with open(path, "wb") as f:
                f.write(damaged)
            assert buffers() == expected
            assert open(path, "rb").read()[:8] == whole[:8] and os.path.getsize(path) == len(whole), len(damaged)
        status, out, _ = run("cache", env=env)
        assert status == 0 and "1 compiled kernel," in out, out
        status, out, _ = run("cache", "--clear", env=env)
        assert status == 0 and "removed" in out and not os.listdir(folder), out


def nothing_is_kept_where_that_is_asked_for():
    need_compiler()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(HEDDLE_CACHE="off", HOME=folder, XDG_CACHE_HOME=folder)
        status, _, err = run("launch", *SAXPY, "--engine", "jit", env=env)
        assert status == 0 and not os.listdir(folder), err
        status, out, _ = run("cache", env=env)
        assert status == 0 and "no compiled code is kept" in out, out


SIGNALS = {"abort": -6, "kill": -9}
WAYS = ["return", "exit", "_exit", "abort", "kill", "exec", "fork"]


def compilers(token):
    """Processes that compile for programs with this token in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                ours = f.read() == "heddle-jit\n"
            with open(f"/proc/{pid}/environ", "rb") as f: # that of a zombie is empty
                if ours and f"HEDDLE_TEST={token}".encode() in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


def ends(how, microseconds, **more):
    """Runs jit-ends; the lines it has written."""
    env = environment(LD_LIBRARY_PATH=build, HEDDLE_TEST=f"{os.getpid()}", HEDDLE_DEVICES="1", **more)
    done = subprocess.run([os.path.join(build, "tests", "jit-ends"), how, str(microseconds)], capture_output=True, text=True,
                          env=env, timeout=300)
    assert done.returncode == SIGNALS.get(how, 0), (how, microseconds, done.returncode, done.stdout, done.stderr)
    assert done.stderr == "", done.stderr
    return done.stdout.split()


def all_gone(token):
    for _ in range(100):
        if not compilers(token):
            return True
        time.sleep(0.05)
    return False


def programs_end_at_any_moment_of_compiling_as_they_want_to():
    """However they end: no crash, no word, no process that stays."""
    need_compiler()
    moments = random.Random(1)
    for number in some(50, range(200)):
        how = WAYS[number % len(WAYS)]
        engine = "jit" if number % 3 else "auto"
        assert ends(how, moments.randrange(100000), HEDDLE_ENGINE=engine) == ["began"], how
    assert all_gone(os.getpid())


def a_compiler_is_started_for_programs_and_ends_with_them():
    need_compiler()
    env = environment(LD_LIBRARY_PATH=build, HEDDLE_TEST=f"{os.getpid()}", HEDDLE_ENGINE="jit")
    program = subprocess.Popen([os.path.join(build, "tests", "jit-ends"), "exit", "20000000"], stdout=subprocess.PIPE, env=env)
    for _ in range(200):
        found = compilers(os.getpid())
        if found:
            break
        time.sleep(0.02)
    (compiler,) = found
    assert os.getsid(int(compiler)) == int(compiler)
    with open(f"/proc/{compiler}/stat") as f:
        assert f.read().split()[3] != str(program.pid)
    files = {fd: os.readlink(f"/proc/{compiler}/fd/{fd}") for fd in "012"}
    assert set(files.values()) == {"/dev/null"}, files
    maps = open(f"/proc/{program.pid}/maps").read()
    assert "LLVM" not in maps
    program.kill()
    program.wait()
    program.stdout.close()
    assert all_gone(os.getpid())


def a_program_that_closes_all_files_comes_to_its_end():
    need_compiler()
    for engine in "jit", "auto":
        assert ends("close", 30000, HEDDLE_ENGINE=engine) == ["began", "done"]


def a_compiler_that_is_killed_costs_speed_alone():
    need_compiler()
    env = environment(LD_LIBRARY_PATH=build, HEDDLE_TEST=f"{os.getpid()}", HEDDLE_ENGINE="auto", HEDDLE_LOG="engine")
    program = subprocess.Popen([os.path.join(build, "tests", "jit-ends"), "finish", "0"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=env)
    while program.poll() is None:
        for pid in compilers(os.getpid()):
            try:
                os.kill(int(pid), 9)
            except ProcessLookupError:
                pass
    out, err = program.communicate()
    assert out.split() == ["began", "done"] and program.returncode == 0, out + err
    assert "stays in the interpreter" in err, err


def a_compiler_waits_for_its_first_request_as_long_as_that_takes():
    need_compiler()
    ours, theirs = socket.socketpair()
    with ours:
        compiler = subprocess.Popen(["sh", "-c", f'exec "$0" 3<&{theirs.fileno()} 4<&-', os.path.join(build, "heddle-jit")],
                                    pass_fds=[theirs.fileno()])
        theirs.close()
        assert len(ours.recv(28, socket.MSG_WAITALL)) == 28  # struct wire_hello
        time.sleep(10.5)  # IDLE_MS and some more
        assert compiler.poll() is None
    assert compiler.wait(10) == 0


def kernel(name, accesses, rounds):
    """PTX of one with as many atomic accesses, and all that so many times over. 3,900 take seconds to compile."""
    lines = "\n".join(f"atom.global.add.u32 %r{i % 8}, [%o + {4 * (i % 8)}], %r{i * 3 % 8};" for i in range(accesses))
    return f""".visible .entry {name}(.param .u64 out) {{
.reg .u32 %r<8>, %n; .reg .u64 %o; .reg .pred %p;
ld.param.u64 %o, [out];
ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%o]; ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%o + 16];

mov.u32 %n, {rounds};
again:
{lines}
sub.u32 %n, %n, 1;
setp.ne.u32 %p, %n, 0;
@%p bra again;

ret;
}}
"""


def hurried(folder):
    """A compiler with a hard limit of two seconds of processor time, of which it keeps the last one to say so."""
    path = os.path.join(folder, "hurried")
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\nulimit -t 2\nexec '{build}/heddle-jit'\n")
    os.chmod(path, 0o755)
    return path


TOO_LONG = "compiling it took more than 1 seconds of processor time"


def a_compilation_has_an_end():
    need_compiler()
    with tempfile.TemporaryDirectory() as folder, written(kernel("k", 15000, 1)) as path:
        env = environment(HEDDLE_JIT=hurried(folder), HEDDLE_LOG="engine")
        args = ["launch", path, "k", "--grid", "1", "--block", "1", "u32[8]"]
        status, out, err = run(*args, "--engine", "jit", env=env)
        assert status != 0 and "cannot be compiled: " + TOO_LONG in out + err, out + err
        status, out, err = run(*args, env={**env, "HEDDLE_ENGINE": "jit"})
        assert status == 0 and "stays in the interpreter: " + TOO_LONG in err, out + err


# Launches `slow` with two shapes of blocks, and `quick`, each until the file that is its stderr says what has become of it.
LAUNCHES = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def ok(status):
    assert status == 0, status
context, module, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
ok(cuda.cuInit(0))
ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
ok(cuda.cuCtxSetCurrent(context))
ok(cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
ok(cuda.cuMemAlloc_v2(ctypes.byref(memory), 32))
for name, threads, until, times in ("slow", 1, "stays", 1), ("slow", 2, "stays", 2), ("quick", 1, "; quick:", 1):
    f = ctypes.c_void_p()
    ok(cuda.cuModuleGetFunction(ctypes.byref(f), module, name.encode()))
    params = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    while open(sys.argv[2]).read().count(until) < times:
        ok(cuda.cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, None, params, None))
        ok(cuda.cuCtxSynchronize())
"""


def what_takes_too_long_is_not_tried_again_and_others_are():
    need_compiler()
    need_loadable_libraries()
    with tempfile.TemporaryDirectory() as folder, written(kernel("slow", 3900, 200) + kernel("quick", 10, 40000)) as path:
        said = os.path.join(folder, "said")
        env = environment(HEDDLE_JIT=hurried(folder), HEDDLE_LOG="engine", HEDDLE_DUMP="time", LD_LIBRARY_PATH=build)
        with open(said, "w") as f:
            subprocess.run([sys.executable, "-c", LAUNCHES, path, said], stderr=f, env=env, check=True, timeout=120)
        text = open(said).read()
        assert text.count("; slow:") == 1 and text.count("kernel `slow` stays in the interpreter: " + TOO_LONG) == 2, text


def a_compiler_that_cannot_be_started_is_named():
    for program, why in ("/nonexistent/heddle-jit", "there is no /nonexistent/heddle-jit"), ("/bin/true", "does not start"):
        out = ends("finish", 0, HEDDLE_ENGINE="auto", HEDDLE_JIT=program)
        assert out == ["began", "done"]
        status, out, err = run("launch", *SAXPY, "--engine", "jit", env=environment(HEDDLE_JIT=program))
        assert status != 0 and why in out + err, out + err
        status, out, err = run("launch", *SAXPY, "--engine", "auto", env=environment(HEDDLE_JIT=program))
        assert status == 0, err


compile_each_time()
main(globals())
