"""PTX of this tree, and what nvcc made (corpus.tar.xz), with tokens and lines changed: cases for harness.c.

A case has one to eight changes, so that many are still valid. What is valid runs with one warp, where results can be compared,
and some of it with more, where changed programs race: there it has to end, and to leave alone what is not its own.
"""
import functools
import lzma
import os
import random
import re
import tarfile

here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))

NUMBERS = """0 1 2 3 4 7 8 15 16 31 32 33 63 64 127 128 255 256 4095 4096 65535 65536 1048576 2147483647 2147483648 4294967295
4294967296 -1 -2 -4 -128 -2147483648 9223372036854775807 -9223372036854775808 18446744073709551615 0x7fffffff 0x80000000
0xfffffffffffffffc 0f7fc00000 0f00000000 0f7f800000 0d7ff8000000000000 0dfff0000000000000""".split()
TYPES = "u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 b128 f16 f32 f64 f16x2 bf16 bf16x2 pred".split()
SPACES = "global shared local const param".split()
CHARACTERS = '{}[]();,.:%$@!+-*/<>=?&|^~"\\#\t\r\n A0_x\0\x7f\xff'
SIZES = "0 1 2 3 4 8 12 16 32 64 100 128 1000 1024 4096 65536 1073741824 4294967296".split()

OPCODE = re.compile(r"(?<![\w%.$@])[a-z][a-z0-9]*(?:\.[\w:]+)+")
REGISTER = re.compile(r"%([a-z]+)(\d+)")
# What has another result each time: clocks, and what is left of the kernels' heap.
CHANGES_BY_ITSELF = re.compile(r"%clock|%globaltimer|%gridid|^\s*malloc\b,?\s*$", re.M)
LABEL = re.compile(r"^\s*([$\w]+):", re.M)


def texts_of_tree():
    for folder in "examples", "tests":
        for at, _, names in os.walk(os.path.join(source, folder)):
            for name in names:
                path = os.path.join(at, name)
                if name.endswith(".ptx") and "errors" not in at and os.path.getsize(path) < 40000:
                    with open(path, "rb") as f:
                        yield path, f.read()


def texts_of_archive(path):
    with tarfile.open(path) as tar:
        for member in tar:
            if member.name.endswith(".ptx"):
                yield member.name, tar.extractfile(member).read()


def texts_of_instructions():
    """Every instruction that is known to be valid, a dozen to a module."""
    frame, valid = "", []
    for line in lzma.open(os.path.join(source, "tests/ptx/instructions.tsv.xz"), "rt"):
        verdict, _, text = line.rstrip("\n").partition("\t")
        if line.startswith("|"):
            frame += line[1:]
        elif verdict != "0 0":
            valid.append(text)
    for k in range(0, len(valid), 12):
        body = "ld.param.u64 %rd8, [pa];\n" + "\n".join(valid[k:k + 12])
        yield f"instructions-{k}", frame.replace("\\v", "9.0").replace("\\t", "sm_100a").replace("\\i", body).encode()


def kernels_of_archive(path):
    """Each kernel as a module of its own: matrices, asynchronous copies, clusters."""
    for name, text in texts_of_archive(path):
        head, *kernels = text.split(b".visible .entry")
        for k, kernel in enumerate(kernels):
            yield f"{name}-{k}", head + b".visible .entry" + kernel


@functools.cache
def corpus():
    """By kind; each kind is taken as often as the others."""
    kinds = (texts_of_tree(), texts_of_archive(os.path.join(here, "corpus.tar.xz")),
             texts_of_archive(os.path.join(source, "tests/oracle/simt-h200.tar.xz")), texts_of_instructions(),
             kernels_of_archive(os.path.join(source, "tests/oracle/isa2-h200.tar.xz")))
    return [[text.decode("ascii", "surrogateescape") for _, text in sorted(kind)] for kind in kinds]


def any_text(R):
    return R.choice(R.choice(corpus()))


def replace_one(R, line, pattern, by):
    """The line with one of the pattern's places changed, if there is one."""
    places = list(re.finditer(pattern, line))
    if not places:
        return line
    m = R.choice(places)
    return line[:m.start()] + by(m) + line[m.end():]


# Each takes the lines and a place, and changes them.

def change_number(R, lines, i):
    lines[i] = replace_one(R, lines[i], r"(?<![\w%.$])-?\d\w*", lambda m: R.choice(NUMBERS))


def move_number(R, lines, i):
    lines[i] = replace_one(R, lines[i], r"(?<![\w%.$])\d+(?!\w)", lambda m: str(int(m[0]) + R.choice([-8, -4, -2, -1, 1, 2, 4, 8, 1 << 31, 1 << 32])))


def change_displacement(R, lines, i):
    lines[i] = replace_one(R, lines[i], r"\[([^\]+]+)(\+-?\d+)?\]", lambda m: f"[{m[1]}+{R.choice(NUMBERS[:36])}]")


def change_type(R, lines, i):
    lines[i] = replace_one(R, lines[i], r"\.(%s)\b" % "|".join(TYPES), lambda m: "." + R.choice(TYPES))


def change_space(R, lines, i):
    lines[i] = replace_one(R, lines[i], r"\.(%s)\b" % "|".join(SPACES), lambda m: R.choice(["", *("." + s for s in SPACES)]))


def change_register(R, lines, i):
    lines[i] = replace_one(R, lines[i], REGISTER, lambda m: f"%{m[1]}{max(0, int(m[2]) + R.choice([-3, -2, -1, 1, 2, 3]))}")


