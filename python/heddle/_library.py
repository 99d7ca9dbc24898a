"""libheddle by ctypes: include/heddle.h has the contracts. Structures have that header's members in its order, which
tests/python holds them to."""
import ctypes
import functools
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p)

from heddle import _places
from heddle._report import HeddleError, report_of

Print = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
Note = CFUNCTYPE(None, c_void_p, c_char_p)


class hd_source(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("bytes", c_size_t)]


class hd_machine_options(Structure):
    _fields_ = [("workers", c_uint), ("memory_bytes", c_uint64), ("heap_bytes", c_uint64), ("print_bytes", c_uint64),
                ("stack_bytes", c_uint64), ("step_limit", c_uint64), ("cpu_level", c_char_p), ("engine", c_int), ("print", Print),
                ("note", Note), ("print_data", c_void_p), ("policy", c_char_p), ("trace_path", c_char_p),
                ("record_path", c_char_p), ("host_memory", c_bool), ("host_ranges", c_void_p), ("host_allows", c_void_p),
                ("guarded", c_bool),
                ("open_tails", c_bool), ("used_tail", c_void_p), ("origin", c_void_p), ("device", c_char_p)]


class hd_param_info(Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("offset", c_size_t), ("bytes", c_size_t), ("align", c_size_t),
                ("is_pointer", c_bool)]


class hd_kernel_info(Structure):
    _fields_ = [("name", c_char_p), ("param_count", c_size_t), ("param_bytes", c_size_t), ("static_shared_bytes", c_size_t),
                ("local_bytes", c_size_t), ("max_threads", c_uint), ("registers", c_uint), ("required_block", c_uint * 3),
                ("explicit_cluster", c_bool), ("required_cluster", c_uint * 3), ("max_cluster", c_uint),
                ("instructions", c_size_t)]


class hd_checker_options(Structure):
    _fields_ = [("tools", c_uint), ("on_error", c_int), ("host", c_bool), ("with", c_void_p), ("place", c_void_p),
                ("frames", c_void_p), ("undefined_copy", c_void_p), ("begun", c_void_p), ("launched", c_void_p),
                ("data", c_void_p), ("shadow_bytes", c_uint64)]


class hd_launch_config(Structure):
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("cluster", c_uint * 3), ("shared_bytes", c_size_t),
                ("flags", c_uint), ("engine", c_int), ("args", c_void_p), ("packed_args", c_void_p), ("packed_bytes", c_size_t),
                ("timeout_seconds", c_double), ("rules", c_void_p), ("graph", c_uint64), ("graph_run", c_void_p)]


class hd_launch_stats(Structure):
    _fields_ = [("seconds", c_double), ("blocks", c_uint64), ("warp_instructions", c_uint64), ("lane_instructions", c_uint64),
                ("lost_print_bytes", c_uint64)]


HD_LAUNCH_COOPERATIVE, HD_LAUNCH_CLOSED = 1, 2
ENGINES = {"auto": 0, "interp": 1, "jit": 2}
TOOLS = {"memcheck": 1, "racecheck": 2, "initcheck": 4, "synccheck": 8}

_P = c_void_p  # handles
_PROTOTYPES = {
    "hd_version": (c_char_p,),
    "hd_result_string": (c_char_p, c_int),
    "hd_report_text": (c_char_p, _P),
    "hd_report_json": (c_char_p, _P),
    "hd_report_sarif": (c_char_p, _P),
    "hd_report_add": (c_int, POINTER(_P), _P),
    "hd_report_free": (None, _P),
    "hd_machine_create_sized": (c_int, POINTER(hd_machine_options), c_size_t, POINTER(_P), POINTER(c_char_p)),
    "hd_machine_destroy": (c_int, _P),
    "hd_machine_cancel": (None, _P),
    "hd_alloc_named": (c_int, _P, c_size_t, c_char_p, POINTER(_P)),
    "hd_free": (c_int, _P, _P),
    "hd_module_load": (c_int, _P, POINTER(hd_source), c_size_t, POINTER(_P), POINTER(_P)),
    "hd_module_unload": (None, _P),
    "hd_module_variable_count": (c_size_t, _P),
    "hd_module_find_kernel": (c_int, _P, c_char_p, POINTER(c_char_p), POINTER(_P)),
    "hd_module_get_kernel": (c_int, _P, c_char_p, POINTER(_P), POINTER(_P)),
    "hd_kernel_get_info_sized": (None, _P, POINTER(hd_kernel_info), c_size_t),
    "hd_kernel_get_param_sized": (c_bool, _P, c_size_t, POINTER(hd_param_info), c_size_t),
    "hd_checker_create_sized": (c_int, _P, POINTER(hd_checker_options), c_size_t, POINTER(_P)),
    "hd_checker_destroy": (None, _P),
    "hd_checker_mark_undefined": (c_int, _P, _P, c_size_t, c_char_p),
    "hd_checker_end": (None, _P),
    "hd_checker_report": (c_int, _P, POINTER(_P)),
    "hd_launch_sized": (c_int, _P, POINTER(hd_launch_config), c_size_t, POINTER(hd_launch_stats), c_size_t, POINTER(_P)),
}


def sized(struct):
    """A struct as the library's functions *_sized take it: where it is, and how large."""
    return byref(struct), ctypes.sizeof(struct)


@functools.lru_cache(None)
def lib():
    path = _places.library()
    library = ctypes.CDLL(path)
    for name, (result, *arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    from heddle import __version__
    version = library.hd_version().decode()
    if version != __version__:
        raise HeddleError(f"{path} is Heddle {version}, the Python package is of {__version__}: install both of one version")
    return library


def take_report(handle):
    """The report that a function has given, freed; of nothing an empty one."""
    if not handle:
        return report_of("", "[]")
    try:
        texts = [getattr(lib(), f"hd_report_{kind}")(handle).decode(errors="replace") for kind in ("text", "json", "sarif")]
    finally:
        lib().hd_report_free(handle)
    return report_of(*texts)


def call(function, *arguments):
    """Calls a function that takes a report as its last argument; raises HeddleError with it."""
    handle = c_void_p()
    result = function(*arguments, byref(handle))
    report = take_report(handle)
    if result:
        raise HeddleError(report.text.rstrip() or lib().hd_result_string(result).decode(), report)
    return report
