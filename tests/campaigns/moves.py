"""Kernels that move many bytes by one instruction: matrices (wmma, ldmatrix, stmatrix, the descriptors of wgmma) and asynchronous copies
(cp.async, bulk, by tensor maps): cases for harness.c.

Shapes, strides and offsets are random. Which bytes of memory an instruction moves is computed here, by the text of the PTX ISA, so that
half of the launches end at the last byte of a buffer, or begin at its first, and have to succeed, and the others miss it by the least
that their alignment lets them, and have to fault. A kernel goes around some times, so that compiled code has seen a good place before
it meets the last one.
"""
import random
import struct

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
BEFORE = 1024  # bytes of shared memory that lie before the tile

BITS = {"s4": 4, "u4": 4, "b1": 1, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64}
SQUARE, WIDE, HIGH = (16, 16, 16), (8, 32, 16), (32, 8, 16)
# shape, matrix, types, registers
MATRICES = [(shape, which, types, n) for shape, registers in (
    (SQUARE, {"a": (8, 2, 4), "b": (8, 2, 4)}), (WIDE, {"a": (8, 1, 2), "b": (8, 4, 8)}), (HIGH, {"a": (8, 4, 8), "b": (8, 1, 2)}))
    for which, (halves, bytes_, others) in registers.items() for types, n in ((("f16",), halves), (("s8", "u8"), bytes_), (("bf16",), others))]
MATRICES += [(shape, "c", types, n) for shape in (SQUARE, WIDE, HIGH) for types, n in ((("f16",), 4), (("f32", "s32"), 8))]
MATRICES += [((16, 16, 8), "a", ("tf32",), 4), ((16, 16, 8), "b", ("tf32",), 4), ((16, 16, 8), "c", ("f32",), 8), ((8, 8, 4), "a", ("f64",), 1),
             ((8, 8, 4), "b", ("f64",), 1), ((8, 8, 4), "c", ("f64",), 2), ((8, 8, 32), "a", ("s4", "u4"), 1), ((8, 8, 32), "b", ("s4", "u4"), 1),
             ((8, 8, 32), "c", ("s32",), 2), ((8, 8, 128), "a", ("b1",), 1), ((8, 8, 128), "b", ("b1",), 1), ((8, 8, 128), "c", ("s32",), 2)]


class Move:
    """An instruction, in `lines`; %x or %sx is the place it begins at, in the buffer or in the tile; %k0 and on are its knobs. What it
    gives goes into registers that `results` names."""
    threads = 32
    space = "global"  # that the place is in
    align = 16
    results = ()
    knobs = 0
    declares = ""
    behind = ""
    shared_bytes = 4096

    def launch(self, R):
        """Knobs, and the bytes that are moved, as (first, last + 1) from the place on."""
        raise NotImplementedError

    def text(self):
        """%turn goes from 0 to %turns - 1: the last turn has other knobs and another place."""
        k = range(self.knobs)
        params = "".join(f", .param .u32 e{i}, .param .u32 l{i}" for i in k)
        choose = "".join(f"    ld.param.u32 %u, [e{i}]; ld.param.u32 %v, [l{i}]; selp.b32 %k{i}, %v, %u, %last;\n" for i in k)
        fold = "".join(f"    cvt.u32.u16 %u, {r}; xor.b32 %acc, %acc, %u;\n" if r[1] == "h" else
                       f"    mov.b32 %u, {r}; xor.b32 %acc, %acc, %u;\n" if r[1] == "f" else
                       f"    mov.b64 {{%u, %v}}, {r}; xor.b32 %acc, %acc, %u; xor.b32 %acc, %acc, %v;\n" if r[1] == "d" else
                       f"    xor.b32 %acc, %acc, {r};\n" for r in self.results)
        return HEAD + f""".visible .entry k(.param .u64 out, .param .u64 buffer, .param .u64 map, .param .u32 turns, .param .u64 early, .param .u64 late{params})
{{
    .shared .align 1024 .b8 memory[{BEFORE + self.shared_bytes}];
    .reg .b64 %out, %in, %x, %y, %z, %map; .reg .b32 %r<20>, %k<9>, %u, %v, %sx, %sy, %acc, %me, %turn, %turns, %tile, %bar; .reg .f32 %f<132>;
    .reg .f64 %d<4>; .reg .pred %p, %q, %last, %first; .reg .b16 %h<4>;
    ld.param.u64 %out, [out]; ld.param.u64 %in, [buffer]; ld.param.u64 %map, [map]; ld.param.u32 %turns, [turns];
    mov.u32 %bar, memory; add.u32 %tile, %bar, {BEFORE}; mov.u32 %me, %tid.x; mov.u32 %turn, 0; mov.u32 %acc, 0; setp.eq.u32 %first, %me, 0;
    {self.declares}
more:
    add.u32 %turn, %turn, 1; setp.eq.u32 %last, %turn, %turns;
    ld.param.u64 %y, [early]; ld.param.u64 %z, [late]; selp.b64 %y, %z, %y, %last; add.s64 %x, %in, %y; cvt.u32.u64 %u, %y; add.u32 %sx, %tile, %u;
{choose}{''.join(f'    {line}' + chr(10) for line in self.lines)}{fold}    setp.lt.u32 %q, %turn, %turns; @%q bra more;
    {self.behind}
    mul.wide.u32 %y, %me, 4; add.u64 %out, %out, %y; st.global.u32 [%out], %acc;
    ret;
}}
"""


