"""Lets files that were linked with this system's C library (glibc) run with an older one: NEWEST, that of Ubuntu 18.04,
the oldest that scripts/release/try has run on. RHEL 8 and similar systems have 2.28.

Some symbols have versions newer than NEWEST. If this system's C library also has such a symbol in an old version
(`pthread_create@GLIBC_2.34`, once in libpthread.so.0), lower() removes the version, and the dynamic linker takes the symbol that is there.
If not (`stat@GLIBC_2.33`, once a part of each program), older_libc.c defines the symbol, and lower() makes that a needed library.
"""
import os
import re
import struct
import subprocess

NEWEST = (2, 27)
SHIM = "libheddle-older-libc.so"
LIBRARIES = ["libc.so.6", "libm.so.6"]
WERE_IN = {"pthread_": "libpthread.so.0", "dl": "libdl.so.2"}  # names that begin so, before 2.34
OLDEST = "GLIBC_2.2.5"  # of x86-64's C library


def out(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def parsed(version):
    """(2, 34) of GLIBC_2.34; None of other names."""
    found = re.fullmatch(r"GLIBC_([\d.]+)", version)
    return tuple(map(int, found.group(1).split("."))) if found else None


def too_new(version):
    return (parsed(version) or (0,)) > NEWEST


def has_old():
    """The names that this system's C library has of an old version."""
    names = set()
    for library in LIBRARIES:
        for name, version in re.findall(r"(\w+)@@?(GLIBC_[\d.]+)", out("nm", "-D", "--defined-only", out("cc", f"-print-file-name={library}").strip())):
            if not too_new(version):
                names.add(name)
    return names


def make_shim(folder):
    path = os.path.join(folder, SHIM)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "older_libc.c")
    subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-Wl,-soname,{SHIM}", "-o", path, source], check=True)
    return path


def hash_of(name):
    """ELF's, of a version's name."""
    h = 0
    for c in name.encode():
        h = (h << 4) + c
        h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff
    return h


class Elf:
    """The dynamic symbols of a file of x86-64, and the versions that it needs."""
    SYMBOLS, NEEDED, OF_SYMBOLS = 11, 0x6ffffffe, 0x6fffffff  # SHT_DYNSYM, SHT_GNU_verneed, SHT_GNU_versym

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = bytearray(f.read())
        at, (size, count) = struct.unpack_from("<Q", self.data, 0x28)[0], struct.unpack_from("<HH", self.data, 0x3a)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)]

    def section(self, kind):
        """Its offset, its size and the offset of its texts; None where there is none."""
        for s in self.sections:
            if s[1] == kind:
                return s[4], s[5], self.sections[s[6]][4] if kind != self.OF_SYMBOLS else 0
        return None

    def text(self, at):
        return self.data[at:self.data.index(0, at)].decode()

    def versions(self):
        """(place, index, name) of each needed version (struct Elf64_Vernaux)."""
        found = self.section(self.NEEDED)
        at, more = (found[0], True) if found else (0, False)
        while more:
            _, count, _, aux, following = struct.unpack_from("<HHIII", self.data, at)
            entry = at + aux
            for _ in range(count):
                _, _, index, name, to = struct.unpack_from("<IHHII", self.data, entry)
                yield entry, index, self.text(found[2] + name)
                entry += to
            at, more = at + following, following != 0

    def symbols(self, of):
        """(place of its version, name) of each symbol with one of these versions' indices."""
        (names, size, texts), (versions, _, _) = self.section(self.SYMBOLS), self.section(self.OF_SYMBOLS)
        for i in range(size // 24):
            if struct.unpack_from("<H", self.data, versions + 2 * i)[0] & 0x7fff in of:
                yield versions + 2 * i, self.text(texts + struct.unpack_from("<I", self.data, names + 24 * i)[0])


def lower(path, old, shim):
    """Changes the file. old: has_old(); shim: the names that the shim has. Returns the libraries that it needs now, too."""
    elf = Elf(path)
    new = [(place, index) for place, index, name in elf.versions() if too_new(name)]
    if not new:
        return []
    needed = set()
    for place, name in list(elf.symbols({index for _, index in new})):
        if name in shim:
            needed.add(SHIM)
        elif name not in old:
            raise ValueError(f"{os.path.basename(path)} needs {name}, which {'.'.join(map(str, NEWEST))} of the C library has not: scripts/older_libc.c could have it")
        needed.update(library for begin, library in WERE_IN.items() if name.startswith(begin) and name not in shim)
        struct.pack_into("<H", elf.data, place, 1)  # VER_NDX_GLOBAL
    texts = elf.section(Elf.NEEDED)[2]
    oldest = elf.data.index(b"\0" + OLDEST.encode() + b"\0", texts) + 1 - texts
    for place, _ in new:
        struct.pack_into("<I", elf.data, place, hash_of(OLDEST))
        struct.pack_into("<I", elf.data, place + 8, oldest)
    with open(path, "r+b") as f:
        f.write(elf.data)
    return sorted(needed)