def change_opcode(R, lines, i):
    others = OPCODE.findall(any_text(R))
    lines[i] = replace_one(R, lines[i], OPCODE, lambda m: R.choice(others) if others else m[0])


def change_modifiers(R, lines, i):
    """Leaves a word of an opcode out, writes it twice, or takes one of another."""
    def by(m):
        words = m[0].split(".")
        k = R.randrange(1, len(words))
        c = R.randrange(3)
        if c == 0:
            del words[k]
        elif c == 1:
            words.insert(k, words[R.randrange(1, len(words))])
        else:
            others = OPCODE.findall(any_text(R))
            words[k] = R.choice(R.choice(others).split(".")) if others else "x"
        return ".".join(words)
    lines[i] = replace_one(R, lines[i], OPCODE, by)


def change_size(R, lines, i):
    lines[i] = replace_one(R, lines[i], r"(?<=\[)\d+(?=\])", lambda m: R.choice(SIZES))


def copy_line(R, lines, i):
    lines.insert(i, lines[R.randrange(len(lines))])


def delete_line(R, lines, i):
    del lines[i]
    if not lines:
        lines.append("")


def swap_lines(R, lines, i):
    j = R.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]


def change_branch(R, lines, i):
    labels = LABEL.findall("\n".join(lines))
    branches = [k for k, line in enumerate(lines) if re.search(r"\bbra\b", line)]
    if not labels:
        return
    if branches and R.random() < 0.6:
        k = R.choice(branches)
        lines[k] = re.sub(r"(bra\S*\s+)[$\w]+", lambda m: m[1] + R.choice(labels), lines[k])
    else:
        lines.insert(i, f"    @{R.choice(['', '!'])}%p{R.randrange(1, 5)} bra {R.choice(labels)};")


def negate_guard(R, lines, i):
    guards = [k for k, line in enumerate(lines) if "@" in line]
    if guards:
        k = R.choice(guards)
        lines[k] = lines[k].replace("@!", "@", 1) if "@!" in lines[k] else lines[k].replace("@", "@!", 1)


def add_guard(R, lines, i):
    lines[i] = f"    @%p{R.randrange(1, 5)} {lines[i].strip()}"


def take_from_another(R, lines, i):
    other = any_text(R).split("\n")
    k = R.randrange(len(other))
    lines[i:i] = other[k:k + R.randrange(1, 8)]


def add_barrier(R, lines, i):
    lines.insert(i, R.choice(["bar.sync 0;", "bar.sync 1, 32;", "bar.warp.sync -1;", "barrier.sync 0;", "bar.arrive 0, 64;", "membar.gl;",
                              "activemask.b32 %r1;", "bar.red.popc.u32 %r1, 0, %p1;", "ret;", "exit;", "trap;", "nanosleep.u32 1;"]))


def nest(R, lines, i):
    """A block of statements of its own, closed somewhere, or not."""
    lines.insert(i, "{")
    if R.random() < 0.9:
        lines.insert(R.randrange(i, len(lines)) + 1, "}")


def repeat_much(R, lines, i):
    part = lines[i:i + R.randrange(1, 4)]
    lines[i:i] = part * R.choice([2, 3, 10, 50])


def nest_expression(R, lines, i):
    n = R.choice([1, 2, 5, 40, 200])
    form = R.choice([("(", ")"), ("-", ""), ("~", ""), ("1 ? ", " : 2"), ("(u64)", ""), ("!", "")])
    lines[i] = replace_one(R, lines[i], r"(?<![\w%.$])\d+(?!\w)", lambda m: form[0] * n + m[0] + form[1] * n)


def change_character(R, lines, i):
    if lines[i]:
        k = R.randrange(len(lines[i]))
        c = R.choice(CHARACTERS)
        lines[i] = lines[i][:k] + c + lines[i][k + R.randrange(2):]


def cut(R, lines, i):
    lines[i] = lines[i][:R.randrange(len(lines[i]) + 1)]
    if R.random() < 0.3:
        del lines[i + 1:]


CHANGES = [(change_number, 14), (move_number, 6), (change_displacement, 8), (change_type, 10), (change_space, 5), (change_register, 14),
           (change_opcode, 4), (change_modifiers, 5), (change_size, 3), (copy_line, 5), (delete_line, 4), (swap_lines, 4),
           (change_branch, 5), (negate_guard, 2), (add_guard, 2), (take_from_another, 4), (add_barrier, 2), (nest, 1), (repeat_much, 1),
           (nest_expression, 1), (change_character, 3), (cut, 1)]
FUNCTIONS, WEIGHTS = zip(*CHANGES)


def make(seed, number):
    R = random.Random(f"mutants {seed} {number}")
    lines = any_text(R).split("\n")
    for change in R.choices(FUNCTIONS, WEIGHTS, k=R.choice([1, 1, 1, 2, 2, 3, 5, 8])):
        code = [k for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith(("//", ".loc", ".file"))] or [0]
        change(R, lines, R.choice(code))
    threads = R.choice([32, 32, 32, 1, 16, 31])
    how = "free" if CHANGES_BY_ITSELF.search("\n".join(lines)) else "warp"
    head = [f"//! machine {R.randrange(4)} {R.randrange(3)} 50000", "//! buffer 4096 below 64 1", "//! buffer 6000 hash 2",
            f"//! launch 1 {threads} {how} auto"]
    if R.random() < 0.4:
        head.append(f"//! launch {R.choice([1, 2, 3])} {R.choice([64, 96, 128, 256])} free auto")
    return "\n".join(head + lines)
