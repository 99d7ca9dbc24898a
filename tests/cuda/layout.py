"""include/cuda/ against the toolkit's cuda.h, where there is one: sizes, offsets, values and prototypes.

Both headers are compiled into a program that prints what they say; the names come from ours.
"""
import os
import re
import subprocess
import tempfile

SOURCE = os.environ["HEDDLE_SOURCE"]
OURS = os.path.join(SOURCE, "include/cuda")
TOOLKITS = ["/usr/local/cuda/include", "/usr/include"]


def toolkit():
    """The folder of a cuda.h of version 13, or None."""
    for folder in TOOLKITS:
        try:
            with open(os.path.join(folder, "cuda.h"), encoding="utf-8") as f:
                if re.search(r"#define CUDA_VERSION 13\d\d\d", f.read()):
                    return folder
        except OSError:
            pass
    return None


def text(name):
    with open(os.path.join(OURS, name), encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def structures():
    """(type, its fields) for each structure with a typedef of its own."""
    for body, name in re.findall(r"typedef (?:struct|union) \w+ \{\n(.*?)\n\} (\w+);", text("cuda_types.h") + text("heddle_arrays.h"), re.S):
        fields = []
        for line in body.split("\n"):
            m = re.match(r"    \}? ?([\w ]*?)(?:\w+ \(\*)?\*?\**(\w+)(?:\[\w+\])*(?:\)\(.*\))?;$", line)
            if m and not line.startswith("     "):
                fields.append(m[2])
        yield name, fields


def constants():
    yield from re.findall(r"^    (CU\w+) = ", text("cuda_enums.h"), re.M)


def prints(folder):
    lines = [f'    printf("{name} %lld\\n", (long long){name});' for name in constants()]
    for name, fields in structures():
        lines.append(f'    printf("sizeof({name}) %zu\\n", sizeof({name}));')
        lines += [f'    printf("{name}.{f} %zu\\n", offsetof({name}, {f}));' for f in fields]
    program = "#include <cuda.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "layout.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(program)
        subprocess.run(["cc", "-w", "-I", folder, path, "-o", d + "/layout"], check=True)
        return subprocess.run([d + "/layout"], check=True, capture_output=True, text=True).stdout.split("\n")


def prototypes():
    return re.findall(r"^CUresult cu\w+\([^;]*\);", text("cuda.h") + text("heddle_arrays.h"), re.M)


def declared_twice(folder):
    """Our prototypes after the toolkit's: they must agree."""
    program = "#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n#include <cudaProfiler.h>\n" + "\n".join(prototypes())
    done = subprocess.run(["cc", "-w", "-fsyntax-only", "-x", "c", "-I", folder, "-"], input=program, text=True,
                          capture_output=True)
    return done.stderr


def exports():
    """What api.def says is exported."""
    with open(os.path.join(SOURCE, "src/cuda/api.def"), encoding="utf-8") as f:
        rows = re.findall(r"^API\((\w+), \w+, \d+, (\w+), \w+\)", f.read(), re.M)
    return {n for name, stream in rows for n in [name] + ([f"{name}_{stream}"] if stream != "plain" else [])}


def stub_exports(folder):
    """What the toolkit's stub library exports, or None."""
    stub = os.path.join(folder, "../lib64/stubs/libcuda.so")
    if not os.path.exists(stub):
        return None
    out = subprocess.run(["nm", "-D", "--defined-only", stub], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in out.splitlines()}


def versions(folder):
    """export -> version by the toolkit's typedefs: the n-th version of a name is export NAME_vN."""
    found = {}
    for header in ["cudaTypedefs.h", "cudaProfilerTypedefs.h"]:
        with open(os.path.join(folder, header), encoding="utf-8") as f:
            for name, version in re.findall(r"PFN_(cu\w+?)_v(\d+)\)", f.read()):
                found.setdefault(name, set()).add(int(version))
    return {name if n == 1 else f"{name}_v{n}": (name, v)
            for name, all_of in found.items() for n, v in enumerate(sorted(all_of), 1)}
