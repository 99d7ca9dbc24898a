"""Of lanes that store at one place with one instruction, who wins (docs/H200.md), in both engines and on each CPU level."""
import itertools
import lzma
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import environment, fault_by_both, has_level, need_compiler, written
from tap import FULL, launch, left, main, some, source, values

# A warp for each mask. %r1: its number, %r2: lane, %r3: mask, %p1: in the mask, %r8 and %rd3: where the warp's places begin in shared
# memory and as a generic address of them, %rd13: in global memory, %rd17: what the lane found, store by store.
KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry stores(.param .u64 out, .param .u64 places, .param .u64 masks, .param .u64 numbers)
{
    .reg .u32 %r<REGS>; .reg .u64 %rd<REGS>; .reg .pred %p1, %p2;
    .shared .align 16 .b8 own[SHARED];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [places];
    ld.param.u64 %rd6, [masks];
    ld.param.u64 %rd7, [numbers];
    mov.u32 %r4, %tid.x;
    mov.u32 %r9, %ctaid.x;
    shr.u32 %r5, %r4, 5;
    and.b32 %r2, %r4, 31;
    mad.lo.u32 %r1, %r9, 2, %r5;
    mul.wide.u32 %rd8, %r1, 4;
    add.u64 %rd9, %rd6, %rd8;
    ld.global.u32 %r3, [%rd9];
    shr.u32 %r6, %r3, %r2;
    and.b32 %r7, %r6, 1;
    setp.ne.u32 %p1, %r7, 0;
    mov.u32 %r10, own;
    mad.lo.u32 %r8, %r5, PLACES, %r10;
    cvta.shared.u64 %rd11, own;
    mul.wide.u32 %rd12, %r5, PLACES;
    add.u64 %rd3, %rd11, %rd12;
    mul.wide.u32 %rd10, %r1, PLACES;
    add.u64 %rd13, %rd2, %rd10;
    mul.wide.u32 %rd14, %r1, OUT;
    add.u64 %rd15, %rd1, %rd14;
    mul.wide.u32 %rd16, %r2, 4;
    add.u64 %rd17, %rd15, %rd16;
    mov.u64 %rd18, %rd17;
    mov.u32 %r11, 0;
ROUND:
LOOP
    add.u32 %r11, %r11, 1;
    add.u64 %rd18, %rd18, FOUND;
    setp.lt.u32 %p2, %r11, ROUNDS;
    @%p2 bra ROUND;
BODY
    ret;
}
"""
SIZES = {"u8": 1, "u16": 2, "u32": 4, "f32": 4, "u64": 8}
MASKS = [0xffffffff, 0xfffffffe, 0x7fffffff, 0xf0f0f0f0, 0xaaaaaaaa, 0x00ff0000, 0x80000001, 0x12345678]
EMPTY = 200  # what stands in a place before; element k of a lane's vector is lane + 32 * k
LEVELS = ("x86-64-v2", "1"), ("x86-64-v3", "1"), ("x86-64-v4", "1"), ("x86-64-v4", "2"), ("armv8-a", "1")  # and tiers


def in_turn(levels, count):
    here = [level for level in levels if has_level(level[0])]
    yield from itertools.cycle([[here[n - k] for k in range(min(count, len(here)))] for n in range(len(here))])


some_of = in_turn(LEVELS, 2 if FULL else 1)  # each kernel on another level than the last, with `make check-all` on two


class Builder:
    """A kernel of stores, first those of a loop, whose rounds are %r11, then others."""

    def __init__(self, type, vector, space, how, rounds):
        self.type, self.vector, self.space, self.how, self.rounds = type, vector, space, how, rounds
        self.loop, self.lines, self.used, self.in_round, self.stores = [], [], 20, 0, 0
        self.bytes = SIZES[type] * vector

    def add(self, text):
        """$NAME: a register of its own, of 64 bits where the name begins with `rd`; others are the kernel's."""
        for name in dict.fromkeys(re.findall(r"\$(\w+)", text)):
            self.used += 1
            text = re.sub(rf"\${name}\b", f"%{'rd' if name.startswith('rd') else 'r'}{self.used}", text)
        return text

    def element(self, k):
        return f"$rd_v{k}" if self.type == "u64" else f"$v{k}"

    def access(self, op, how, names):
        at, space = {"global": ("$rd_at", ".global"), "shared": ("$at", ".shared"), "generic global": ("$rd_at", ""),
                     "generic shared": ("$rd_at", "")}[self.space]
        names = ", ".join(names)
        return (f"{op}{how}{space}.v{self.vector}.{self.type} {', '.join([f'[{at}]', f'{{{names}}}'][::1 if op == 'st' else -1])};"
                if self.vector > 1 else
                f"{op}{how}{space}.{self.type} {', '.join([f'[{at}]', names][::1 if op == 'st' else -1])};")

    def store(self, place, masked, looped=False):
        """Lanes store at what `place` leaves in $place, all or those of the mask, by a guard or a branch."""
        n, names = range(self.vector), [self.element(k) for k in range(self.vector)]
        wide = self.type == "u64"
        base = {"global": "%rd13", "generic global": "%rd13", "generic shared": "%rd3"}.get(self.space)
        at = (f"mul.wide.u32 $rd_by, $place, {self.bytes}; add.u64 $rd_at, {base}, $rd_by;" if base
              else f"mad.lo.u32 $at, $place, {self.bytes}, %r8;")
        set_to = "cvt.u64.u32 {0}, {1};" if wide else "mov.u32 {0}, {1};"
        fill = [set_to.format(f"$rd_e" if wide else "$e", EMPTY)] if not wide else [f"mov.u64 $rd_e, {EMPTY};"]
        lane = [f"add.u32 $l{k}, %r2, {32 * k}; " + set_to.format(names[k], f"$l{k}") for k in n]
        st = self.access("st", self.how, names)
        label = f"L{self.used}"
        found = f"%rd18+{128 * self.in_round}" if looped else f"%rd17+{128 * self.stores}"
        by = {"": [st], "guard": [f"@%p1 {st}"], "branch": [f"@!%p1 bra {label};", st, f"{label}:"]}[masked]
        read = [self.element(k).replace("_v", "_w").replace("$v", "$w") for k in n]
        words = [f"cvt.u32.u64 $x{k}, {read[k]};" if wide else f"mov.u32 $x{k}, {read[k]};" for k in n]
        total = ["mov.u32 $s0, 0;"] + [f"shl.b32 $y{k}, $x{k}, {8 * k}; or.b32 $s{k + 1}, $s{k}, $y{k};" for k in n]
        text = self.add("\n    ".join(
            [place, at] + fill + lane + [self.access("st", "", ["$rd_e" if wide else "$e"] * self.vector), "bar.warp.sync 0xffffffff;"] + by +
            ["bar.warp.sync 0xffffffff;", self.access("ld", "", read)] + words + total +
            [f"st.global.u32 [{found}], $s{self.vector};"]))
        (self.loop if looped else self.lines).append(text)
        self.stores += self.rounds if looped else 1
        self.in_round += looped

    def text(self):
        parts = {"LOOP": "\n    ".join(self.loop), "BODY": "\n    ".join(self.lines), "REGS": self.used + 1, "OUT": 128 * self.stores,
                 "SHARED": 2 * 1024 * self.bytes, "PLACES": 1024 * self.bytes, "ROUNDS": self.rounds, "FOUND": 128 * self.in_round}
        text = KERNEL
        for name, part in parts.items():
            text = text.replace(name, str(part))
        return text.replace(".f32 [", ".b32 [").replace(".f32 {", ".b32 {")


