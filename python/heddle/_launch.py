"""heddle.launch() and heddle.check(): a kernel of a PTX text, with arguments of this process."""
import collections
import contextlib
import ctypes
import os
import sys
import threading
from ctypes import byref, c_void_p
from dataclasses import dataclass

from heddle import _library as L
from heddle._arguments import Undefined, is_struct, memory_of, scalar_bytes
from heddle._report import HeddleError, LaunchError


@dataclass(frozen=True)
class Launch:
    """What a launch did: sums over all its blocks."""
    kernel: str
    seconds: float
    blocks: int
    warp_instructions: int
    lane_instructions: int
    printed: str  # by the kernel's printf; it stands on sys.stdout, too


def launch(ptx, kernel=None, grid=1, block=1, args=(), *, shared=0, cluster=None, cooperative=False, device=None, engine="auto",
           workers=0, memory=0, stack=0, step_limit=0, timeout=0, policy=None):
    """Runs a kernel to its end and returns a Launch. If it succeeds, arrays among the arguments are updated in place.

    ptx          PTX text; or the path of a PTX file (a pathlib.Path, or a str of one line); or a list of these, which are linked
    kernel       the name in the PTX or in the source ("saxpy", "ns::scan", "matmul<16>"); None: the only kernel
    grid, block  the number of blocks, and of threads in a block: a number, or up to three
    args         one for each parameter. For a pointer: an object with contiguous memory, such as a NumPy array, an object with
                 DLPack (a CPU tensor of PyTorch) or a buffer (bytearray, array.array, ctypes), or None for a null pointer. If
                 two arrays overlap, the kernel's buffers overlap in the same way. Any other argument is a number, which is
                 converted to the parameter's type, or the bytes of a struct (bytes, ctypes.Structure, a scalar of a structured
                 dtype)
    shared       bytes of dynamic shared memory; cluster: blocks of a cluster; cooperative: True for a grid that synchronises
    device       the compute capability of the virtual GPU ("sm_80"; default: sm_90); engine: "interp", "jit" or "auto"
    timeout      seconds; step_limit: warp instructions of the launch; memory, stack: bytes, as the command's options; workers: threads
    policy       the order of threads: "fair", "serial", "random:SEED"

    Raises LaunchError with the place of a fault, HeddleError for PTX that is wrong or cannot run, TypeError and ValueError for
    arguments that do not fit.
    """
    with _machine_for(_Options(device, workers, memory, stack, step_limit, policy)) as machine:
        return machine.run(ptx, kernel, _Config(grid, block, shared, cluster, cooperative, engine, timeout), args)


def check(ptx, kernel=None, grid=1, block=1, args=(), *, tools=None, shared=0, cluster=None, cooperative=False, device=None,
          workers=0, memory=0, stack=0, step_limit=0, timeout=0, policy=None):
    """Runs a kernel as launch() does, and returns a Report of its mistakes: data races, accesses out of bounds, reads of uninitialised
    memory, misused barriers, deadlocks.

    tools        some of "memcheck", "racecheck", "initcheck", "synccheck"; default: all

    A bad access is skipped and the launch goes on, so that one run finds several. Arrays are updated in place. An array counts as
    initialised, unless it is heddle.undefined(array). Wrong PTX or arguments raise an exception, as in launch(). Mistakes of the
    kernel are in the report; in a test, write check(...).raise_if_found().
    """
    names = [tools] if isinstance(tools, str) else list(tools or ())
    for name in names:
        if name not in L.TOOLS:
            raise ValueError(f"there is no tool {name!r}; there are {', '.join(L.TOOLS)}")
    machine = _Machine(_Options(device, workers, memory, stack, step_limit, policy))
    try:
        return machine.check(ptx, kernel, _Config(grid, block, shared, cluster, cooperative, "interp", timeout), args,
                             sum(L.TOOLS[name] for name in set(names)))
    finally:
        machine.destroy()


