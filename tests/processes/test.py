"""Handles of memory and events that are forged, damaged and out of date; peers that end, shrink files, are another user's; forks."""
import contextlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import tap

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT = os.path.join(tap.source, "tests", "cuda")

# A process that shares memory with the number 7 in it, and an event; it then does what its stdin says, line by line.
EXPORTER = """
import os, sys
context, module = start()
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(1 << 20))
check(cuda.cuMemsetD32_v2(p, 7, ctypes.c_size_t(1 << 18)))
memory, event = (ctypes.c_char * 64)(), (ctypes.c_char * 64)()
check(cuda.cuIpcGetMemHandle(memory, p))
e = out(ctypes.c_void_p, cuda.cuEventCreate, 2 | 4)
check(cuda.cuIpcGetEventHandle(event, e))
print(memory.raw.hex(), event.raw.hex(), flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""

OPEN = """
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]
def handle(data):
    h = Handle(); ctypes.memmove(ctypes.addressof(h), bytes(data), 64); return h
def open_memory(data):
    p = ctypes.c_uint64()
    return cuda.cuIpcOpenMemHandle_v2(ctypes.byref(p), handle(data), 1), p
def open_event(data):
    e = ctypes.c_void_p()
    return cuda.cuIpcOpenEventHandle(ctypes.byref(e), handle(data))
def word(p):
    return ctypes.c_uint32.from_address(p.value).value
context, module = start()
"""


def environment(**more):
    return dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **more)


def python(code, expect=0, **more):
    """Runs Python with client.py's names and those of OPEN."""
    done = subprocess.run([sys.executable, "-c", "from client import *\n" + code], capture_output=True, text=True,
                          timeout=20, env=environment(), **more)
    assert done.returncode == expect, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


class Exporter:
    def __init__(self, **more):
        self.process = subprocess.Popen([sys.executable, "-c", "from client import *\n" + EXPORTER], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), **more)
        self.memory, self.event = (bytes.fromhex(h) for h in self.process.stdout.readline().split())

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", line

    def forged(self, **fields):
        """The handle of memory with other fields: magic, process, file, number, offset, bytes."""
        names = "magic", "process", "file", "number", "offset", "bytes"
        values = dict(zip(names, struct.unpack_from("8siiQQQ", self.memory)), **fields)
        return struct.pack("8siiQQQ", *(values[n] for n in names)).ljust(64, b"\0")

    @property
    def file(self):
        return struct.unpack_from("8siiQQQ", self.memory)[2]


@contextlib.contextmanager
def exporter(**more):
    e = Exporter(**more)
    try:
        yield e
    finally:
        e.process.kill()
        e.process.wait()
        e.process.stdin.close()
        e.process.stdout.close()


def damaged_handles_are_refused():
    """Any byte that matters, changed: an error, and no memory beyond the other process's."""
    with exporter() as e:
        python(f"""{OPEN}
memory, event = bytes.fromhex("{e.memory.hex()}"), bytes.fromhex("{e.event.hex()}")
r, p = open_memory(memory)
assert r == 0 and word(p) == 7 and open_event(event) == 0
check(cuda.cuIpcCloseMemHandle(p))
for whole, opened in (memory, open_memory), (event, open_event):
    for at in range(40):
        for change in 1, 0x40, 0x80, 0xff:
            damaged = bytearray(whole)
            damaged[at] ^= change
            r = opened(damaged)
            code = r[0] if isinstance(r, tuple) else r
            thread = code == 0 and 8 <= at < 12 # of the same process, by chance
            inside = code == 0 and opened is open_memory and (at >= 24 or thread)
            if inside: # a part of the same file, which is all the other process's
                check(cuda.cuIpcCloseMemHandle(r[1]))
            assert code in (1, 201, 205) or inside or thread, (at, change, code)
""")


def sizes_that_lie_are_refused():
    with exporter() as e:
        lies = [dict(bytes=0), dict(bytes=1 << 40), dict(bytes=2**64 - 1), dict(offset=2**64 - 4096),
                dict(offset=2**64 - 4096, bytes=8192), dict(offset=1 << 40), dict(offset=2**63, bytes=2**63)]
        handles = [e.forged(**lie).hex() for lie in lies]
        python(f"""{OPEN}
for text in {handles}:
    assert open_memory(bytes.fromhex(text))[0] == 1, text
""")


