"""What memory operations become on each CPU level, beside the tables of this folder; README.md here says why they are right.

Each operation of memory order is compiled in a kernel of its own, for CPUs that this machine need not be. Kept of LLVM and of
the assembly is what has to do with order: fences, atomic operations, and, where loads and stores are looked at, these. UPDATE=1
writes the tables."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, examples, main, run

here = os.path.dirname(os.path.abspath(__file__))
build = os.environ["HEDDLE_BUILD"]
SCOPES = "cta", "cluster", "gpu", "sys"


def atomics(orders):
    """(instruction, operation, width)."""
    kinds = [("and", "b"), ("or", "b"), ("xor", "b"), ("exch", "b"), ("cas", "b"), ("add", "u"), ("min", "s"), ("min", "u"),
             ("max", "s"), ("max", "u")]
    for op, letter in kinds:
        for bits in 32, 64:
            for order in orders:
                yield f"{order}.gpu.global.{op}.{letter}{bits}", op, bits
    yield "global.add.u32", "add", 32
    for scope in SCOPES:
        yield f"acq_rel.{scope}.global.add.u32", "add", 32


def accesses(ordered):
    """(instruction, width) of loads, whose order may be acquire, or of stores, which may be release."""
    for bits in 16, 32, 64:
        for order in "", "volatile.", "relaxed.gpu.", f"{ordered}.gpu.":
            yield f"{order}global.u{bits}", bits
    for scope in SCOPES:
        yield f"relaxed.{scope}.global.u16", 16
        yield f"{ordered}.{scope}.global.u16", 16
    yield "mmio.relaxed.sys.global.u16", 16


def operations(places):
    """By name, the instructions of a kernel, and the bytes between lanes' own addresses. All lanes have the address %one, each
    has its %own: the two places."""
    store = "st.global.u{0} [%out], %v{0};"
    for kind, ordered in ("ld", "acquire"), ("st", "release"):
        for what, bits in accesses(ordered):
            for place in places:
                code = f"%v{bits}, [%{place}]; " + store.format(bits) if kind == "ld" else f"[%{place}], %v{bits};"
                yield f"{kind}.{what} [%{place}]", f"{kind}.{what} {code}", bits // 8
    for what, op, bits in atomics(("relaxed", "acquire", "release", "acq_rel")):
        operands = f"%v{bits}, %w{bits}" if op == "cas" else f"%v{bits}"
        for place in places if op in ("add", "exch", "cas") else places[:1]:
            yield f"atom.{what} [%{place}]", f"atom.{what} %v{bits}, [%{place}], {operands}; " + store.format(bits), bits // 8
            if op not in ("exch", "cas") and not what.startswith("acq"):
                yield f"red.{what} [%{place}]", f"red.{what} [%{place}], {operands};", bits // 8
    for fence in "acq_rel", "sc", "acquire", "release":
        for scope in SCOPES:
            yield f"fence.{fence}.{scope}", f"fence.{fence}.{scope};", 8
    for scope in "cta", "gl", "sys":
        yield f"membar.{scope}", f"membar.{scope};", 8


def text_of(kernels):
    text = ".version 8.6\n.target sm_90\n.address_size 64\n"
    for number, (_, code, stride) in enumerate(kernels):
        text += f"""
