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
from both import MATMUL, RAGGED, SAXPY, build, environment, need_compiler, written
from tap import launch, main, run


def without_the_compiler_jit_is_refused_and_auto_runs():
    gone = environment(HEDDLE_JIT="/nonexistent/heddle-jit")
    status, out, err = run("launch", *SAXPY, "--engine", "jit", env=gone)
    assert status != 0 and "cannot be compiled" in out + err and "heddle-jit is not there" in out + err, out + err
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
    for number in range(200):
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


def a_compiler_that_cannot_be_started_is_named():
    for program, why in ("/nonexistent/heddle-jit", "is not there"), ("/bin/true", "does not start"):
        out = ends("finish", 0, HEDDLE_ENGINE="auto", HEDDLE_JIT=program)
        assert out == ["began", "done"]
        status, out, err = run("launch", *SAXPY, "--engine", "jit", env=environment(HEDDLE_JIT=program))
        assert status != 0 and why in out + err, out + err
        status, out, err = run("launch", *SAXPY, "--engine", "auto", env=environment(HEDDLE_JIT=program))
        assert status == 0, err


main(globals())