def handles_that_name_other_files_are_refused_unopened():
    """A FIFO, a device, a file: what a forged handle names is not opened, which could wait, or do something."""
    with exporter() as e, tempfile.TemporaryDirectory() as folder:
        pipe, plain = os.path.join(folder, "pipe"), os.path.join(folder, "plain")
        e.do(f"os.mkfifo('{pipe}'); open('{plain}', 'w').write('x' * (2 << 20))")
        for n, opening in enumerate([f"os.open('{pipe}', os.O_RDWR)", f"os.open('{plain}', os.O_RDWR)",
                                     "os.open('/dev/zero', os.O_RDWR)", "os.open('/', os.O_RDONLY)",
                                     "os.memfd_create('other')", "__import__('socket').socket().detach()"]):
            e.do(f"os.dup2({opening}, {200 + n})")
        e.do("os.ftruncate(os.dup2(os.memfd_create('heddle-memory'), 206), 1 << 21)")
        handles = [e.forged(file=200 + n, number=os.stat(plain).st_ino if n == 1 else 0).hex() for n in range(7)]
        python(f"""{OPEN}
for text in {handles}:
    assert open_memory(bytes.fromhex(text))[0] == 1, text
""")


def shared_memory_cannot_be_taken_away():
    """Neither by shrinking its file, which would end whoever touches it by a signal, nor by the other process's end."""
    with exporter() as e:
        e.do(f"""
try: os.ftruncate({e.file}, 0); raise SystemExit(1)
except PermissionError: pass
""".strip().replace("\n", "\\n").join(["exec('''", "''')"]))
        peer = subprocess.Popen([sys.executable, "-c", f"""from client import *
{OPEN}
r, p = open_memory(bytes.fromhex("{e.memory.hex()}"))
assert r == 0 and word(p) == 7
print("open", flush=True)
input()
assert word(p) == 7
launch(function(module, "poke"), p)
check(cuda.cuCtxSynchronize())
assert word(p) == 1
check(cuda.cuIpcCloseMemHandle(p))
r, p = open_memory(bytes.fromhex("{e.memory.hex()}"))
assert r == 205, r
"""], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        assert peer.stdout.readline() == "open\n"
        e.process.kill()
        e.process.wait()
        _, err = peer.communicate("go on\n", timeout=60)
        assert peer.returncode == 0, err


def files_from_elsewhere_are_no_memory():
    """cuMemImportFromShareableHandle of a file that its owner could shrink, of a pipe, of a number that is none."""
    python(f"""{OPEN}
import os
def imported(fd):
    h = ctypes.c_uint64()
    return cuda.cuMemImportFromShareableHandle(ctypes.byref(h), ctypes.c_void_p(fd), 1)
foreign = os.memfd_create("heddle-memory")
os.ftruncate(foreign, 2 << 20)
for fd in foreign, os.pipe()[0], os.open("/dev/zero", os.O_RDWR), os.open("/etc/passwd", os.O_RDONLY), 999, 2**31 - 1:
    assert imported(fd) == 1, fd
""")


def another_users_memory_is_not_opened():
    if os.getuid() != 0:
        raise tap.Skip("only root can be two users")
    one, other = (dict(user=n, group=n, extra_groups=[], executable="/usr/bin/python3") for n in (1, 2))
    try:
        subprocess.run(["python3", "-c", "from client import *"], env=environment(), check=True, capture_output=True, **one)
    except (OSError, subprocess.CalledProcessError):
        raise tap.Skip("other users cannot read the build, or there is no /usr/bin/python3") from None
    with exporter(**one) as e:
        python(f"""{OPEN}
assert open_memory(bytes.fromhex("{e.memory.hex()}"))[0] == 205
assert open_event(bytes.fromhex("{e.event.hex()}")) == 205
""", **other)


def a_limit_on_files_is_an_error_and_no_signal():
    python(f"""{OPEN}
import resource
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(1 << 20))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
assert cuda.cuIpcGetMemHandle((ctypes.c_char * 64)(), p) == 2
properties = (ctypes.c_uint32 * 8)(1, 1, 1, 0)
h = ctypes.c_uint64()
assert cuda.cuMemCreate(ctypes.byref(h), ctypes.c_size_t(2 << 20), properties, ctypes.c_uint64(0)) == 2
check(cuda.cuMemsetD32_v2(p, 0, ctypes.c_size_t(1)))
""")


# ---- other users ----

def users_of_one_machine(mode):
    """Skips where this process cannot be two users, or where programs with another's rights do not get them."""
    if os.getuid() != 0:
        raise tap.Skip("only root can be two users")
    folder = tempfile.TemporaryDirectory()
    os.chmod(folder.name, mode)
    if os.statvfs(folder.name).f_flag & os.ST_NOSUID:
        raise tap.Skip("programs get no rights of others here")
    return folder


def a_program_with_anothers_rights_obeys_no_environment():
    """What is run, what is read and what is written is not chosen by who starts it."""
    with users_of_one_machine(0o777) as folder:
        program, compiler, cache = (os.path.join(folder, n) for n in ("heddle", "compiler", "cache"))
        shutil.copy(tap.heddle, program)
        for name in compiler, os.path.join(folder, "heddle-jit"):
            with open(name, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\nid -u >>{folder}/was-run\n")
            os.chmod(name, 0o755)
        os.mkdir(cache)
        os.chmod(cache, 0o777)
        text = os.path.join(folder, "k.ptx")
        shutil.copy(os.path.join(tap.examples, "saxpy", "saxpy.ptx"), text)
        os.chmod(text, 0o644)
        args = [program, "launch", text, "--grid", "1", "--block", "32", "--engine", "jit", "32", "2.0", "f32[32]=ones", "f32[32]"]
        for own_rights in (True, False) if os.access(tap.heddle + "-jit", os.X_OK) else (False,):
            os.chown(program, 1, 1)
            os.chmod(program, 0o755 if own_rights else 0o6755)
            subprocess.run(args, user=2, group=2, extra_groups=[], capture_output=True, timeout=60, check=False,
                           env=environment(HEDDLE_JIT=compiler, HEDDLE_CACHE=cache, HEDDLE_PERF="1"))
            was_run = os.path.exists(os.path.join(folder, "was-run"))
            assert was_run == own_rights, "the test's own program has to be run by the first" if own_rights else "run"
            if was_run:
                os.unlink(os.path.join(folder, "was-run"))
        assert not os.listdir(cache)


def a_list_for_perf_is_not_written_through_what_another_has_put_there():
    """/tmp is everybody's, and a process's number can be guessed."""
    if not os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "heddle-jit")):
        raise tap.Skip("built without LLVM 19")
    with tempfile.TemporaryDirectory() as folder:
        mine = os.path.join(folder, "mine")
        for kind in "link", "pipe", "hard link", "nothing":
            with open(mine, "w", encoding="utf-8") as f:
                f.write("mine")
            prepare = {"link": f"ln -s {mine}", "pipe": "mkfifo", "hard link": f"ln {mine}", "nothing": ":"}[kind]
            done = subprocess.run(["sh", "-c", f'{prepare} /tmp/perf-$$.map; echo $$; exec "$@"', "sh", tap.heddle, "launch",
                                   os.path.join(tap.examples, "saxpy", "saxpy.ptx"), "--grid", "1", "--block", "32",
                                   "--engine", "jit", "32", "2.0", "f32[32]=ones", "f32[32]"], capture_output=True, text=True,
                                  timeout=20, env=environment(HEDDLE_PERF="1"))
            path = f"/tmp/perf-{done.stdout.split()[0]}.map"
            written = os.path.isfile(path) and "saxpy" in open(path, encoding="utf-8").read()
            os.unlink(path)
            assert done.returncode == 0 and written == (kind == "nothing"), (kind, done)
            assert open(mine, encoding="utf-8").read() == "mine", kind