def registers(kind, n):
    return [f"%{kind}{i}" for i in range(n)]


def braces(names):
    return "{" + ", ".join(names) + "}"


class Wmma(Move):
    """wmma.load, wmma.store: 9.7.14.4."""
    knobs = 1

    def __init__(self, R):
        (m, n, k), which, types, count = R.choice(MATRICES)
        type = R.choice(types)
        self.bits = BITS[type]
        stores = which == "c" and R.random() < 0.5
        layout = R.choice(["row", "col"]) if self.bits >= 8 else "col" if which == "b" else "row"
        if which == "c":
            layout = R.choice(["row", "col"])
        rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[which]
        self.rows, self.length = (rows, columns) if layout == "row" else (columns, rows)
        self.group = 16 if which == "c" and (m, n) == (16, 16) else 8
        self.space = R.choice(["global", "shared", "generic"])
        self.strided = R.random() < 0.85
        names = registers("d" if type == "f64" else "f" if type == "f32" else "r", count)
        place = f"[{'%sx' if self.space == 'shared' else '%x'}]"
        space = "" if self.space == "generic" else "." + self.space
        stride = ", %k0" if self.strided else ""
        shape = f"m{m}n{n}k{k}"
        if stores:
            self.lines = [f"wmma.store.d.sync.aligned.{layout}.{shape}{space}.{type} {place}, {braces(names)}{stride};"]
            self.declares = " ".join(f"mov.b{64 if r[1] == 'd' else 32} {r}, 0;" for r in names)
        else:
            self.lines = [f"wmma.load.{which}.sync.aligned.{layout}.{shape}{space}.{type} {braces(names)}, {place}{stride};"]
            self.results = names

    def launch(self, R):
        line, dense = self.length * self.bits // 8, self.length
        whole = 128 // self.bits  # elements of 16 bytes
        stride = R.choice([0, dense, dense, dense + whole, dense + 2 * whole, whole, 3 * whole, 2 * dense, 1 << 20, M32 // whole * whole])
        if (self.bits < 8 or self.bits == 16) and R.random() < 0.7:  # as an H200 has it: exec/matrix.c
            stride = R.choice([1, 3, 9, 17, 31, 33, 65, 127, 129, 161, 200, 255])
        used = stride if self.strided else dense
        near, last = used * self.bits // 32 * 4 if self.bits % 32 else used * self.bits // 8, self.rows - 1
        far = used * self.bits if self.group == 8 else near * self.group
        return [stride], (0, last // self.group * far + last % self.group * near + line)


class Rows(Move):
    """ldmatrix, stmatrix: rows of 16 bytes, 9.7.14.5.15 and 16."""
    knobs = 2

    def __init__(self, R):
        self.count = R.choice([1, 2, 4])
        stores, trans = R.random() < 0.4, R.choice(["", ".trans"])
        self.space = R.choice(["shared", "generic shared"])
        names = registers("r", self.count)
        self.lines = ["mul.lo.u32 %u, %me, %k0; add.u32 %sx, %sx, %u; setp.eq.u32 %p, %me, 31; add.u32 %u, %sx, %k1; selp.b32 %sx, %u, %sx, %p;"]
        place = "[%sx]"
        if self.space != "shared":
            self.lines += ["cvt.u64.u32 %y, %sx; cvta.shared.u64 %y, %y;"]
            place = "[%y]"
        shape = f"sync.aligned.m8n8.x{self.count}{trans}{'.shared' if self.space == 'shared' else ''}.b16"
        if stores:
            self.lines.append(f"stmatrix.{shape} {place}, {braces(names)};")
            self.declares = " ".join(f"mov.b32 {r}, %me;" for r in names)
        else:
            self.lines.append(f"ldmatrix.{shape} {braces(names)}, {place};")
            self.results = names

    def launch(self, R):
        stride = R.choice([0, 16, 16, 32, 48, 80, 112])
        apart = R.choice([0, 0, 16, 256])  # of the last lane alone
        used = 8 * self.count
        last = (used - 1) * stride + (apart if used == 32 else 0)
        return [stride, apart], (0, max(last, (used - 2) * stride) + 16)


class Copies(Move):
    """cp.async of each lane, 9.7.9.25.3.1. Its place is in the buffer; the tile holds all."""
    knobs = 3

    def __init__(self, R):
        self.bytes = R.choice([4, 8, 16])
        self.sized = R.random() < 0.4
        self.to_tile = R.random() < 0.5  # what misses is what is written
        self.space = "shared" if self.to_tile else "global"
        self.align = self.bytes
        cache = "cg" if self.bytes == 16 and R.random() < 0.5 else "ca"
        size = ", %k2" if self.sized else ""
        here = "%me, %k0"
        self.lines = [f"mul.wide.u32 %y, {here}; " + ("add.u64 %y, %y, %in; cvt.u32.u64 %u, %y; mul.lo.u32 %u, %me, %k0; add.u32 %sy, %sx, %u;" if self.to_tile else
                                                     "add.u64 %y, %y, %x; mul.lo.u32 %u, %me, %k1; add.u32 %sy, %tile, %u;"),
                      f"cp.async.{cache}.shared.global [%sy], [%y], {self.bytes}{size};", "cp.async.commit_group; cp.async.wait_group 0;"]
        if not self.to_tile:
            self.lines.append("ld.shared.u32 %r0, [%sy];")
            self.results = ["%r0"]

    def launch(self, R):
        stride = self.bytes * R.choice([0, 1, 1, 2, 3])
        size = R.choice([0, 1, self.bytes - 1, self.bytes]) if self.sized else self.bytes
        read = 31 * stride + size if size else 0
        return [stride, self.bytes, size], (0, 31 * stride + self.bytes if self.to_tile else read)


INIT = "@%first mbarrier.init.shared.b64 [%bar], 1;"
WAIT = ["mbarrier.try_wait.parity.shared.b64 %p, [%bar], %u; @!%p bra wait;"]


class Bulk(Move):
    """cp.async.bulk, cp.reduce.async.bulk: 9.7.9.25.4."""
    knobs = 1

    def __init__(self, R):
        self.to_shared = R.random() < 0.5
        self.to_tile = R.random() < 0.5  # what misses is in shared memory
        self.space = "shared" if self.to_tile else "global"
        shared, other = ("%sx", "%in") if self.to_tile else ("%tile", "%x")
        if self.to_shared:
            self.declares = INIT + " bar.sync 0;"
            self.lines = ["@!%first bra done;", "mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %k0;",
                          f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{shared}], [{other}], %k0, [%bar];",
                          "sub.u32 %u, %turn, 1; and.b32 %u, %u, 1;", "wait:"] + WAIT + ["done:"]
        else:
            what = R.choice(["cp.async.bulk.global.shared::cta.bulk_group", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
                             "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b64"])
            wait = R.choice(["", ".read"])
            self.lines = [f"@%first {what} [{other}], [{shared}], %k0;", f"cp.async.bulk.commit_group; cp.async.bulk.wait_group{wait} 0;"]

    def launch(self, R):
        size = 16 * R.choice([1, 1, 2, 3, 16, 63, 100])
        return [size], (0, size)


class Tensor(Move):
    """Copies by a tensor map of two dimensions, of which boxes lie in part outside: 9.7.9.27. The map's place is the buffer's."""

    def __init__(self, R):
        self.element = R.choice([1, 2, 4, 8])
        self.loads = R.random() < 0.6
        self.box = [16 // self.element * R.choice([1, 2, 4]), R.choice([1, 3, 8])]
        self.size = [16 // self.element * R.choice([1, 2, 8]) + (R.randrange(16 // self.element) if self.loads else 0), R.choice([1, 5, 20])]
        self.stride = (self.size[0] * self.element + 15) // 16 * 16 + R.choice([0, 0, 16, 64])
        self.swizzle = R.choice([0, 0, 1, 2, 3])
        if self.box[0] * self.element > 16 << self.swizzle:
            self.swizzle = 0
        self.knobs = 2
        self.declares = INIT + " bar.sync 0;"
        body = ["@!%first bra done;", "st.global.u64 [%map+16], %x;"]
        if self.loads:
            body += [f"mbarrier.arrive.expect_tx.shared.b64 _, [%bar], {self.box[0] * self.box[1] * self.element};",
                     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%tile], [%map, {%k0, %k1}], [%bar];",
                     "sub.u32 %u, %turn, 1; and.b32 %u, %u, 1;", "wait:"] + WAIT
        else:
            body += ["cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%k0, %k1}], [%tile];",
                     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"]
        self.lines = body + ["done:"]

    def map(self):
        bytes_ = struct.pack("<QQQ4Q5I", 0x50414d524f534e54, 0, 0, self.stride, 0, 0, 0, self.size[0] - 1, self.size[1] - 1, 0, 0, 0)
        bytes_ += bytes([1, {1: 0, 2: 1, 4: 2, 8: 4}[self.element], 0, 0, self.swizzle, 0, self.box[0] - 1, self.box[1] - 1]) + bytes(8)
        words = struct.unpack(f"<{len(bytes_) // 4}I", bytes_)
        return "".join(f" {4 * i}={w}" for i, w in enumerate(words))

    def launch(self, R):
        at = [R.choice([-16 // self.element, 0, 0, 16 // self.element]), R.choice([-2, 0, 0, 1, self.size[1] - 1])]
        at = at if self.loads else [max(v, 0) for v in at]
        lines = [y for y in range(at[1], at[1] + self.box[1]) if 0 <= y < self.size[1]]
        first, last = max(at[0], 0), min(at[0] + self.box[0], self.size[0])
        knobs = [v & M32 for v in at]
        if not lines or first >= last:
            return knobs, (0, 0)
        return knobs, (lines[0] * self.stride + first * self.element, lines[-1] * self.stride + last * self.element)


class Descriptors(Move):
    """wgmma of f16: B, or A and B by turns, lie in pieces of 16 bytes, 9.7.15.5.1. The other matrix is at the tile's begin."""
    threads = 128
    space = "shared"
    align = 1024  # where the patterns of swizzles begin

    def __init__(self, R):
        self.n = 8 * R.choice([1, 2, 4, 8, 32])
        self.of_a = R.random() < 0.4  # whose descriptor it is: A's, or B's
        self.transposed = R.random() < 0.4
        self.span = R.choice([0, 0, 32, 64, 128])  # of the swizzle
        self.leading, self.stride = 16 * R.choice([0, 8, 8, 16, 40]), 16 * R.choice([0, 8, 16, 16, 24])
        rows = 64 if self.of_a else self.n
        pieces = [self.across(r, k) for r in range(0, rows, 8) for k in range(16)] if self.transposed else \
                 [self.along(r, k) for r in range(rows) for k in (0, 16)]
        self.moved = min(pieces), max(pieces) + 16
        self.shared_bytes = 1024 * R.choice([4, 6]) + (self.moved[1] + 1023) // 1024 * 1024 - (-self.moved[1]) % 1024
        names = registers("f", self.n // 2)
        self.declares = " ".join(f"mov.f32 {r}, 0f00000000;" for r in names)
        kind = {0: 0, 128: 1, 64: 2, 32: 3}[self.span]
        # start and leading dimension's byte offset, stride's and the swizzle, all in 16 bytes
        self.lines = [f"shr.u32 %u, %sx, 4; and.b32 %u, %u, 16383; or.b32 %u, %u, {self.leading // 16 << 16}; mov.b64 %y, {{%u, {self.stride // 16 | kind << 30}}};",
                      "shr.u32 %v, %tile, 4; mov.b64 %z, {%v, 0};", "wgmma.fence.sync.aligned;",
                      f"wgmma.mma_async.sync.aligned.m64n{self.n}k16.f32.f16.f16 {braces(names)}, {'%y, %z' if self.of_a else '%z, %y'}, 1, 1, 1, "
                      f"{int(self.transposed and self.of_a)}, {int(self.transposed and not self.of_a)};",
                      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"]
        self.results = names[:2]

    def swizzled(self, at):
        return at ^ (at >> 3 & (self.span - 16 if self.span else 0))

    def along(self, r, k):
        """The piece of row r from byte k on; 8 rows have a pattern of the swizzle."""
        at = r % 8 * self.span + k if self.span else k // 16 * self.leading + r % 8 * 16
        return self.swizzled(r // 8 * self.stride + at)

    def across(self, r, k):
        """Rows r to r + 7 of column k."""
        half = self.span // 2
        at = r // half * self.leading + k // 8 * self.stride + k % 8 * self.span + r % half * 2 if half else \
            r // 8 * self.stride + k // 8 * self.leading + k % 8 * 16
        return self.swizzled(at)

    def launch(self, R):
        return [], self.moved


KINDS = [Wmma, Wmma, Wmma, Rows, Copies, Bulk, Tensor, Descriptors]
LAUNCHES = 16


def place(R, move, size, moved):
    """Where the instruction begins, and whether all is inside; mostly as near to an end as alignment lets it be."""
    first, end = moved
    if end == first:
        return 0, True
    up = lambda v: -(-v // move.align) * move.align
    last = (size - end) // move.align * move.align  # the greatest place that is inside
    least = up(-first)
    choice = R.random()
    if last < least:  # nothing fits: too long by far
        return least, False
    if choice < 0.3:
        return last, True
    if choice < 0.5:
        return least, True
    if choice < 0.85 or "shared" in move.space:
        return last + move.align * R.choice([1, 1, 1, 2, 64]), False
    return least - move.align * R.choice([1, 1, 2, 64]), False


def make(seed, number):
    R = random.Random(f"moves {seed} {number}")
    move = R.choice(KINDS)(R)
    # at least 1 KB of nobody's lies behind each, as allocations take powers of two
    buffers = [R.choice([5120, 6656, 12288, 14336]) + R.choice([0, 0, 1, 2, 4, 6, 8, 12]) for _ in range(6)]
    head = [f"//! machine {R.randrange(4)} {R.randrange(3)} 300000", "//! buffer 3072 hash 1",
            f"//! buffer 128 below 1 0{move.map() if isinstance(move, Tensor) else ''}"]
    head += [f"//! buffer {n} hash {R.randrange(1000)}" for n in buffers]
    launches = []
    while len(launches) < LAUNCHES:
        b = R.randrange(len(buffers))
        size = move.shared_bytes if "shared" in move.space else buffers[b]
        turns = []
        for is_last in False, True:
            knobs, moved = move.launch(R)
            at, inside = place(R, move, size, moved)
            tries = 0
            while not is_last and not inside and tries < 100:
                knobs, moved = move.launch(R)
                at, inside = place(R, move, size, moved)
                tries += 1
            turns.append((knobs, at & M64, inside))
        if not turns[0][2]:
            break
        (early, at, _), (late, then, inside) = turns
        knobs = " ".join(f"{e} {l}" for e, l in zip(early, late))
        launches.append(f"//! launch 1 {move.threads} {'inside' if inside else 'outside'} @0 @{b + 2} @1 {R.choice([1, 2, 5])} {at} {then} {knobs}")
    return "\n".join(head + launches) + "\n" + move.text()