def undefined(array):
    """For check(): an argument whose memory counts as uninitialised, like memory of cudaMalloc."""
    return Undefined(array)


# ---- what is to be done ----

_Options = collections.namedtuple("_Options", "device workers memory stack step_limit policy")


def _three(value, what):
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    values = tuple(v.__index__() if hasattr(v, "__index__") else v for v in values)
    if not 1 <= len(values) <= 3 or not all(isinstance(v, int) and 1 <= v <= 0xffffffff for v in values):
        raise ValueError(f"{what} is one to three positive numbers, not {value!r}")
    return values + (1,) * (3 - len(values))


class _Config:
    def __init__(self, grid, block, shared, cluster, cooperative, engine, timeout):
        if engine not in L.ENGINES:
            raise ValueError(f"there is no engine {engine!r}; there are {', '.join(L.ENGINES)}")
        if shared < 0 or timeout < 0:
            raise ValueError("shared and timeout cannot be negative")
        self.c = L.hd_launch_config(shared_bytes=shared, engine=L.ENGINES[engine], timeout_seconds=timeout)
        self.c.grid[:], self.c.block[:] = _three(grid, "grid"), _three(block, "block")
        if cluster:
            self.c.cluster[:] = _three(cluster, "cluster")
        self.c.flags = L.HD_LAUNCH_CLOSED | (L.HD_LAUNCH_COOPERATIVE if cooperative else 0)


def _sources(ptx):
    """Names and texts."""
    for one in ptx if isinstance(ptx, (list, tuple)) else [ptx]:
        if isinstance(one, os.PathLike) or isinstance(one, str) and "\n" not in one and one.strip():
            with open(one, "rb") as f:
                yield os.fspath(one).encode(), f.read()
        elif isinstance(one, (str, bytes, bytearray)):
            yield b"<ptx>", (one.encode() if isinstance(one, str) else bytes(one)).rstrip(b"\0")
        else:
            raise TypeError(f"ptx is a text or a path, not a {type(one).__name__}")


# ---- arguments in the machine's memory ----

class _Room:
    """Memory of the machine for arrays that overlap: one allocation."""

    def __init__(self, first):
        self.start, self.end, self.arrays, self.at = first.address, first.address + first.nbytes, [], None

    def add(self, memory, name):
        self.end = max(self.end, memory.address + memory.nbytes)
        self.arrays.append((memory, name))

    def put(self, machine):
        nbytes, pointer = self.end - self.start, c_void_p()
        machine.must(L.lib().hd_alloc_named(machine.handle, nbytes, self.arrays[0][1].encode(), byref(pointer)),
                     f"{self.arrays[0][1]} of {nbytes} bytes")
        self.at = pointer.value
        for memory, _ in self.arrays:
            ctypes.memmove(self.place(memory), memory.address, memory.nbytes)

    def place(self, memory):
        return self.at + memory.address - self.start

    def take(self):
        """Copies the kernel's results back; returns the name of a read-only argument that it has written, or None."""
        writable = [memory for memory, _ in self.arrays if memory.writable]
        if not writable:
            memory, name = self.arrays[0]
            same = ctypes.string_at(self.at, self.end - self.start) == ctypes.string_at(self.start, self.end - self.start)
            return None if same else name
        for memory in writable:
            ctypes.memmove(memory.address, self.place(memory), memory.nbytes)
        return None


def _rooms(memories):
    """`memories`: pairs of a memory and its name."""
    rooms = []
    for memory, name in sorted(memories, key=lambda m: m[0].address):
        if not rooms or memory.address >= rooms[-1].end:
            rooms.append(_Room(memory))
        rooms[-1].add(memory, name)
    return rooms