# ---- forks ----

BUSY = """
import os, threading, time, signal
context, module = start()
p = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(1 << 20))
check(cuda.cuMemsetD32_v2(p, 0, ctypes.c_size_t(1 << 18)))
stop = False
def work():
    check(cuda.cuCtxSetCurrent(context))
    hello = function(module, "hello")
    stream = out(ctypes.c_void_p, cuda.cuStreamCreate, 1)
    while not stop:
        q = out(ctypes.c_uint64, cuda.cuMemAlloc_v2, ctypes.c_size_t(4096))
        m = out(ctypes.c_void_p, cuda.cuModuleLoadData, PTX)
        launch(hello, stream=stream)
        check(cuda.cuMemsetD32_v2(q, 1, ctypes.c_size_t(1024)))
        check(cuda.cuStreamSynchronize(stream))
        check(cuda.cuModuleUnload(m))
        check(cuda.cuMemFree_v2(q))
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
def wait(pid, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done: return status
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    raise SystemExit("a child hangs")
def finish():
    global stop
    stop = True
    for t in threads: t.join()
    check(cuda.cuCtxSynchronize())
"""


def a_fork_while_threads_work_leaves_a_child_that_is_told():
    """Each call of the child answers that it is not initialised, whatever lock a thread held, and the parent goes on."""
    python(f"""{BUSY}
calls = [lambda: cuda.cuInit(0), lambda: cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(64)),
         lambda: cuda.cuCtxSynchronize(), lambda: cuda.cuMemFree_v2(p), lambda: cuda.cuMemsetD32_v2(p, 0, ctypes.c_size_t(1)),
         lambda: cuda.cuIpcGetMemHandle((ctypes.c_char * 64)(), p), lambda: cuda.cuModuleLoadData(ctypes.byref(ctypes.c_void_p()), PTX),
         lambda: cuda.cuStreamCreate(ctypes.byref(ctypes.c_void_p()), 0), lambda: cuda.cuCtxSetCurrent(context),
         lambda: cuda.cuPointerGetAttribute(ctypes.byref(ctypes.c_int()), 2, p), lambda: cuda.cuModuleUnload(module),
         lambda: cuda.cuMemHostRegister_v2(PTX, ctypes.c_size_t(64), 0), lambda: cuda.cuCtxDestroy_v2(context),
         lambda: cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0), lambda: cuda.cuDevicePrimaryCtxReset_v2(0)]
for n in range(60):
    pid = os.fork()
    if pid == 0:
        codes = [c() for c in calls]
        os._exit(0 if all(c == 3 for c in codes) else print(codes, flush=True) or 1)
    status = wait(pid)
    assert status == 0, status
finish()
""")


