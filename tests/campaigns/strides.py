"""Kernels of loops and groups of accesses whose steps, displacements and rounds are extreme: cases for harness.c.

A kernel has loops in which registers go on by steps, from which chains of shifts, sums and products make addresses. Steps,
starts, bounds and distances are *knobs*: parameters, of which a launch has two values each, for all turns of an outer loop but
the last, and for the last, so that compiled code has seen a legal place before it meets the other. What a chain gives is
computed here, too (`Expression.at`), so that most launches are legal to the last byte of a buffer, and the others miss it by an
element, or come back to it by a sum that wraps.

Threads load from what nobody stores to, and store to places of their own, or add: results are the same under every schedule.
"""
import random

import shapes

OWN_BYTES, ADD_BYTES = 4096, 1024  # of shared memory
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def signed(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


class Expression:
    """A register of the kernel: its name, its width, and what it is for a thread in a round."""

    def __init__(self, name, bits, at):
        self.name, self.bits, self.at = name, bits, at


class Where:
    """Of which thread and round a value is asked, under which values of knobs."""

    def __init__(self, knobs, thread, block, threads, round, in_loop):
        self.knobs, self.thread, self.block, self.threads, self.round, self.in_loop = knobs, thread, block, threads, round, in_loop


class Access:
    """A group of accesses through one register."""
    space = register = guard = fix = element = None
    is_store = adds = False
    stride = 0
    varies = False
    wild_lane = wild_index = None
    displacements = ()
    vector = 1

    def size(self):
        return self.element * self.vector


class Kernel:
    def __init__(self, R, sizes):
        self.R, self.sizes = R, sizes
        self.lines, self.knobs, self.loops, self.n = [], [], [], 0
        self.bits32, self.bits64 = [], []
        self.shared_bytes = R.choice([1024, 2048, 4096, 4112, 8000])
        self.local_bytes = R.choice([32, 64, 96])
        self.outer = R.random() < 0.75
        self.barriers = R.random() < 0.25
        self.adding = R.choice(["add.u32", "add.u32", "add.u32", "max.s32", "xor.b32"])
        self.accesses, self.carried, self.multiplied = [], [], None
        self.write()

    # ---- text ----

    def put(self, text):
        self.lines.append("    " + text)

    def register(self, bits):
        self.n += 1
        return f"%{'rd' if bits == 64 else 'r'}{self.n + 100}"

    def knob(self, bits):
        """A parameter of two values; its expression."""
        k = len(self.knobs)
        self.knobs.append(bits)
        return Expression(f"%{'kd' if bits == 64 else 'k'}{k}", bits, lambda w: w.knobs[k])

    def number(self, v, bits):
        v &= (1 << bits) - 1
        return Expression(str(signed(v, bits)), bits, lambda w: v)

    def pick(self, bits):
        return self.R.choice(self.bits64 if bits == 64 else self.bits32)

    def probe(self, e, thread, round, step):
        """What a register is where all knobs are 0, but steps."""
        steps = {self.index(s) for _, s in self.carried if self.is_knob(s)}
        knobs = [step if k in steps else 0 for k in range(len(self.knobs))]
        return e.at(Where(knobs, thread, 0, 1 << 20, round, 1 << 20))

    @staticmethod
    def is_knob(e):
        return e.name.startswith("%k")

    @staticmethod
    def index(e):
        return int(e.name.lstrip("%kd"))

    def keep(self, e):
        (self.bits64 if e.bits == 64 else self.bits32).append(e)
        return e

    def operation(self, name, bits, operands, at):
        e = Expression(self.register(bits), bits, lambda w: at(*(o.at(w) for o in operands)) & ((1 << bits) - 1))
        self.put(f"{name} {e.name}, {', '.join(o.name for o in operands)};")
        return self.keep(e)

    # ---- chains ----

    def step_of_chain(self):
        """One instruction more, from registers that are there."""
        R = self.R
        kind = R.random()
        if kind < 0.12:
            n = R.choice([0, 1, 2, 2, 3, 4, 5, 31])
            return self.operation("shl.b32", 32, [self.pick(32), self.number(n, 32)], lambda a, b: a << b)
        if kind < 0.28:
            n = R.choice([1, 2, 3, 3, 3, 3, 3, 2, 0, 4, 8])
            return self.operation("shl.b64", 64, [self.pick(64), self.number(n, 32)], lambda a, b: a << b)
        if kind < 0.36:
            a = self.pick(32)
            b = R.choice([a, self.pick(32), self.number(R.choice([4, 128, 1 << 31, -4, -(1 << 31), (1 << 31) - 4]), 32)])
            return self.operation(R.choice(["add.u32", "add.s32"]), 32, [a, b], lambda a, b: a + b)
        if kind < 0.50:
            a = self.pick(64)
            b = R.choice([a, a, self.pick(64), self.number(R.choice([4, -8, 1 << 32, 1 << 63, 1 << 31]), 64)])
            return self.operation("add.s64", 64, [a, b], lambda a, b: a + b)
        if kind < 0.55:
            bits = R.choice([32, 64])
            return self.operation(f"sub.s{bits}", bits, [self.pick(bits), self.pick(bits)], lambda a, b: a - b)
        if kind < 0.62:
            b = R.choice([self.number(R.choice([3, 4, 8, 12, 64, 1 << 16, 1 << 31, -1, -4]), 32), self.knob(32)])
            return self.operation("mul.lo.s32", 32, [self.pick(32), b], lambda a, b: a * b)
        if kind < 0.68:
            b = R.choice([self.number(R.choice([4, 8, 3, 64]), 32), self.knob(32)])
            return self.operation("mad.lo.s32", 32, [self.pick(32), b, self.pick(32)], lambda a, b, c: a * b + c)
        if kind < 0.72:
            b = self.number(R.choice([3, 4, 1 << 10, 1 << 32, 1 << 60, -8]), 64)
            return self.operation("mul.lo.s64", 64, [self.pick(64), b], lambda a, b: a * b)
        s, a = R.random() < 0.5, self.pick(32)
        wide = (lambda v: signed(v, 32)) if s else (lambda v: v)
        if kind < 0.84:
            b = self.number(R.choice([1, 2, 4, 4, 8, 16, 3, 1024, 1 << 20]), 32)
            return self.operation(f"mul.wide.{'s' if s else 'u'}32", 64, [a, b], lambda a, b: wide(a) * wide(b))
        if kind < 0.90:
            b = self.number(R.choice([1, 2, 4, 8, 1024]), 32)
            return self.operation(f"mad.wide.{'s' if s else 'u'}32", 64, [a, b, self.pick(64)],
                                  lambda a, b, c: wide(a) * wide(b) + c)
        return self.operation("cvt.s64.s32" if s else "cvt.u64.u32", 64, [a], wide)

    def put_long_chain(self, name):
        """Many times what a register is, in steps each of which is small."""
        R = self.R
        pool = [e for e in self.bits32 + self.bits64 if e.name == name]
        for _ in range(R.choice([4, 7, 8, 9, 12])):
            e, n = pool[-1], R.choice([1, 2, 3, 3, 3, 3])
            if R.random() < 0.25:
                pool.append(self.operation(f"add.s{e.bits}", e.bits, [e, e], lambda a, b: a + b))
            else:
                pool.append(self.operation(f"shl.b{e.bits}", e.bits, [e, self.number(n, 32)], lambda a, b: a << b))
        self.multiplied = pool[-1]

    # ---- accesses ----

    def space_of(self, a):
        """How many bytes an access may be in, as seen from its base."""
        if a.space == "local":
            return self.local_bytes
        if a.space == "shared":
            return ADD_BYTES if a.adds else OWN_BYTES if a.is_store else self.shared_bytes
        return self.sizes["add" if a.adds else "own" if a.is_store else "in"]

    def choose_displacements(self, a):
        R, size = self.R, a.size()
        first = R.choice([0, 0, 0, 0, size, -size, 1024, -(1 << 31), (1 << 31) - size, -(1 << 31) + 16 * size, (1 << 31) - 64 * size,
                          (1 << 30), -4096])
        n, apart = R.choice([1, 1, 1, 2, 2, 3, 4]), R.choice([size, size, size, 2 * size, 4 * size, 32 * size])
        if R.random() < 0.15:  # two of which the one is where the other is, or beside it, in 32 bits
            n, first = 2, -(1 << 31) + R.choice([0, 0, size, 64 * size])
            apart = R.choice([(1 << 31) // size * size, (1 << 32) - size, (1 << 32) - 4 * size, (1 << 32) - 32 * size, (1 << 32) - 64 * size])
        elif (n - 1) * apart > self.space_of(a) // 4:
            n = 1
        all_of = [first + k * apart for k in range(n)]
        if R.random() < 0.3:
            R.shuffle(all_of)
        return [d for d in all_of if -(1 << 31) <= d < 1 << 31] or [first]

    def choose_derived(self, bits):
        """Mostly a register that goes on by so little that many rounds fit a buffer."""
        R, pool = self.R, self.bits64 if bits == 64 else self.bits32
        if self.multiplied in pool and R.random() < 0.7:
            return self.multiplied
        calm = [e for e in pool if abs(signed(self.probe(e, 0, 1, 0) - self.probe(e, 0, 0, 0), bits)) <= 64]
        return R.choice(calm if calm and R.random() < 0.85 else pool)

    def add_lanes(self, a, derived, bits):
        R = self.R
        most = self.space_of(a) // (256 if a.space == "shared" else 0x7fffffff if a.space == "local" else 768)
        wanted = [4, 16, 16, 64, 64, 256] if a.is_store else [0, 0, 1, 4, 4, 4, 8, 12, 16, 16, 64]
        a.stride = R.choice([n for n in wanted if n <= most] or [0])
        if a.space != "local" and not a.is_store and R.random() < 0.3:
            return self.operation(f"add.s{bits}", bits, [derived, self.varying_lanes(a, bits)], lambda a, b: a + b)
        if a.stride == 0:
            return derived
        thread = Expression("%gid" if bits == 64 else "%me", 32, lambda w: w.thread + (w.block * w.threads if bits == 64 else 0))
        stride = self.number(a.stride, 32)
        lanes = self.operation("mul.wide.u32" if bits == 64 else "mul.lo.u32", bits, [thread, stride], lambda a, b: a * b)
        return self.operation(f"add.s{bits}", bits, [derived, lanes], lambda a, b: a + b)

    def varying_lanes(self, a, bits):
        """An index that follows no pattern, in one lane another one, of elements as large as the access."""
        R = self.R
        a.varies = True
        mask = self.number((1 << (self.space_of(a) // 16 // a.size()).bit_length() - 1) - 1, 32)
        index = self.operation("mul.lo.u32", 32, [Expression("%me", 32, lambda w: w.thread), self.number(40503, 32)], lambda a, b: a * b)
        index = self.operation("shr.u32", 32, [index, self.number(3, 32)], lambda a, b: a >> b)
        index = self.operation("and.b32", 32, [index, mask], lambda a, b: a & b)
        if R.random() < 0.6:
            lane, other = self.knob(32), self.knob(32)
            a.wild_lane, a.wild_index = lane, other
            x = Expression(self.register(32), 32, lambda w, index=index: other.at(w) if w.thread == lane.at(w) else index.at(w))
            self.put(f"setp.eq.u32 %pi, %me, {lane.name}; selp.b32 {x.name}, {other.name}, {index.name}, %pi;")
            index = x
        size = self.number(a.size(), 32)
        if bits == 32:
            return self.operation("mul.lo.u32", 32, [index, size], lambda a, b: a * b)
        s = R.random() < 0.5
        wide = (lambda v: signed(v, 32)) if s else (lambda v: v)
        if R.random() < 0.6:
            return self.operation(f"mul.wide.{'s' if s else 'u'}32", 64, [index, size], lambda a, b: wide(a) * b)
        x = self.operation("cvt.s64.s32" if s else "cvt.u64.u32", 64, [index], wide)
        return self.operation("shl.b64", 64, [x, self.number(a.size().bit_length() - 1, 32)], lambda a, b: a << b)

    def put_access(self, loop):
        R, a = self.R, Access()
        a.loop = loop
        a.space = R.choice(["global", "global", "global", "shared", "shared", "generic", "local"])
        a.adds = a.space in ("global", "shared") and R.random() < 0.12
        a.is_store = not a.adds and R.random() < 0.35
        a.element, a.vector = R.choice([(4, 1), (4, 1), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2), (2, 1), (1, 1)])
        if a.adds:
            a.element, a.vector = 4, 1
        bits = 32 if a.space in ("shared", "local") and R.random() < 0.6 else 64
        a.fix = self.knob(bits)
        saved = list(self.bits32), list(self.bits64)  # an address goes into no other
        derived = self.add_lanes(a, self.choose_derived(bits), bits)
        base = {"global": "%add" if a.adds else "%own" if a.is_store else "%in", "generic": "%own" if a.is_store else "%in",
                "shared": f"%sadd{bits}" if a.adds else f"%sown{bits}" if a.is_store else f"%sin{bits}", "local": f"%loc{bits}"}[a.space]
        zero = Expression(base, bits, lambda w: 0)
        order = R.randrange(4)
        if order == 0:
            x = self.operation(f"add.s{bits}", bits, [zero, derived], lambda a, b: a + b)
            x = self.operation(f"add.s{bits}", bits, [x, a.fix], lambda a, b: a + b)
        elif order == 1:
            x = self.operation(f"add.s{bits}", bits, [derived, a.fix], lambda a, b: a + b)
            x = self.operation(f"add.s{bits}", bits, [zero, x], lambda a, b: a + b)
        elif order == 2:
            x = self.operation(f"sub.s{bits}", bits, [derived, a.fix], lambda a, b: a - b)
            x = self.operation(f"add.s{bits}", bits, [x, zero], lambda a, b: a + b)
            a.fix_sign = -1
        else:
            x = self.operation(f"add.s{bits}", bits, [a.fix, zero], lambda a, b: a + b)
            x = self.operation(f"add.s{bits}", bits, [x, derived], lambda a, b: a + b)
        self.bits32, self.bits64 = saved
        a.register = x
        apart = [self.probe(x, t, i, 0) - self.probe(x, 0, 0, 0) for t, i in ((1, 0), (0, 1), (1, 1))]
        while R.random() < 0.97 and any(d % a.size() for d in apart):
            a.element, a.vector = a.element if a.vector > 1 else a.element // 2, a.vector // 2 or 1
        a.displacements = self.choose_displacements(a)
        a.guard = R.choice([None] * 5 + ["below", "odd", "turn"])
        guard = {None: "", "below": "@%pb ", "odd": "@%po ", "turn": "@%pt "}[a.guard]
        space = "" if a.space == "generic" else "." + a.space
        for d in a.displacements:
            self.put_one(a, guard, space, f"[{x.name}{f'+{d}' if d else ''}]")
        self.accesses.append(a)

    def put_one(self, a, guard, space, place):
        bits = 8 * a.element
        if a.adds:
            self.put(f"{guard}red{space}.{self.adding} {place}, {self.R.choice(['%me', '1', '%acc'])};")
            return
        registers = [f"%{'w' if bits == 64 else 'v'}{i}" for i in range(a.vector)]
        many = registers[0] if a.vector == 1 else "{" + ", ".join(registers) + "}"
        kind = f"{'.v%d' % a.vector if a.vector > 1 else ''}.{self.R.choice('ub')}{bits}"
        volatile = ".volatile" if self.R.random() < 0.04 and a.space in ("global", "shared") else ""
        if a.is_store:
            for i, r in enumerate(registers):
                self.put(f"mad.lo.u32 %v7, %acc, {2 * i + 3}, %me;")
                self.put(f"mov.b32 {r}, %v7;" if bits < 64 else f"mul.wide.u32 {r}, %v7, 7;")
            self.put(f"{guard}st{volatile}{space}{kind} {place}, {many};")
            return
        self.put(f"{guard}ld{volatile}{space}{kind} {many}, {place};")
        for r in registers:
            if bits == 64:
                self.put(f"{guard}cvt.u32.u64 %v7, {r};")
            self.put(f"{guard}mad.lo.u32 %acc, %acc, 31, {r if bits < 64 else '%v7'};")

    # ---- loops ----

    def put_loop(self, number):
        R = self.R
        loop = {"carried": [], "after": R.random() < 0.8}
        wide = R.random() < 0.3
        bits = 64 if wide else 32
        loop["bits"], loop["signed"] = bits, R.random() < 0.5
        loop["is"] = R.choice(["lt", "lt", "lt", "le", "ne", "gt", "ge"])
        loop["by"] = R.choice([1, 1, 1, 1, 2, 3, 4, 32, 256])
        if loop["is"] in ("gt", "ge"):
            loop["by"] = -loop["by"]
        elif loop["is"] == "ne":
            loop["by"] *= R.choice([1, -1])
        loop["start"], loop["bound"] = self.knob(bits), self.knob(bits)
        loop["again"] = 2 if R.random() < 0.12 else 1
        loop["ragged"] = R.choice([1, 3, 7]) if R.random() < 0.15 else 0  # threads go more rounds than others, by their bits here
        saved = list(self.bits32), list(self.bits64)
        counter = self.register(bits)
        before = lambda w: (loop["start"].at(w) + w.round % w.in_loop * loop["by"]) & ((1 << bits) - 1)
        self.put(f"mov.b{bits} {counter}, {loop['start'].name};")
        names = []
        for _ in range(R.choice([1, 1, 2, 3])):
            b = R.choice([32, 64, 64])
            start = R.choice([self.number(0, b), self.number(0, b), self.knob(b)])
            step = self.knob(b) if R.random() < 0.75 else self.number(R.choice([0, 1, 4, 8, 16, -4, 128, 1 << 20, (1 << 24) - 4, 1 << (b - 1)]), b)
            first = R.random() < 0.15  # goes on at the beginning of a round
            r = self.register(b)
            self.put(f"mov.b{b} {r}, {start.name};")
            names.append((r, b, step, first))
            loop["carried"].append((start, step))
            self.carried.append((start, step))
            self.keep(Expression(r, b, lambda w, start=start, step=step, first=first, b=b:
                                 (start.at(w) + (w.round + first) * step.at(w)) & ((1 << b) - 1)))
        self.keep(Expression(counter, bits, before))
        bound = loop["bound"].name
        if loop["ragged"]:
            more, bound = self.register(bits), self.register(bits)
            self.put(f"and.b32 %t, %me, {loop['ragged']}; {'cvt.u64.u32' if bits == 64 else 'mov.u32'} {more}, %t;")
            self.put(f"mad.lo.s{bits} {bound}, {more}, {loop['by']}, {loop['bound'].name};")
        if loop["again"] > 1:
            self.put("mov.u32 %again, 0;")
            self.lines.append(f"AGAIN{number}:")
            self.put(f"mov.b{bits} {counter}, {loop['start'].name};")
        self.lines.append(f"LOOP{number}:")
        for r, b, step, first in names:
            if first:
                self.put(f"add.s{b} {r}, {r}, {step.name};")
        for _ in range(R.choice([1, 2, 3, 4, 6, 10])):
            self.step_of_chain()
        if R.random() < 0.2:
            self.put_long_chain(R.choice(names)[0])
        parted = R.random() < 0.2
        for k in range(R.choice([1, 1, 2, 3])):
            if parted and k == 0:
                self.put(f"@!%{R.choice(['po', 'pt'])} bra PAST{number};")
                inside = len(self.bits32), len(self.bits64)
            self.put_access(loop)
            if parted and k == 0:
                self.lines.append(f"PAST{number}:")
                del self.bits32[inside[0]:], self.bits64[inside[1]:]
        if self.barriers and not loop["ragged"] and R.random() < 0.5:
            self.put("bar.sync 0;")
        for r, b, step, first in names:
            if not first:
                self.put(f"add.s{b} {r}, {r}, {step.name};")
        self.put_end_of_loop(number, loop, counter, bound, bits)
        self.bits32, self.bits64 = saved
        self.loops.append(loop)

    def put_end_of_loop(self, number, loop, counter, bound, bits):
        R = self.R
        self.put(f"add.s{bits} {counter}, {counter}, {loop['by']};")
        inverse = {"lt": "ge", "le": "gt", "ne": "eq", "gt": "le", "ge": "lt"}
        mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
        relation, negated, swapped = loop["is"], R.random() < 0.2, R.random() < 0.2
        if negated:
            relation = inverse[relation]
        a, b = counter, bound
        if swapped:
            a, b, relation = b, a, mirrored.get(relation, relation)
        self.put(f"setp.{relation}.{'s' if loop['signed'] else 'u'}{bits} %pl, {a}, {b};")
        self.put(f"@{'!' if negated else ''}%pl bra LOOP{number};")
        if loop["again"] > 1:
            self.put("add.u32 %again, %again, 1;")
            self.put(f"setp.lt.u32 %pl, %again, {loop['again']};")
            self.put(f"@%pl bra AGAIN{number};")

    # ---- the whole ----

    def write(self):
        R = self.R
        self.put("mov.u32 %turn, 0;")
        self.lines.append("TURN:")
        self.put("add.u32 %turn, %turn, 1;")
        self.put("setp.ge.u32 %plast, %turn, %turns;")
        self.put("setp.eq.u32 %pt, %turn, 1;")
        self.lines.append("KNOBS")
        stride = R.choice([0, 1, 2, 4, 4, 4, 8, 16, 16, 12, 64, 36])
        lanes32 = Expression("%lanes32", 32, lambda w: w.thread * stride & M32)
        lanes64 = Expression("%lanes64", 64, lambda w: (w.block * w.threads + w.thread) * stride & M64)
        self.stride = stride
        if R.random() < 0.25:
            self.keep(lanes32), self.keep(lanes64)
            self.keep(Expression("%me", 32, lambda w: w.thread))
        else:
            self.keep(self.number(0, 32)), self.keep(self.number(0, 64))
        for number in range(R.choice([1, 1, 1, 2])):
            if R.random() < 0.15:
                self.put_access(None)  # no loop
            self.put_loop(number)
        if R.random() < 0.15:
            self.put_access(None)
        if self.barriers:
            self.put("bar.sync 0;")
        if self.outer:
            self.put("@!%plast bra TURN;")

    def text(self):
        out = [".version 7.0", ".target sm_75", ".address_size 64", ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 own, "
               ".param .u64 add, .param .u32 turns, .param .u32 below" +
               "".join(f", .param .u{b} e{k}, .param .u{b} l{k}" for k, b in enumerate(self.knobs)) + ")", "{"]
        put = lambda t: out.append("    " + t)
        n = self.shared_bytes
        put(f".shared .align 16 .b8 sin[{n}];")
        put(f".shared .align 16 .b8 sadd[{ADD_BYTES}];")
        put(f".shared .align 16 .b8 sown[{OWN_BYTES}];")
        put(f".local .align 16 .b8 loc[{self.local_bytes}];")
        put(f".reg .b32 %r<{self.n + 102}>, %k<{len(self.knobs) + 1}>, %l<{len(self.knobs) + 1}>, %v<8>;")
        put(f".reg .b64 %rd<{self.n + 102}>, %kd<{len(self.knobs) + 1}>, %ld<{len(self.knobs) + 1}>, %w<4>;")
        put(".reg .b32 %turn, %turns, %below, %acc, %again, %i, %gid, %lanes32, %sin32, %sadd32, %sown32, %loc32, %t, %nt, %c;")
        put(".reg .b64 %out, %in, %own, %add, %lanes64, %sin64, %sadd64, %sown64, %loc64, %x;")
        put(".reg .pred %plast, %pl, %pb, %po, %pt, %pi; .reg .b32 %me;")
        for p in "out", "in", "own", "add":
            put(f"ld.param.u64 %{p}, [{p}];")
        put("ld.param.u32 %turns, [turns]; ld.param.u32 %below, [below];")
        put("mov.u32 %me, %tid.x; mov.u32 %nt, %ntid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %gid, %c, %nt, %me;")
        put(f"mul.lo.u32 %lanes32, %me, {self.stride}; mul.wide.u32 %lanes64, %gid, {self.stride};")
        put("mov.u32 %sin32, sin; mov.u32 %sadd32, sadd; mov.u32 %sown32, sown; mov.u32 %loc32, loc;")
        put("mov.u64 %sin64, sin; mov.u64 %sadd64, sadd; mov.u64 %sown64, sown; mov.u64 %loc64, loc;")
        put("mov.u32 %acc, 1; setp.lt.u32 %pb, %me, %below; and.b32 %t, %me, 1; setp.eq.u32 %po, %t, 1;")
        for i in range(8):
            put(f"mov.u32 %v{i}, 0;")
        for i in range(4):
            put(f"mov.u64 %w{i}, 0;")
        for name, size in (("sin", n), ("sadd", ADD_BYTES), ("sown", OWN_BYTES)):
            put(f"mov.u32 %i, %me;\nFILL_{name}:\n    setp.ge.u32 %pi, %i, {size // 4}; @%pi bra FILLED_{name};")
            put(f"shl.b32 %t, %i, 2; add.u32 %t, %t, %{name}32; mul.lo.u32 %v0, %i, {0 if name == 'sadd' else 2654435761};")
            put(f"st.shared.u32 [%t], %v0; add.u32 %i, %i, %nt; bra FILL_{name};\nFILLED_{name}:")
        for at in range(0, self.local_bytes, 4):
            put(f"st.local.u32 [loc+{at}], %me;")
        put("bar.sync 0;")
        for line in self.lines:
            if line != "KNOBS":
                out.append(line)
                continue
            for k, b in enumerate(self.knobs):
                r, e = ("%kd", "%ld") if b == 64 else ("%k", "%l")
                put(f"ld.param.u{b} {r}{k}, [e{k}]; ld.param.u{b} {e}{k}, [l{k}]; selp.b{b} {r}{k}, {e}{k}, {r}{k}, %plast;")
        put("bar.sync 0;")
        # what stands in shared and local memory at the end counts, too
        for name, size in (("sin", n), ("sadd", ADD_BYTES), ("sown", OWN_BYTES)):
            put(f"mov.u32 %i, %me;\nSUM_{name}:\n    setp.ge.u32 %pi, %i, {size // 4}; @%pi bra SUMMED_{name};")
            put(f"shl.b32 %t, %i, 2; add.u32 %t, %t, %{name}32; ld.shared.u32 %v0, [%t];")
            put(f"mad.lo.u32 %acc, %acc, 17, %v0; add.u32 %i, %i, %nt; bra SUM_{name};\nSUMMED_{name}:")
        for at in range(0, self.local_bytes, 4):
            put(f"ld.local.u32 %v0, [loc+{at}]; mad.lo.u32 %acc, %acc, 13, %v0;")
        put("mul.wide.u32 %x, %gid, 4; add.u64 %x, %x, %out; st.global.u32 [%x], %acc; ret;")
        return "\n".join(out) + "\n}\n"


# ---- launches ----

class Launch:
    """Values of all knobs, before the last turn and in it, that make accesses legal, or nearly."""

    def __init__(self, kernel, R, one_warp, threads):
        self.kernel, self.R, self.one_warp, self.threads = kernel, R, one_warp, threads
        self.blocks = 1 if self.one_warp else R.choice([1, 1, 2, 3])
        self.below = R.choice([self.threads, self.threads, self.threads - 1, 1, 17, 0])
        self.turns = R.choice([1, 2, 3, 5]) if kernel.outer else 1
        self.is_exact = True
        kinds = ["legal", "legal", "legal", "legal", "legal", "beside", "beside", "beside", "wraps", "wraps", "turns", "turns", "wild"]
        last = R.choice(kinds)
        others = [a for a in kernel.accesses if a.space == "shared" and (a.is_store or a.adds)]
        self.shared_is_constant = not others
        self.strays = False  # an access may meet what other threads store
        self.early = self.values("legal" if R.random() < 0.95 else R.choice(kinds), True)
        self.last = self.values(last, False)

    def where(self, knobs, thread, round, in_loop):
        return Where(knobs, thread % self.threads, thread // self.threads, self.threads, round, in_loop)

    def active(self, a):
        n = self.threads
        threads = set(range(n)) if a.varies else {0, 1 % n, n - 1}
        threads |= {self.below - 1} if 0 < self.below <= n else set()
        if self.blocks > 1:
            threads |= {n * (self.blocks - 1), n * self.blocks - 1}
        keep = {None: lambda t: True, "turn": lambda t: True, "below": lambda t: t % n < self.below, "odd": lambda t: t % n % 2 == 1}[a.guard]
        return [t for t in threads if keep(t)]

    def set_bounds(self, knobs, loop, rounds, start=None):
        R, bits, by = self.R, loop["bits"], loop["by"]
        top = (1 << bits - 1) - 1 if loop["signed"] else (1 << bits) - 1
        low = -(1 << bits - 1) if loop["signed"] else 0
        way = rounds * by
        starts = [0, 0, 0, 1, 5, (1 << 31) - 3] if way > 0 else [-way, -way, -way + 3, (1 << 31) + 3]
        if R.random() < 0.15:
            starts = [top - way - R.choice([0, 1, by]), low + R.choice([0, 1])] if way > 0 else [low - way + R.choice([0, 1, -by]), top]
        start = R.choice(starts) if start is None else start
        end, before = start + way, start + way - by
        bound = {"lt": R.choice([end, before + 1]), "le": R.choice([before, end - 1]), "gt": R.choice([end, before - 1]),
                 "ge": R.choice([before, end + 1]), "ne": end}[loop["is"]]
        self.set(knobs, loop["start"], start)
        self.set(knobs, loop["bound"], bound)

    @staticmethod
    def set(knobs, e, v):
        knobs[Kernel.index(e)] = v & ((1 << e.bits) - 1)

    def reach(self, a, knobs, rounds, straight=False):
        """The least and the greatest place of the group, seen from that of its first thread and round; and that one. Straight: as
        if all rounds went on as the second does from the first."""
        if a.loop is None:
            total, inner = 1, 1
        else:
            inner = rounds[id(a.loop)] + a.loop["ragged"]
            total = inner * a.loop["again"]
        threads = self.active(a)
        bits = a.register.bits
        at = lambda t, i: a.register.at(self.where(knobs, t, i, inner))
        if straight and total > 1:
            places = [at(t, 0) + i * (at(t, 1) - at(t, 0)) for t in threads for i in (0, total - 1)]
        else:
            places = [at(t, i) for t in threads for i in {0, 1 % total, inner - 1, total - 1}]
        if not places:
            return None
        origin = places[0]
        ways = [signed(p - origin, bits) + signed(d - a.displacements[0], bits) for p in places for d in a.displacements]
        return origin, min(ways), max(ways)

    def may_meet_others(self, a, below, above):
        """How far it goes out of its space, below (negative) and above: to another buffer or array?"""
        if a.space == "local":
            return False
        if a.space == "shared":
            return not self.shared_is_constant and (below < 0 or above > 0)
        return any(1 << 16 < abs(d) < 1 << 28 for d in (min(below, 0), max(above, 0))) 

    def is_own(self, a, knobs, rounds):
        """Has a thread places of its own, whatever the others do?"""
        one = Launch.__new__(Launch)
        one.__dict__.update(self.__dict__, threads=1, blocks=1, below=1)
        reach = one.reach(a, knobs, rounds)
        return reach is None or reach[2] - reach[1] + a.size() <= a.stride

    def values(self, kind, is_early):
        R, k = self.R, self.kernel
        for attempt in range(16):
            knobs = [R.choice([0, 1, 2, 4, 8]) if attempt < 8 else R.choice([0, 1]) for _ in k.knobs]
            rounds = {}
            for loop in k.loops:
                n = R.choice([1, 2, 3, 5, 8, 16, 17, 33]) if is_early or R.random() < 0.6 else R.choice([64, 100, 257, 1000])
                n = max(1, n >> max(0, attempt - 4) // 2)
                rounds[id(loop)] = n
                for start, step in loop["carried"]:
                    bits = step.bits
                    if Kernel.is_knob(start):
                        self.set(knobs, start, R.choice([0, 0, 1, 4, 64, -4, 1 << (bits - 1), -(1 << (bits - 1)) + 16]))
                    if Kernel.is_knob(step):
                        self.set(knobs, step, self.choose_step(kind, bits, attempt))
                self.set_bounds(knobs, loop, n)
            if kind == "wraps":
                self.make_wrap(knobs, rounds)
            elif kind == "turns":
                self.make_turn(knobs, rounds)
            if self.place(knobs, rounds, kind) or kind in ("wraps", "wild"):
                break
        self.strays |= self.strayed
        return knobs

    def choose_step(self, kind, bits, attempt):
        R = self.R
        if kind == "wild" and R.random() < 0.5:
            return R.choice([1 << bits - 1, (1 << bits) - 4, 1 << 20, (1 << 24) - 4, 1 << 23, 1 << 30, 1 << 31, R.getrandbits(bits)])
        step = R.choice([0, 16, 16, 16, -16, -16, 32, 64, 128, 4, -4, 8, 1]) if attempt < 6 else R.choice([0, 0, 16, -16])
        if R.random() < 0.25 and attempt < 12:  # what a product or a shift makes of this part is nothing
            step += R.choice([1, -1, 3]) << R.choice([bits - 1, bits - 2, bits - 3, bits - 8, bits - 24 if bits == 64 else bits - 4])
        return step

    def make_turn(self, knobs, rounds):
        """A register of 32 bits, or the counter, comes past 2^31 or 2^32 on its way."""
        R = self.R
        for loop in self.kernel.loops:
            n = rounds[id(loop)]
            edge = R.choice([1 << 31, 1 << 32])
            for start, step in loop["carried"]:
                if start.bits == 32 and Kernel.is_knob(start):
                    by = signed(step.at(self.where(knobs, 0, 0, 1)), 32)
                    self.set(knobs, start, edge - by * R.randrange(1, n + 1))
            if loop["bits"] == 32 and R.random() < 0.5 and (edge == 1 << 31) != loop["signed"]:
                self.set_bounds(knobs, loop, n, edge % (1 << 32) - loop["by"] * R.randrange(1, n + 1))

    def make_wrap(self, knobs, rounds):
        """One step such that the way of all rounds is nothing, or nearly."""
        R = self.R
        loops = [(loop, step) for loop in self.kernel.loops for _, step in loop["carried"] if Kernel.is_knob(step)]
        if not loops:
            return
        loop, step = R.choice(loops)
        log2 = R.choice([1, 2, 3, 4, 7, 8, 10, 16, 17, 18, 20, 20, 21, 24, 30])
        n = 1 << log2
        of = [a for a in self.kernel.accesses if a.loop is loop]
        shift = 0
        if of:  # how many bits of the step the chain has left
            self.set(knobs, step, 1)
            w = [R.choice(of).register.at(self.where(knobs, 0, i, n)) for i in (0, 1)]
            by = (w[1] - w[0]) & M64
            shift = (by & -by).bit_length() - 1 if by else 0
        bits = R.choice([step.bits, step.bits, 32]) - shift - log2
        s = (1 << bits if bits >= 0 else 1) * R.choice([1, 1, 1, -1, 3, 5])
        self.set(knobs, step, s + R.choice([0, 0, 0, 0, 1, 4, -4]))
        rounds[id(loop)] = n + R.choice([1, 1, 1, 0, 2])
        self.set_bounds(knobs, loop, rounds[id(loop)])

    def place(self, knobs, rounds, kind):
        """Sets how far each access is from its base; false where one does not fit its space."""
        R, fits, strays = self.R, True, False
        missing = R.randrange(len(self.kernel.accesses)) if self.kernel.accesses else 0
        for number, a in enumerate(self.kernel.accesses):
            self.set(knobs, a.fix, 0)
            if a.wild_lane:
                self.set(knobs, a.wild_lane, R.randrange(self.threads))
                self.set(knobs, a.wild_index, 0)
            reach = self.reach(a, knobs, rounds, kind == "turns")
            if not reach:
                continue
            origin, least, most = reach
            low, high = 0, self.kernel.space_of(a)
            if a.space == "shared" and self.shared_is_constant:  # to the last byte of the block's
                high = (high + 15) // 16 * 16 + ADD_BYTES + OWN_BYTES
            size = a.size()
            align = size
            first, last = low - least, high - size - most
            last -= (last - first) % align if last >= first else 0
            own = a.is_store and a.space != "local" and not self.one_warp
            if last < first or (own and not self.is_own(a, knobs, rounds)):
                fits = False
                target = R.choice([low, low - least])
            else:
                target = R.choice([first, last, last, last, first + (last - first) // 2 // align * align])
            if kind in ("beside", "wraps", "wild") and number == missing:
                up = target >= (first + last) // 2
                miss = [size if up else -size, size if up else -size, size if up else -size, 1, -1, size // 2 or 1, 1 << 31, -(1 << 31), 1 << 32,
                        -(1 << 32), (1 << 32) + size, 1 << 44, 1 << 63]
                if kind == "beside" or R.random() < 0.15:
                    target = (last if up else first) + R.choice(miss)
            wild = a.wild_lane and kind != "legal"
            if wild:
                n = size if R.random() < 0.3 else 1
                self.set(knobs, a.wild_index, R.choice([-1, -1, (1 << 31), (1 << 31) - 1, (1 << 32) // size, (1 << 32) // size - 1, (1 << 31) // size,
                                                        (high - target) // size, (high - target) // size - 1, -target // size - 1, n << 20]))
            strays |= self.may_meet_others(a, target + least - low, target + most + size - high) or bool(wild and a.space == "shared")
            sign = getattr(a, "fix_sign", 1)
            self.set(knobs, a.fix, sign * (target - origin - a.displacements[0]))
        self.strayed = strays
        return fits

    def stores_apart(self):
        """Do different threads store to different places in all turns? One store of the kernel is looked at, place by place."""
        stores = [a for a in self.kernel.accesses if a.is_store and a.space != "local"]
        if not stores:
            return True
        a, owner = stores[0], {}
        mask = (1 << a.register.bits) - 1
        for knobs in (self.early, self.last):
            inner = 1 if a.loop is None else self.rounds_of(a.loop, knobs)
            most = (inner + 8) * 2
            if len(stores) > 1 or inner == 0 or most * self.threads * self.blocks > 80000:
                return False
            for t in range(self.threads * self.blocks):
                own = inner + (0 if a.loop is None else t % self.threads & a.loop["ragged"])
                for i in range(own * (1 if a.loop is None else a.loop["again"])):
                    at = a.register.at(self.where(knobs, t, i, own))
                    for byte in (d + k for d in a.displacements for k in range(0, a.size(), min(a.element, 4))):
                        key = (t // self.threads if a.space == "shared" else 0, ((at + byte) & mask) // min(a.element, 4))
                        if owner.setdefault(key, t) != t:
                            return False
        return True

    def rounds_of(self, loop, knobs):
        """As its counter says; 0 if these are many."""
        bits = loop["bits"]
        w = self.where(knobs, 0, 0, 1)
        c, bound = loop["start"].at(w), loop["bound"].at(w)
        read = (lambda v: signed(v, bits)) if loop["signed"] else (lambda v: v & ((1 << bits) - 1))
        goes_on = {"lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
                   "ne": lambda a, b: a != b}[loop["is"]]
        for n in range(1, 5000):
            c += loop["by"]
            if not goes_on(read(c), read(bound)):
                return n
        return 0

    def line(self):
        how = "warp" if self.one_warp else "exact" if not self.strays and self.stores_apart() else "free"
        knobs = " ".join(f"{e} {l}" for e, l in zip(self.early, self.last))
        return f"//! launch {self.blocks} {self.threads} {how} @0 @1 @2 @3 {self.turns} {self.below} {knobs}"


LAUNCHES = 20


def make(seed, number):
    R = random.Random(f"strides {seed} {number}")
    if R.random() < 0.15:
        return shapes.make(R)
    sizes = {"in": R.choice([4096, 4000, 3 << 15, 65536, 100000, 8200, 50000]), "own": R.choice([16384, 16384 - 32, 65536 + 48, 200000, 131072]),
             "add": R.choice([4096, 3500, 1000])}
    kernel = Kernel(R, sizes)
    head = [f"//! machine {R.choice([0, 0, 0, 1, 2, 3])} {R.choice([0, 0, 1, 2])} 300000", "//! buffer 3072 hash 1",
            f"//! buffer {sizes['in']} hash {R.randrange(1000)}", f"//! buffer {sizes['own']} hash {R.randrange(1000)}",
            f"//! buffer {sizes['add']} hash 2"]
    # code is compiled for each size of blocks
    few, many = R.choice([32, 32, 32, 32, 31, 1, 7, 16]), R.choice([64, 64, 96, 128, 40, 256])
    launches = [Launch(kernel, R, k < LAUNCHES * 0.6, few if k < LAUNCHES * 0.6 else many).line() for k in range(LAUNCHES)]
    return "\n".join(head + launches) + "\n" + kernel.text()