class _Arguments:
    """The values of a kernel's parameters, and the memory that they point to."""

    def __init__(self, machine, kernel, args):
        self.machine, self.kernel = machine, kernel
        params = kernel.params
        args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
        if len(args) != len(params):
            raise TypeError(f"kernel `{kernel.name}` has {len(params)} parameters ({kernel.signature()}), got {len(args)} arguments")
        self.values, self.memories = [None] * len(args), {}
        for i, (value, param) in enumerate(zip(args, params)):
            what = f"argument {i + 1}"
            parameter = f"{what} of kernel `{kernel.name}`"
            memory = memory_of(value, what)
            if memory is None or isinstance(value, (bytes, bytearray)) and is_struct(param):
                self.values[i] = scalar_bytes(value, param.type.decode(), param.bytes, parameter)
            elif param.bytes != 8:
                raise TypeError(f"{parameter} is .{param.type.decode()}, not a pointer: pass a number, not an array")
            else:
                self.memories[i] = (memory, what)
        self.rooms = _rooms([m for m in self.memories.values() if m[0].nbytes])

    def __enter__(self):
        for room in self.rooms:
            room.put(self.machine)
        for i, (memory, _) in self.memories.items():
            room = next((r for r in self.rooms if memory.nbytes and r.start <= memory.address < r.end), None)
            self.values[i] = (room.place(memory) if room else 0).to_bytes(8, "little")
        return self

    def __exit__(self, *error):
        for room in self.rooms:
            if room.at:
                L.lib().hd_free(self.machine.handle, room.at)

    def mark_undefined(self, checker):
        for room in self.rooms:
            for memory, name in room.arrays:
                if memory.undefined:
                    L.lib().hd_checker_mark_undefined(checker, room.place(memory), memory.nbytes, name.encode())

    def take(self):
        written = [name for name in (room.take() for room in self.rooms) if name]
        if written:
            raise HeddleError(f"kernel `{self.kernel.name}` has written to {written[0]}, which is read-only: pass one that is not, "
                              "or a copy")


# ---- machines ----

class _Kernel:
    def __init__(self, handle, name):
        info, lib = L.hd_kernel_info(), L.lib()
        lib.hd_kernel_get_info_sized(handle, *L.sized(info))
        self.handle, self.name, self.params = handle, name, []
        for i in range(info.param_count):
            self.params.append(L.hd_param_info())
            lib.hd_kernel_get_param_sized(handle, i, *L.sized(self.params[-1]))

    def signature(self):
        return ", ".join(f".{p.type.decode()} {p.name.decode()}" if p.bytes in (1, 2, 4, 8) else f"{p.bytes} bytes {p.name.decode()}"
                         for p in self.params) or "none"