def children_end_by_exit_or_at_once():
    """Handlers of exit() run in the child, too; what kernels have printed is printed once."""
    stdout, _ = python(f"""
import os
context, module = start()
launch(function(module, "hello"))
check(cuda.cuStreamSynchronize(None))
libc = ctypes.CDLL(None)
libc.fflush(None) # what is in the buffer of stdout, each child would write
launch(function(module, "hello"))
__import__("time").sleep(1) # the kernel's words are with the library, and not yet on stdout
for leave in libc.exit, libc._exit:
    pid = os.fork()
    if pid == 0:
        leave(5)
    assert os.waitpid(pid, 0)[1] == 5 << 8
check(cuda.cuCtxSynchronize())
libc.fflush(None)
""")
    assert stdout == "hello\nhello\n", stdout
    python(f"""{BUSY}
libc = ctypes.CDLL(None)
for n in range(40):
    pid = os.fork()
    if pid == 0:
        (libc.exit if n % 2 else os._exit)(0)
    assert wait(pid) == 0
finish()
""")


def a_pool_of_forked_workers_computes_before_CUDA_is_used():
    """multiprocessing with fork: workers that begin before the parent uses CUDA have their own; later ones are told."""
    python("""
import multiprocessing, os
def work(n):
    start()
    return cuda.cuCtxSynchronize()
def told(n):
    return cuda.cuInit(0)
if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    with fork.Pool(3) as pool:
        assert pool.map(work, range(6)) == [0] * 6
    start()
    with fork.Pool(3) as pool:
        assert pool.map(told, range(6)) == [3] * 6
    check(cuda.cuCtxSynchronize())
""")


if __name__ == "__main__":
    tap.main(globals())