.visible .entry k{number}(.param .u64 one, .param .u64 out, .param .u64 v, .param .u64 w)
{{
    .reg .u64 %one, %own, %out, %v64, %w64; .reg .u32 %t, %v32, %w32; .reg .u16 %v16;
    ld.param.u64 %one, [one]; ld.param.u64 %out, [out]; ld.param.u64 %v64, [v]; ld.param.u64 %w64, [w];
    ld.param.u32 %v32, [v]; ld.param.u32 %w32, [w]; cvt.u16.u32 %v16, %v32;
    mov.u32 %t, %tid.x; mul.wide.u32 %own, %t, {stride}; add.u64 %out, %out, %own; add.u64 %own, %own, %one;
    {code}
    ret;
}}
"""
    return text


# In the text of LLVM. A fence of one thread is one for LLVM alone.
LLVM = (r'fence (?P<one>syncscope\("singlethread"\) )?(?P<fence>\w+)|= load atomic (?P<load>i\d+), .* (?P<load_order>\w+), align'
        r"|store atomic (?P<store>i\d+) .* (?P<store_order>\w+), align|atomicrmw (?P<rmw>\w+) ptr .*, (?P<rmw_type>i\d+) .*? (?P<rmw_order>monotonic|acquire|release|acq_rel)"
        r"|cmpxchg ptr .*?, (?P<cas>i\d+) .*, i\d+ .*? (?P<cas_order>\w+ \w+)(, align|$)")


def of_llvm(line):
    m = re.search(LLVM, line)
    if not m:
        return None
    if m["fence"]:
        return None if m["one"] else f"fence {m['fence']}"
    for kind, order, word in ("load", "load_order", "load"), ("store", "store_order", "store"), ("cas", "cas_order", "cmpxchg"):
        if m[kind]:
            return f"{word} {m[kind]} {m[order]}"
    return f"{m['rmw']} {m['rmw_type']} {m['rmw_order']}"


def of_x86(line, _):
    m = re.match(r"(lock[\s;]+\w+|mfence)|(xchg\w+)\s.*\(", line.strip())
    return m and " ".join((m[1] or m[2]).split())


# Plain loads and stores are those of 16 bits: no record that compiled code uses has such.
ARM = re.compile(r"(dmb|dsb)\s+(\w+)|((?:ld|st)(?:a|l)?x\w*|ldar\w*|stlr\w*|ldapr\w*|cas\w*|swp\w*|(?:ld|st)(?:add|clr|eor|set|smax|smin|umax|umin)\w*)\s"
                 r"|((?:ldr|str|ldur|stur)h)\s|((?:ld|st)1\s+{ v\d+\.h })")


def of_arm(line, plain):
    m = ARM.match(line.strip())
    if not m:
        return None
    if m[1]:
        return f"{m[1]} {m[2]}"
    return m[3] or (plain and (m[4] or m[5] and m[5][:3]))


def in_runs(words):
    runs = []
    for w in words:
        if runs and runs[-1][1] == w:
            runs[-1][0] += 1
        else:
            runs.append([1, w])
    return "; ".join(w if n == 1 else f"{n} * {w}" for n, w in runs) or "-"


def compiled(level, kernels):
    """LLVM and assembly of each."""
    if not os.path.exists(os.path.join(build, "heddle-jit")):
        raise Skip("built without LLVM 19")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "orders.ptx")
        with open(path, "w") as f:
            f.write(text_of(kernels))
        done = subprocess.run([os.path.join(build, "tests", "assembly"), level, path], capture_output=True, text=True, timeout=600,
                              env={**os.environ, "HEDDLE_CACHE": "off"})
    assert done.returncode == 0, f"assembly {level}: status {done.returncode}: {done.stderr[-2000:]}"
    parts = re.split(r"^; (LLVM|assembly) of k(\d+),.*$", done.stderr, flags=re.M)
    texts = {(kind, int(number)): body.splitlines() for kind, number, body in zip(parts[1::3], parts[2::3], parts[3::3])}
    return [(texts["LLVM", n], texts["assembly", n]) for n in range(len(kernels))]


def rows(level):
    """(operation, what it is in LLVM, what it is on the CPU), each a list of words."""
    kernels = list(operations(("one", "own")))
    of_cpu = of_arm if level.startswith("arm") else of_x86
    for (name, _, _), (llvm, assembly) in zip(kernels, compiled(level, kernels)):
        plain = name.startswith(("ld", "st"))
        calls = [k for k, line in enumerate(assembly) if line.strip().startswith("blr")] if plain else []
        assembly = assembly[:calls[0]] if calls else assembly  # what follows is the engine's way
        yield name, [w for w in map(of_llvm, llvm) if w], [w for w in (of_cpu(line, plain) for line in assembly) if w]


def compare(level, file, rule=None):
    found = list(rows(level))
    for row in found if rule else []:
        rule(*row)
    text = "".join(f"{name:41} | {in_runs(llvm):39} | {in_runs(cpu)}".rstrip() + "\n" for name, llvm, cpu in found)
    path = os.path.join(here, file)
    if os.environ.get("UPDATE"):
        with open(path, "w") as f:
            f.write(text)
    with open(path) as f:
        expected = f.read()
    for want, got in zip(expected.splitlines(), text.splitlines()):
        assert want == got, f"{level} differs from {file} (UPDATE=1 writes it):\n  expected {want}\n  is       {got}"
    assert expected == text, f"{level} has not as many operations as {file}"


def arm_rule(name, _, cpu):
    """What the order of an operation needs at the least, whatever the table says."""
    kind, words = name.split()[0].split(".")[0], name.split()[0].split(".")
    acquires, releases = ({order, "acq_rel"} & set(words) for order in ("acquire", "release"))
    if kind in ("fence", "membar"):
        assert cpu == ["dmb ish"], name
    elif kind == "ld" and acquires:
        assert cpu[-1] == "dmb ishld" and cpu.count("dmb ishld") == 1, name
    elif kind == "st" and releases:
        first = next((i for i, word in enumerate(cpu) if word.startswith("st")), 1)
        assert "dmb ish" in cpu[:first], name  # the value may be read from the thread's own rows before
    elif kind in ("atom", "red"):
        single = [m for m in (re.fullmatch(r"(?:cas|swp|ld(?:add|clr|eor|set|[su]max|[su]min))(a?)(l?)", w) for w in cpu) if m]
        reads = [m[1] for m in single] + [m[1] for m in (re.fullmatch("ld(a?)xr", w) for w in cpu) if m]
        writes = [m[2] for m in single] + [m[1] for m in (re.fullmatch("st(l?)xr", w) for w in cpu) if m]
        assert reads and all(bool(a) == bool(acquires) for a in reads), name
        assert writes and all(bool(l) == bool(releases) for l in writes), name
        assert not acquires or "cas" not in words or "dmb ishld" in cpu, name  # a comparison that fails is a load


def orders_are_kept_by_exclusive_loads_and_stores_of_arm():
    compare("armv8-a", "armv8-a.txt", arm_rule)


def orders_are_kept_by_single_instructions_of_arm():
    compare("armv8-a+lse", "armv8-a+lse.txt", arm_rule)


def orders_are_kept_on_x86_64():
    compare("x86-64-v4", "x86-64.txt")


def a_cpu_level_that_does_not_exist_is_refused_and_the_others_are_named():
    compiled("x86-64-v2", [])
    status, _, err = run("launch", f"{examples}/saxpy/saxpy.ptx", "--grid", 1, "--block", 32, 10, 2.0, "f32[10]", "f32[10]", "--engine",
                         "jit", env={**os.environ, "HEDDLE_TARGET": "vax"})
    assert status != 0 and "no code for the CPU level `vax`; it knows x86-64-v2, x86-64-v3, x86-64-v3+zen5, x86-64-v4, x86-64-v4+amd, x86-64-v4+zen5, armv8-a, armv8-a+lse" in err, err


main(globals())