class _Machine:
    MODULES = 64  # that are kept

    def __init__(self, options):
        self.printed, self.modules = [], collections.OrderedDict()
        self.printer = L.Print(lambda data, text, n: self.printed.append(ctypes.string_at(text, n)))
        o = L.hd_machine_options(workers=options.workers, memory_bytes=options.memory, stack_bytes=options.stack,
                                 step_limit=options.step_limit, guarded=True, print=self.printer,
                                 policy=options.policy and options.policy.encode(),
                                 device=options.device and options.device.encode())
        handle, error = c_void_p(), ctypes.c_char_p()
        result = L.lib().hd_machine_create_sized(*L.sized(o), byref(handle), byref(error))
        if result:
            text = error.value.decode() if error.value else L.lib().hd_result_string(result).decode()
            raise (ValueError if result == 1 else HeddleError)(f"no machine can be made: {text}")
        self.handle = handle

    def destroy(self):
        L.lib().hd_machine_destroy(self.handle)

    def must(self, result, what):
        if result:
            raise HeddleError(f"{what}: {L.lib().hd_result_string(result).decode()}")

    # A module that has variables is loaded anew for each launch, so that what a launch leaves in them does not reach the next.
    def module(self, ptx):
        key = tuple(_sources(ptx))
        if key in self.modules:
            self.modules.move_to_end(key)
            return self.modules[key]
        sources = (L.hd_source * len(key))(*(L.hd_source(name, text, len(text)) for name, text in key))
        handle = c_void_p()
        L.call(L.lib().hd_module_load, self.handle, sources, len(key), byref(handle))
        if not L.lib().hd_module_variable_count(handle):
            self.modules[key] = handle
        return handle

    @contextlib.contextmanager
    def loaded(self, ptx, name):
        """The kernel, for as long as it is needed."""
        module = self.module(ptx)
        try:
            found, handle = ctypes.c_char_p(), c_void_p()
            L.call(L.lib().hd_module_find_kernel, module, name and name.encode(), byref(found))
            L.call(L.lib().hd_module_get_kernel, module, found.value, byref(handle))
            yield _Kernel(handle, name or found.value.decode())
        finally:
            if module not in self.modules.values():
                L.lib().hd_module_unload(module)
            while len(self.modules) > self.MODULES:
                L.lib().hd_module_unload(self.modules.popitem(last=False)[1])

    def hd_launch(self, kernel, config, arguments):
        """The result, the statistics, the report."""
        n = len(arguments.values)
        values = [ctypes.create_string_buffer(v, len(v)) for v in arguments.values]
        pointers = (c_void_p * max(n, 1))(*(ctypes.addressof(v) for v in values))
        config.c.args = ctypes.addressof(pointers) if n else None
        stats, report, self.printed[:] = L.hd_launch_stats(), c_void_p(), []
        result = _interruptibly(lambda: L.lib().hd_launch_sized(kernel.handle, *L.sized(config.c), *L.sized(stats), byref(report)),
                                lambda: L.lib().hd_machine_cancel(self.handle))
        text = b"".join(self.printed).decode(errors="replace")
        if text:
            sys.stdout.write(text)
        return result, Launch(kernel.name, stats.seconds, stats.blocks, stats.warp_instructions, stats.lane_instructions, text), report

    def run(self, ptx, name, config, args):
        with self.loaded(ptx, name) as kernel, _Arguments(self, kernel, args) as arguments:
            result, done, handle = self.hd_launch(kernel, config, arguments)
            report = L.take_report(handle)
            if result:
                raise LaunchError(report.text.rstrip() or L.lib().hd_result_string(result).decode(), report, result)
            arguments.take()
            return done

    def check(self, ptx, name, config, args, tools):
        checker, lib = c_void_p(), L.lib()
        self.must(lib.hd_checker_create_sized(self.handle, *L.sized(L.hd_checker_options(tools=tools)), byref(checker)), "no checker")
        try:
            with self.loaded(ptx, name) as kernel, _Arguments(self, kernel, args) as arguments:
                arguments.mark_undefined(checker)
                result, _, fault = self.hd_launch(kernel, config, arguments)
                lib.hd_checker_end(checker)
                found = c_void_p()
                lib.hd_checker_report(checker, byref(found))
                lib.hd_report_add(byref(found), fault)
                lib.hd_report_free(fault)
                report = L.take_report(found)
                if result and not report.errors:
                    raise LaunchError(lib.hd_result_string(result).decode(), report, result)
                arguments.take()
                return report
        finally:
            lib.hd_checker_destroy(checker)


def _interruptibly(work, cancel):
    """Runs the work so that Ctrl-C cancels it. The main thread receives signals, so it lets another thread do the work."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    results = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        cancel()
        thread.join()
        raise
    return results[0]


_machines, _lock = {}, threading.Lock()
_MOST_MACHINES = 4


@contextlib.contextmanager
def _machine_for(options):
    """A machine that is kept for the next launch. One launch at a time runs: it has all cores."""
    with _lock:
        machine = _machines.pop(options, None) or _Machine(options)
        while len(_machines) >= _MOST_MACHINES:
            _machines.pop(next(iter(_machines))).destroy()
        _machines[options] = machine
        yield machine


def _after_fork():
    global _lock
    _lock = threading.Lock()
    _machines.clear()  # their threads are the parent's


os.register_at_fork(after_in_child=_after_fork)