def winners(builder, numbers, compiled):
    """By way to run, warp (mask) and store: what each lane finds in its place."""
    need_compiler()
    ways = [(["--engine", "interp"], {})] + [(["--engine", "jit", "--cpu", level], {"HEDDLE_TIER": tier})
                                             for level, tier in compiled if has_level(level)]
    n, words = builder.stores, ",".join(map(str, numbers))
    with written(builder.text()) as path:
        for way, more in ways:
            result = launch(path, "--grid", len(MASKS) // 2, "--block", 64, f"u32[{len(MASKS) * n * 32}]+print",
                            f"u8[{len(MASKS) * 1024 * builder.bytes}]", f"u32[{len(MASKS)}]={','.join(map(str, MASKS))}",
                            f"u32[{len(numbers)}]={words}", *way, env=environment(**more))
            found = values(result, 1)
            yield (way, more), [[found[(m * n + s) * 32:(m * n + s + 1) * 32] for s in range(n)] for m in range(len(MASKS))]


# ---- the recorded answers ----

GROUPS, STRIDES = (32, 16, 4, 2), (1, 7, 32)
KINDS = {"8": ("u8", 1), "16": ("u16", 1), "32": ("u32", 1), "64": ("u64", 1), "v2": ("u32", 2), "v4": ("u32", 4)}


