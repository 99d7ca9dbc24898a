"""A kernel's arguments: memory of whatever has some (NumPy's `__array_interface__`, DLPack, buffers), and scalars as the kernel's
parameters want them."""
import ctypes
import math
import struct
import sys
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_ssize_t, c_uint8, c_uint16, c_uint32, \
    c_uint64, c_void_p, py_object, pythonapi


class Memory:
    """Bytes of the host's that an argument is made of. `owner` keeps them alive."""

    def __init__(self, address, nbytes, writable, owner, undefined=False):
        self.address, self.nbytes, self.writable, self.owner, self.undefined = address, nbytes, writable, owner, undefined


class Undefined:
    """See heddle.undefined()."""

    def __init__(self, array):
        self.array = array


# ---- memory ----

def _is_dense(shape, strides):
    """Do the elements, in some order of the dimensions, fill their memory? Strides are in elements."""
    size = 1
    for stride, n in sorted((stride, n) for stride, n in zip(strides, shape) if n != 1):
        if stride != size:
            return False
        size *= n
    return True


def _require_dense(shape, strides, what):
    if strides is not None and 0 not in shape and not _is_dense(shape, strides):
        raise ValueError(f"{what} has gaps in memory or is reversed: pass a contiguous copy, as of numpy.ascontiguousarray()")


def _of_array_interface(array, what):
    interface = array.__array_interface__
    shape, typestr = interface["shape"], interface["typestr"]
    if typestr[1] == "O":
        raise TypeError(f"{what} has Python objects as elements, which a kernel cannot use")
    item = array.itemsize if hasattr(array, "itemsize") else int(typestr[2:])
    strides = interface.get("strides")
    _require_dense(shape, strides and [s // item if s % item == 0 else -1 for s in strides], what)
    address, readonly = interface["data"]
    return Memory(address, item * math.prod(shape), not readonly, array)


class _DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class _DLManagedTensorVersioned(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager_ctx", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
                ("tensor", _DLTensor)]


_DL_CPU, _DL_READ_ONLY = 1, 1


def _capsule(name, capsule):
    get = pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [py_object, c_char_p]
    return get(capsule, name)


def _of_dlpack(array, what):
    if array.__dlpack_device__()[0] != _DL_CPU:
        raise TypeError(f"{what} is not in the host's memory: pass a copy that is, as of .cpu()")
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        capsule = array.__dlpack__()
    if 'dltensor_versioned' in repr(capsule):
        managed = _DLManagedTensorVersioned.from_address(_capsule(b"dltensor_versioned", capsule))
        tensor, writable = managed.tensor, not managed.flags & _DL_READ_ONLY
    else:
        tensor, writable = _DLTensor.from_address(_capsule(b"dltensor", capsule)), True
    shape = tensor.shape[:tensor.ndim]
    _require_dense(shape, tensor.strides[:tensor.ndim] if tensor.strides else None, what)
    nbytes = math.prod(shape) * ((tensor.bits * tensor.lanes + 7) // 8)
    return Memory((tensor.data or 0) + tensor.byte_offset, nbytes, writable, capsule)


class _PyBuffer(Structure):
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t), ("readonly", c_int),
                ("ndim", c_int), ("format", c_char_p), ("shape", c_void_p), ("strides", c_void_p), ("suboffsets", c_void_p),
                ("internal", c_void_p)]


class _Held:
    """A buffer, held until this object is gone."""

    def __init__(self, array, flags):
        self.view = _PyBuffer()
        pythonapi.PyObject_GetBuffer(py_object(array), ctypes.byref(self.view), c_int(flags))

    def __del__(self):
        if self.view.obj:
            pythonapi.PyBuffer_Release(ctypes.byref(self.view))


def _of_buffer(array, what):
    writable = 1  # PyBUF_WRITABLE
    try:
        held = _Held(array, writable)
    except BufferError:
        try:
            held = _Held(array, 0)
        except BufferError as error:
            raise ValueError(f"{what}: {error}: pass one that is contiguous") from None
    return Memory(held.view.buf or 0, held.view.len, not held.view.readonly, held)


def _is_buffer(value):
    try:
        memoryview(value).release()
    except (TypeError, BufferError):
        return False
    return True


def is_struct(param):
    """Is the parameter declared as bytes (.b8 name[N])?"""
    return param.type[1:] == b"8" and param.bytes > 1


def memory_of(value, what):
    """The memory behind an argument; None where it is a scalar."""
    undefined = isinstance(value, Undefined)
    if undefined:
        value = value.array
    interface = getattr(value, "__array_interface__", None)
    if interface is not None and not _is_numpy_scalar(value):
        memory = _of_array_interface(value, what)
    elif not _is_numpy_scalar(value) and not _is_ctypes_scalar(value) and _is_buffer(value):
        memory = _of_buffer(value, what)  # before DLPack, by which JAX does not say that its arrays are read-only
    elif hasattr(value, "__dlpack__"):
        memory = _of_dlpack(value, what)
    elif undefined:
        raise TypeError(f"{what}: heddle.undefined() takes an array, not {_kind(value)}")
    else:
        return None
    memory.undefined = undefined
    return memory


# ---- scalars ----

def _is_numpy_scalar(value):
    numpy = sys.modules.get("numpy")  # who has a scalar of NumPy's has it loaded
    return numpy is not None and isinstance(value, numpy.generic)


def _is_ctypes_scalar(value):
    return isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union))


def _kind(value):
    return f"{type(value).__name__} {value!r:.40}" if not hasattr(value, "__len__") else f"a {type(value).__name__}"


_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def _float_bytes(value, nbytes, what):
    try:
        return struct.pack(_FLOATS[nbytes], value)
    except OverflowError:
        raise ValueError(f"{what}: {value} is beyond what {nbytes * 8} bits of floating point have") from None


def _integer_bytes(value, type_, nbytes, what):
    bits = 8 * nbytes
    least, most = (-(1 << (bits - 1)), (1 << bits) - 1)  # as C: either reading of the bits
    if not least <= value <= most:
        raise ValueError(f"{what} is .{type_}, which {value} does not fit in")
    return (value & most).to_bytes(nbytes, "little")


def scalar_bytes(value, type_, nbytes, what):
    """The bytes of a parameter of this PTX type ("u32", "f64", "b8": bytes of a struct)."""
    if _is_ctypes_scalar(value) or _is_numpy_scalar(value) and type_[1:] == "8" and nbytes > 1:
        value = bytes(value) if _is_ctypes_scalar(value) else value.tobytes()
    if isinstance(value, (bytes, bytearray)):
        if len(value) != nbytes:
            raise ValueError(f"{what} has {nbytes} bytes, the value {len(value)}")
        return bytes(value)
    if _is_numpy_scalar(value):
        value = value.item()
    if value is None and nbytes == 8:
        value = 0  # a null pointer
    if nbytes not in (1, 2, 4, 8):
        raise TypeError(f"{what} is a struct of {nbytes} bytes: pass bytes or a ctypes.Structure, not {_kind(value)}")
    is_number = isinstance(value, (int, float)) or hasattr(value, "__index__") or hasattr(value, "__float__")
    if not is_number:
        raise TypeError(f"{what} is .{type_}: pass a number{', or an array for a pointer' * (nbytes == 8)}, not {_kind(value)}")
    if type_[0] == "f" or type_[0] == "b" and isinstance(value, float) and nbytes > 1:
        return _float_bytes(float(value), nbytes, what)
    if isinstance(value, float) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is .{type_}: pass an integer, not {_kind(value)}")
    return _integer_bytes(value.__index__(), type_, nbytes, what)