def recorded(path):
    """By kind, mask, lanes to a place, and distance of places: in how many places the lowest lane of its mask won, the highest, or
    another one, where there were two; and who won in the first."""
    with lzma.open(path, "rt") as f:
        for line in f:
            kind, mask, group, stride, *counts = re.fullmatch(
                r"(\w+) mask (\w+) group (\d+) stride (\d+): lowest (\d+) highest (\d+) other (\d+) first (\d+)\n", line).groups()
            yield (kind, int(mask, 16), int(group), int(stride)), tuple(map(int, counts))


def counted(lanes, mask, group):
    """The same of what lanes found."""
    count = [0, 0, 0]
    for at in range(0, 32, group):
        those = [l for l in range(at, at + group) if mask >> l & 1]
        if len(those) > 1:
            won = lanes[at] & 255
            count[0 if won == those[0] else 1 if won == those[-1] else 2] += 1
    return tuple(count)


def the_lanes_win_that_win_on_an_h200():
    left.add("all CPU levels and tiers for each kernel beside an H200's answers, two of them for each other kernel")
    answers = dict(recorded(os.path.join(source, "tests", "oracle", "stores-h200.txt.xz")))
    assert len(answers) == 1152
    cases = [(group, stride) for group in GROUPS for stride in STRIDES]
    loaded = "mul.wide.u32 $rd_i, %r11, 8; add.u64 $rd_n, %rd7, $rd_i; ld.global.u32 $shift, [$rd_n]; ld.global.u32 $stride, [$rd_n+4];" \
        "shr.u32 $to, %r2, $shift; mul.lo.u32 $place, $to, $stride;"
    numbers = [x for group, stride in cases for x in (group.bit_length() - 1, stride)]
    for space in "global", "shared":
        for kind, (type, vector) in KINDS.items():
            b = Builder(type, vector, space, "", len(cases))
            b.store(loaded, "branch", looped=True)
            for group, stride in cases[::2]:
                b.store(f"shr.u32 $to, %r2, {group.bit_length() - 1}; mul.lo.u32 $place, $to, {stride};", "guard")
            for way, found in winners(b, numbers, LEVELS if FULL else next(some_of)):
                for m, mask in enumerate(MASKS):
                    for (group, stride), lanes in zip(cases + cases[::2], found[m], strict=True):
                        *counts, first = answers[space[0] + kind, mask, group, stride]
                        assert counted(lanes, mask, group) == tuple(counts), (way, space, kind, hex(mask), group, stride, lanes)
                        if mask & ((1 << group) - 1):
                            assert lanes[0] & 255 == first & 255, (way, space, kind, hex(mask), group, stride, lanes)


# ---- what follows from them ----

PLACES = {  # lane to place, and how a kernel finds it: what the compiler knows of it, and the same loaded
    "all": (lambda l: 3, "mov.u32 $place, 3;"),
    "rows of 16": (lambda l: l & 15, "and.b32 $place, %r2, 15;"),
    "rows of 8": (lambda l: l & 7, "and.b32 $place, %r2, 7;"),
    "rows of 8, two each": (lambda l: (l & 7) + 16 * (l >> 4), "and.b32 $a, %r2, 7; and.b32 $b, %r2, 16; add.u32 $place, $a, $b;"),
    "backwards, four each": (lambda l: (31 - l) >> 2, "sub.u32 $a, 31, %r2; shr.u32 $place, $a, 2;"),
    "apart": (lambda l: 31 - l, "sub.u32 $place, 31, %r2;"),
    "far apart": (lambda l: 31 * l, "mul.lo.u32 $place, %r2, 31;"),
    "by a factor": (lambda l: l * 11 & 12, "mul.lo.u32 $a, %r2, 11; and.b32 $place, $a, 12;"),
}


def expected(place, mask, size):
    """Lanes go as many at a time as have 128 bytes, of these the lowest last."""
    together, at = min(32, 128 // size), {}
    for n in range(32):
        lane = n ^ (together - 1)
        if mask >> lane & 1:
            at[place(lane)] = lane
    return [at.get(place(l)) for l in range(32)]


def compare(type, vector, space, how):
    b, made = Builder(type, vector, space, how, len(PLACES)), []
    loaded = "mad.lo.u32 $i, %r11, 32, %r2; mul.wide.u32 $rd_a, $i, 4; add.u64 $rd_b, %rd7, $rd_a; ld.global.u32 $place, [$rd_b];"
    ways = "", "guard", "branch"
    for masked in ways:
        b.store(loaded, masked, looped=True)
    made = [(place, masked) for place, known in PLACES.values() for masked in ways]
    for n, (place, known) in enumerate(PLACES.values()):
        for masked in "", ways[n % 2 + 1]:
            b.store(known, masked)
            made.append((place, masked))
    for way, found in winners(b, [place(l) for place, known in PLACES.values() for l in range(32)], next(some_of)):
        for m, mask in enumerate(MASKS):
            for s, (place, masked) in enumerate(made):
                won = expected(place, mask if masked else 0xffffffff, b.bytes)
                wanted = [sum((EMPTY if w is None else w + 32 * k) << 8 * k for k in range(vector)) for w in won]
                assert found[m][s] == wanted, (way, type, vector, space, how, hex(mask), s, found[m][s], wanted)


def a_vector_counts_by_all_its_bytes():
    for type, vector, space in some(5, [("u16", 4, "global"), ("u64", 2, "shared"), ("u8", 2, "global"), ("u8", 4, "shared"), ("f32", 4, "shared"),
                                        ("u16", 4, "shared"), ("u64", 2, "global"), ("u16", 2, "shared"), ("f32", 2, "global")]):
        compare(type, vector, space, "")


def one_value_of_each_size_goes_anywhere():
    for type, space in some(5, [("u8", "global"), ("u16", "shared"), ("u32", "global"), ("u64", "shared"), ("u8", "shared"), ("u16", "global"),
                                ("u32", "shared"), ("u64", "global")]):
        compare(type, 1, space, "")


def generic_addresses_go_the_same_way():
    for type, vector, space in ("u16", 1, "global"), ("u32", 1, "shared"), ("u64", 1, "shared"), ("u32", 4, "global"):
        compare(type, vector, f"generic {space}", "")


def strong_stores_go_the_same_way():
    for type, vector, space, how in some(5, [
            ("u32", 1, "global", ".volatile"), ("u32", 2, "shared", ".volatile"), ("u32", 2, "global", ".relaxed.gpu"), ("u8", 1, "global", ".release.gpu"),
            ("u32", 4, "generic shared", ".release.gpu"), ("u64", 2, "global", ".volatile"), ("u64", 1, "global", ".relaxed.gpu")]):
        compare(type, vector, space, how)


# Each third lane stores in one place of global memory, of shared memory, and in local memory of its own, by one instruction.
SPREAD = """.visible .entry spread(.param .u64 one, .param .u64 other, .param .u64 found, .param .u32 mask)
{
    .reg .u32 %r<12>; .reg .u64 %rd<20>; .reg .pred %p<9>;
    .shared .align 16 .b8 own[16];
    .local .align 16 .b8 mine[16];
    ld.param.u64 %rd1, [one];
    ld.param.u64 %rd2, [other];
    ld.param.u64 %rd3, [found];
    ld.param.u32 %r1, [mask];
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 3;
    cvta.shared.u64 %rd4, own;
    cvta.local.u64 %rd5, mine;
    setp.eq.u32 %p1, %r3, 0;
    setp.eq.u32 %p2, %r3, 1;
    setp.eq.u32 %p3, %r3, 2;
    selp.u64 %rd6, %rd1, %rd2, %p1;
    selp.u64 %rd7, %rd4, %rd6, %p2;
    selp.u64 %rd8, %rd5, %rd7, %p3;
    cvt.u64.u32 %rd9, %r2;
    mov.u64 %rd10, 200;
    st.v2.u64 [%rd8], {%rd10, %rd10};
    bar.warp.sync 0xffffffff;
    shr.u32 %r4, %r1, %r2;
    and.b32 %r5, %r4, 1;
    setp.ne.u32 %p4, %r5, 0;
    STORE
    bar.warp.sync 0xffffffff;
    LOAD
    mul.wide.u32 %rd12, %r2, 4;
    add.u64 %rd13, %rd3, %rd12;
    st.global.u32 [%rd13], %r8;
    ret;
}
"""


def lanes_may_store_to_several_memories():
    need_compiler()
    for size, store, load in (4, "st.u32 [%rd8], %r2;", "ld.u32 %r8, [%rd8];"), \
            (8, "st.u64 [%rd8], %rd9;", "ld.u64 %rd11, [%rd8]; cvt.u32.u64 %r8, %rd11;"), \
            (16, "st.v2.u64 [%rd8], {%rd9, %rd9};", "ld.v2.u64 {%rd11, %rd14}, [%rd8]; cvt.u32.u64 %r8, %rd14;"):
        with written(SPREAD.replace("STORE", f"@%p4 {store}").replace("LOAD", load)) as path:
            for mask in MASKS:
                won = expected(lambda l: l if l & 3 == 2 else l & 3, mask, size)
                for engine in "jit", "interp":
                    found = values(launch(path, "--grid", 1, "--block", 32, "u8[16]", "u8[16]", "u32[32]+print", mask, "--engine", engine), 3)
                    assert found == [EMPTY if w is None else w for w in won], (engine, size, hex(mask), found, won)


# ---- faults ----

# Lanes of which two store where nothing is, or not aligned.
FAULTS = """.visible .entry faults(.param .u64 out, .param .u32 one, .param .u32 other, .param .u64 far)
{
    .reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .pred %p<9>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [far];
    ld.param.u32 %r1, [one];
    ld.param.u32 %r2, [other];
    mov.u32 %r3, %tid.x;
    shr.u32 %r4, %r3, 2;
    mul.wide.u32 %rd3, %r4, 16;
    add.u64 %rd4, %rd1, %rd3;
    setp.eq.u32 %p1, %r3, %r1;
    setp.eq.u32 %p2, %r3, %r2;
    or.pred %p3, %p1, %p2;
    selp.u64 %rd5, %rd2, 0, %p3;
    add.u64 %rd6, %rd4, %rd5;
    cvt.u64.u32 %rd7, %r3;
    STORE
    ret;
}
"""


def the_lowest_lane_whose_access_fails_is_named():
    for store in "st.global.u32 [%rd6], %r3;", "st.global.u64 [%rd6], %rd7;", "st.global.v2.u64 [%rd6], {%rd7, %rd7};", \
            "st.volatile.global.v2.u64 [%rd6], {%rd7, %rd7};", "ld.volatile.global.v2.u64 {%rd7, %rd8}, [%rd6];":
        with written(FAULTS.replace("STORE", store)) as path:
            for one, other, lowest in (31, 0, 0), (9, 17, 9), (8, 7, 7), (30, 30, 30):
                for far in 1 << 40, 1:
                    said = fault_by_both(path, "--grid", 1, "--block", 32, "u8[1024]", one, other, far)
                    assert f"thread ({lowest},0,0)" in said, said


main(globals())
