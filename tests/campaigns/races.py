"""Random kernels with and without data races, held against the memory model: what the checker says of a run has to be what
causality.py derives from what that run has read. Cases for campaign.py.

A kernel is parts, between which barriers stand. In a part, groups of lanes of one warp run code of their own: messages passed by
flags, counters, chains of compare-and-swap, spinning, rows of accesses of all sizes. Every strong write of a word is of a value of
its own, and whatever is read strongly is stored at the end, so that it is known which write was read. (The program is in the
first line, as JSON; `text` makes the kernel of it.)
"""
import itertools
import json
import os
import random
import subprocess
import tempfile

import causality
from causality import Event, Thread

here = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("HEDDLE_BUILD", os.path.join(os.path.dirname(os.path.dirname(here)), "build"))

FLAGS, COUNTERS, SPUN, DATA, BYTES = 0, 64, 128, 256, 8192  # where they begin, in global and in shared memory
UNREAD = 0xffffffff
POLICIES = [["--policy", "serial"], ["--policy", "random:1"], ["--policy", "random:2"], ["--policy", "fair", "--workers", "3"]]
SCOPES = ["cta", "gpu", "gpu", "sys"]


# ---- programs ----

class Program:
    """What make() draws; ops are dicts, numbered by `slot` where they read."""

    def __init__(self, R):
        self.R = R
        self.grid, self.block = R.choice([1, 1, 2, 2, 3]), R.choice([32, 32, 64, 64, 96])
        self.warps = self.block // 32
        self.values = self.slots = self.spun = 0
        self.reds = set()
        self.shared_only = self.grid == 1 and R.random() < 0.3
        self.parts = [{"groups": self.groups(), "ends": self.ends()} for _ in range(R.choice([1, 1, 2, 2, 3, 4]))]

    def as_dict(self):
        return {"grid": self.grid, "block": self.block, "slots": self.slots, "parts": self.parts}

    def slot(self):
        self.slots += 1
        return self.slots - 1

    def value(self):
        self.values += 1
        return self.values

    def scope(self):
        return self.R.choice(SCOPES)

    def space(self):
        return "shared" if self.shared_only or self.R.random() < 0.25 else "global"

    # ---- barriers behind a part ----

    def ends(self):
        """Barriers: who arrives and who waits, as lists of (block, warp, mask)."""
        R, found = self.R, []
        for block in range(self.grid):
            warps = [(block, w, UNREAD) for w in range(self.warps)]
            kind = R.choice(["all", "all", "pair", "arrive", "warps", "vote", "none"])
            if kind == "all":
                found.append({"kind": R.choice(["bar.sync", "barrier.sync", "bar.red"]), "sync": warps, "arrive": [], "id": 0, "count": 0})
            elif kind in ("pair", "arrive") and self.warps > 1:
                two = R.sample(warps, 2)
                sync, arrive = (two, []) if kind == "pair" else (two[:1], two[1:])
                found.append({"kind": "barrier.sync", "sync": sync, "arrive": arrive, "id": None, "count": 64})
            elif kind == "warps":
                for b, w, _ in warps:
                    mask = R.choice([UNREAD, UNREAD, 0xffff, R.getrandbits(32) | 1])
                    found.append({"kind": "bar.warp.sync", "sync": [(b, w, mask)], "arrive": []})
            elif kind == "vote":
                found.append({"kind": "vote.sync", "sync": warps, "arrive": []})
        return found

    # ---- groups ----

    def groups(self):
        R, found = self.R, []
        for _ in range(R.choice([1, 2, 2, 3, 3, 4])):
            mask = 1 << R.randrange(32) if R.random() < 0.6 else R.choice([UNREAD, UNREAD, 0xffff, 0xffff0000, R.getrandbits(32) | 1])
            found.append({"block": R.randrange(self.grid), "warp": R.randrange(self.warps), "mask": mask, "code": []})
        for group in found:
            group["code"] += self.code(group, R.choice([1, 2, 4]))
        for _ in range(R.choice([0, 1, 1, 2, 3])):
            self.message(found)
        return found

    def is_one(self, group):
        return group["mask"] & group["mask"] - 1 == 0

    def code(self, group, most):
        R, code = self.R, []
        for _ in range(R.randrange(most + 1)):
            kind = R.choice(["data", "data", "data", "flag", "flag", "counter", "fence", "if", "warp"])
            if kind == "data":
                code.append(self.data())
            elif kind == "flag":
                code.append(self.flag(group))
            elif kind == "counter":
                code.append(self.counter(group))
            elif kind == "fence":
                code.append(self.fence(group))
            elif kind == "warp" and not self.is_one(group):
                code.append({"op": "warp", "mask": group["mask"]})
            elif kind == "if":
                code += self.guarded([self.flag(group, only_read=True)], group)
        return code

    def guarded(self, reads, group):
        """Reads, and code for those lanes that have read a zero, or none."""
        inner = [op for op in self.code(group, 2) if op["op"] not in ("warp", "if")]
        if self.R.random() < 0.4:  # weakly at the place that was read: what was observed precedes it without an acquire pattern
            op = {k: reads[-1][k] for k in ("space", "at", "bytes", "vector")}
            inner.insert(0, self.store(dict(op, sem="weak")) if self.R.random() < 0.6 else self.load(dict(op, sem="weak")))
        return reads + [{"op": "if", "slot": reads[-1]["slot"], "zero": self.R.random() < 0.3, "code": inner}] if inner else reads

    def fence(self, group):
        """fence.sc, which membar is, too, for one lane: causality.py tries all their orders."""
        R = self.R
        kind = R.choice(["sc", "membar", "acq_rel", "acq_rel", "acq_rel"] if self.is_one(group) else ["acq_rel"])
        return {"op": "fence", "sem": "sc" if kind == "membar" else kind, "scope": self.scope(), "membar": kind == "membar"}

    def data(self):
        """A row of accesses; most of them weak, of any size."""
        R = self.R
        strong = R.random() < 0.2
        size = 4 if strong else R.choice([1, 2, 4, 4, 4, 4, 8])
        vector = 1 if strong else R.choice([1, 1, 1, 1, 2, 4]) if size == 4 else 1
        step = size * vector
        at = {"base": DATA + step * R.choice([0, 0, 0, 1, 2, 32, R.randrange(64)]),
              "by": R.choice(["same", "linear", "linear", "linear", "reverse", "pairs", "rotate"]),
              "turn": R.randrange(32), "step": step, "warp": R.choice([0, 0, 32 * step]), "block": R.choice([0, 0, 96 * step])}
        op = {"space": self.space(), "at": at, "bytes": size, "vector": vector}
        if strong:
            self.strength(op, R.choice(["relaxed", "volatile"]))
        else:
            op["sem"] = "weak"
        return self.load(op) if R.random() < 0.5 else self.store(op)

    def strength(self, op, sem):
        op["sem"], op["scope"] = sem, "sys" if sem == "volatile" else self.scope()

    def load(self, op):
        return dict(op, op="ld", slot=self.slot())

    def store(self, op):
        return dict(op, op="st", value=self.value())

    def word(self, first, index):
        return {"space": self.space(), "bytes": 4, "vector": 1,
                "at": {"base": first + 4 * index, "by": "same", "turn": 0, "step": 0, "warp": 0, "block": 0}}

    def flag(self, group, only_read=False):
        R, op = self.R, self.word(FLAGS, self.R.randrange(4))
        kind = "ld" if only_read else R.choice(["ld", "st", "st", "exch", "cas"])
        self.strength(op, R.choice(["weak", "relaxed", "relaxed", "acquire", "acquire", "volatile"] if kind == "ld" else
                                   ["weak", "relaxed", "release", "release", "volatile"] if kind == "st" else
                                   ["relaxed", "acquire", "release", "acq_rel"]))
        if kind == "ld":
            return self.load(op)
        if kind == "st":
            return self.store(op)
        op = dict(op, op="atom", fn=kind, slot=self.slot(), value=self.value())
        if kind == "cas":
            op["old"] = R.choice([0, 0, R.randrange(self.values) + 1])
        return op

    def counter(self, group):
        """Counters are added to alone: what was read tells the order of the additions."""
        R, index = self.R, self.R.randrange(2)
        op = self.word(COUNTERS, index)
        kind = R.choice(["ld", "add", "add", "red"])
        self.strength(op, R.choice(["relaxed", "acquire", "volatile"] if kind == "ld" else ["relaxed", "release"] if kind == "red" else
                                   ["relaxed", "acquire", "release", "acq_rel"]))
        if kind == "ld":
            return self.load(op)
        if kind == "red" and self.is_one(group) and (op["space"], index) not in self.reds:
            self.reds.add((op["space"], index))  # one of each: where it stood among the others is told by what these saw
            return dict(op, op="red", value=1 << 16)
        return dict(op, op="atom", fn="add", slot=self.slot(), value=1)

    def message(self, groups):
        """A group writes and tells; another waits, or looks, and reads."""
        R = self.R
        sender, receiver = R.choice(groups), R.choice(groups)
        if sender is receiver or self.spun == 8:
            return
        op = self.word(SPUN, self.spun)
        self.spun += 1
        written = self.data()
        written = self.store({k: v for k, v in written.items() if k not in ("op", "slot", "value")})
        lane = (sender["mask"] & -sender["mask"]).bit_length() - 1
        tell = [self.fence(sender) for _ in range(R.random() < 0.5)] + [self.tell(op, lane)]
        if not self.is_one(sender) and R.random() < 0.8:
            tell.insert(0, {"op": "warp", "mask": sender["mask"]})
        sender["code"] += [written] + tell
        look = dict(op)
        self.strength(look, R.choice(["acquire", "acquire", "acquire", "relaxed", "volatile", "weak"]))
        look = dict(self.load(look), spin=R.random() < 0.7)
        if look["spin"]:
            look["turns"] = self.slot()
        after = [self.fence(receiver) for _ in range(R.random() < 0.5)]
        again = dict(written) if R.random() < 0.7 else self.data()
        again = self.load({k: v for k, v in again.items() if k not in ("op", "slot", "value", "old", "fn")})
        inner = after + [again]
        code = [look] + (inner if R.random() < 0.3 else [{"op": "if", "slot": look["slot"], "zero": False, "code": inner}])
        receiver["code"][:0] = code

    def tell(self, op, lane):
        """One lane writes the flag, once."""
        R, op = self.R, dict(op, lane=lane)
        if R.random() < 0.3:
            self.strength(op, R.choice(["relaxed", "release", "acq_rel"]))
            return dict(op, op="atom", fn="exch", slot=self.slot(), value=self.value())
        self.strength(op, R.choice(["release", "release", "release", "relaxed", "volatile", "weak"]))
        return self.store(op)


def make(seed, number):
    program = Program(random.Random(f"races {seed} {number}")).as_dict()
    return ("// " + json.dumps(program) + "\n" + Text(program).all()).encode()


# ---- PTX ----

class Text:
    """The kernel of a program; `line` of each op is set as its instruction is written."""

    def __init__(self, program):
        self.program, self.lines, self.labels, self.ids = program, [], 0, {}

    def put(self, text):
        self.lines.append(text)
        return len(self.lines) + 1  # behind the line that has the program

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def all(self):
        p = self.program
        self.put(".version 8.0")
        self.put(".target sm_90")
        self.put(".address_size 64")
        self.put(f".shared .align 16 .b8 shared[{BYTES}];")
        self.put(f".visible .entry k(.param .u64 p_mem, .param .u64 p_out) .maxntid {p['block']}, 1, 1 {{")
        self.put(f".reg .pred %p, %q; .reg .u32 %lane, %warp, %bid, %x, %y, %z, %t, %v<{p['slots'] + 1}>; .reg .b16 %h; .reg .u64 %w, %a, %mem, %out, %sh;")
        self.put(".reg .u32 %d<4>;")
        for line in ("ld.param.u64 %mem, [p_mem];", "ld.param.u64 %out, [p_out];", "mov.u64 %sh, shared;", "mov.u32 %bid, %ctaid.x;",
                     "mov.u32 %x, %tid.x;", "and.b32 %lane, %x, 31;", "shr.u32 %warp, %x, 5;"):
            self.put(line)
        for slot in range(p["slots"]):
            self.put(f"mov.u32 %v{slot}, {UNREAD};")
        for part in p["parts"]:
            for group in part["groups"]:
                self.among([(group["block"], group["warp"], group["mask"])], lambda: self.code(group["code"]))
            for k, end in enumerate(part["ends"]):
                self.barrier(end)
        self.put("mov.u32 %x, %tid.x;")
        self.put(f"mad.lo.u32 %x, %bid, {p['block']}, %x;")
        self.put(f"mul.wide.u32 %w, %x, {4 * p['slots']};")
        self.put("add.u64 %out, %out, %w;")
        for slot in range(p["slots"]):
            self.put(f"st.global.u32 [%out+{4 * slot}], %v{slot};")
        self.put("ret;")
        self.put("}")
        return "\n".join(self.lines) + "\n"

    def among(self, who, body):
        """Lanes of warps of one block."""
        end = self.label()
        self.put(f"setp.ne.u32 %p, %bid, {who[0][0]};")
        self.put(f"@%p bra {end};")
        self.put("mov.u32 %y, 0;")
        for _, warp, mask in who:
            self.put(f"setp.eq.u32 %p, %warp, {warp};")
            self.put(f"@%p mov.u32 %y, {mask};")
        self.put("shr.u32 %y, %y, %lane;")
        self.put("and.b32 %y, %y, 1;")
        self.put("setp.eq.u32 %p, %y, 0;")
        self.put(f"@%p bra {end};")
        body()
        self.put(f"{end}:")

    def barrier(self, end):
        kind = end["kind"]
        if kind in ("bar.warp.sync", "vote.sync"):
            for who in end["sync"]:
                text = f"bar.warp.sync {who[2]};" if kind == "bar.warp.sync" else f"vote.sync.all.pred %q, %p, {who[2]};"
                self.among([who], lambda: self.put(text))
            return
        block = end["sync"][0][0]
        id = end["id"]
        if id is None:
            id = self.ids[block] = self.ids.get(block, 0) + 1
        count = f", {end['count']}" if end["count"] else ""
        def sync():
            if kind == "bar.red":
                self.put(f"bar.red.popc.u32 %z, {id}{count}, %p;")
            else:
                self.put(f"{kind} {id}{count};")
        self.among(end["sync"], sync)
        if end["arrive"]:
            self.among(end["arrive"], lambda: self.put(f"barrier.arrive {id}{count};"))

    def code(self, code):
        for op in code:
            getattr(self, "do_" + {"if": "guard", "ld": "load", "st": "store", "atom": "atomic", "red": "atomic"}.get(op["op"], op["op"]))(op)

    def do_guard(self, op):
        end = self.label()
        self.put(f"setp.{'ne' if op['zero'] else 'eq'}.u32 %p, %v{op['slot']}, 0;")
        self.put(f"@%p bra {end};")
        self.code(op["code"])
        self.put(f"{end}:")

    def do_warp(self, op):
        self.put(f"bar.warp.sync {op['mask']};")

    def do_fence(self, op):
        if op["membar"]:
            self.put(f"membar.{ {'cta': 'cta', 'gpu': 'gl', 'sys': 'sys'}[op['scope']]};")
        else:
            self.put(f"fence.{op['sem']}.{op['scope']};")

    def address(self, op):
        at = op["at"]
        for line in {"same": ["mov.u32 %x, 0;"], "linear": ["mov.u32 %x, %lane;"], "reverse": ["sub.u32 %x, 31, %lane;"],
                     "pairs": ["shr.u32 %x, %lane, 1;"], "rotate": [f"add.u32 %x, %lane, {at['turn']};", "and.b32 %x, %x, 31;"]}[at["by"]]:
            self.put(line)
        self.put(f"mad.lo.u32 %x, %x, {at['step']}, {at['base']};")
        self.put(f"mad.lo.u32 %x, %warp, {at['warp']}, %x;")
        self.put(f"mad.lo.u32 %x, %bid, {at['block']}, %x;")
        self.put("cvt.u64.u32 %a, %x;")
        self.put(f"add.u64 %a, %a, {'%sh' if op['space'] == 'shared' else '%mem'};")

    def only(self, op, text):
        """The instruction, for one lane where the op says so."""
        guard = ""
        if "lane" in op:
            self.put(f"setp.eq.u32 %p, %lane, {op['lane']};")
            guard = "@%p "
        op["line"] = self.put(guard + text)

    def name(self, op, base):
        strength = op["sem"] if op["sem"] in ("weak", "volatile") else f"{op['sem']}.{op['scope']}"
        vector = f".v{op['vector']}" if op["vector"] > 1 else ""
        return f"{base}.{strength}.{op['space']}{vector}.u{8 * op['bytes']}"

    def do_load(self, op):
        self.address(op)
        result = {1: "%t", 2: "%h", 4: "%t", 8: "%w"}[op["bytes"]]
        if op["vector"] > 1:
            result = "{" + ", ".join(f"%d{i}" for i in range(op["vector"])) + "}"
        if op.get("spin"):
            again = self.label()
            self.put(f"mov.u32 %v{op['turns']}, 0;")
            self.put(f"{again}:")
            self.put(f"add.u32 %v{op['turns']}, %v{op['turns']}, 1;")
        self.only(op, f"{self.name(op, 'ld')} {result}, [%a];")
        if op["bytes"] == 8:
            self.put("cvt.u32.u64 %t, %w;")
        elif op["bytes"] == 2:
            self.put("cvt.u32.u16 %t, %h;")
        self.put(f"mov.u32 %v{op['slot']}, {'%d0' if op['vector'] > 1 else '%t'};")
        if op.get("spin"):
            self.put(f"setp.eq.u32 %p, %t, 0;")
            self.put(f"setp.lt.and.u32 %p, %v{op['turns']}, 100, %p;")
            self.put(f"@%p bra {again};")

    def do_store(self, op):
        self.address(op)
        self.put(f"mad.lo.u32 %t, {op['value']}, 256, %lane;")
        self.put("cvt.u64.u32 %w, %t;")
        self.put("cvt.u16.u32 %h, %t;")
        value = {1: "%t", 2: "%h", 4: "%t", 8: "%w"}[op["bytes"]]
        if op["vector"] > 1:
            value = "{" + ", ".join(["%t"] * op["vector"]) + "}"
        self.only(op, f"{self.name(op, 'st')} [%a], {value};")

    def do_atomic(self, op):
        self.address(op)
        self.put(f"mov.u32 %t, {op['value']};" if op.get("fn", "add") == "add" else f"mad.lo.u32 %t, {op['value']}, 256, %lane;")
        where = f"{op['sem']}.{op['scope']}.{op['space']}"
        if op["op"] == "red":
            return self.only(op, f"red.{where}.add.u32 [%a], %t;")
        new = f"{256 * op['old']}, %t" if op["fn"] == "cas" else "%t"
        self.only(op, f"atom.{where}.{op['fn']}.{'u32' if op['fn'] == 'add' else 'b32'} %v{op['slot']}, [%a], {new};")


# ---- what happened ----

class Run:
    """The events of a run, of what its threads have stored."""

    def __init__(self, program, out):
        self.program, self.out = program, out
        threads = program["grid"] * program["block"]
        self.threads = [Thread(t // program["block"], t // program["block"], t % program["block"] // 32, t % 32) for t in range(threads)]
        self.runs, self.barriers = [[] for _ in range(threads)], []
        for part in program["parts"]:
            for group in part["groups"]:
                self.code(group["code"], self.of(group["block"], group["warp"], group["mask"]))
            for end in part["ends"]:
                if end["kind"] != "vote.sync":
                    self.meet([t for who in end["sync"] for t in self.of(*who)], [t for who in end["arrive"] for t in self.of(*who)])
        self.connect()

    def of(self, block, warp, mask):
        first = block * self.program["block"] + 32 * warp
        return [first + lane for lane in range(32) if mask >> lane & 1]

    def got(self, t, slot):
        return self.out[t * self.program["slots"] + slot]

    def meet(self, sync, arrive):
        arrivals = [Event(self.threads[t], "B", 0) for t in sync + arrive]
        leavings = [Event(self.threads[t], "L", 0) for t in sync]
        for t, e in [*zip(sync + arrive, arrivals), *zip(sync, leavings)]:
            self.runs[t].append(e)
        self.barriers.append((arrivals, leavings))

    def code(self, code, lanes):
        for op in code:
            if op["op"] == "if":
                self.code(op["code"], [t for t in lanes if (self.got(t, op["slot"]) == 0) == op["zero"]])
            elif op["op"] == "warp":
                self.meet(lanes, [])
            else:
                for t in lanes:
                    self.happen(op, t)

    def happen(self, op, t):
        thread = self.threads[t]
        if op["op"] == "fence":
            self.runs[t].append(Event(thread, "F", 0, None, op["sem"], op["scope"]))
            return
        if op.get("lane", thread.lane) != thread.lane:
            return
        space = ("shared", thread.block) if op["space"] == "shared" else "global"
        sem = "relaxed" if op["sem"] == "volatile" else op["sem"]
        at, got, size = self.place(op["at"], thread), self.got(t, op["slot"]) if "slot" in op else None, op["bytes"]
        put = op.get("value", 0) * 256 + thread.lane
        kind = {"ld": "R", "st": "W"}.get(op["op"], "U")
        if op.get("fn", op["op"]) in ("add", "red"):
            put = got + op["value"] if got is not None else None
        elif op.get("fn") == "cas" and got != 256 * op["old"]:
            kind = "R"
        if op.get("spin") and self.got(t, op["turns"]) > 1:  # it has read the zero that was there first
            self.runs[t].append(Event(thread, "R", op["line"], (space, at, size), sem, op["scope"], 0))
        for element in range(op["vector"]):
            self.runs[t].append(Event(thread, kind, op["line"], (space, at + element * size, size), sem, op.get("scope"), got, put,
                                      red=op["op"] == "red"))

    def place(self, at, thread):
        lane = {"same": 0, "linear": thread.lane, "reverse": 31 - thread.lane, "pairs": thread.lane >> 1,
                "rotate": thread.lane + at["turn"] & 31}[at["by"]]
        return at["base"] + lane * at["step"] + thread.warp * at["warp"] + thread.block * at["block"]

    def connect(self):
        """Finds the write that each read of a word has read: by its value, which no other write has."""
        events = [e for run in self.runs for e in run if e.place and e.place[2] == 4]
        for e in events:  # an addition that returns nothing: the least value with its bit, less the bit
            if e.red:
                seen = [o.got for o in events if o.place == e.place and o.got is not None and o.got >> 16]
                e.got = min(seen) - (1 << 16) if seen else None
                e.put = min(seen) if seen else None
        writes = {(e.place, e.put): e for e in events if e.writes()}
        for e in events:
            if e.reads() and e.got:
                source = writes.get((e.place, e.got))
                e.source = source if source is not e else None


# ---- what the checker says ----

def finding_lines(findings):
    """Pairs of PTX lines of the data races among findings in JSON."""
    pairs = set()
    for i, f in enumerate(findings):
        if f["code"] == "data-race" and f["severity"] != "note":
            other = findings[i + 1] if i + 1 < len(findings) and findings[i + 1]["severity"] == "note" else f
            pairs.add((min(f["line"], other["line"]), max(f["line"], other["line"])))
    return pairs


def replay(events):
    """What the checker finds in a file of events."""
    done = subprocess.run([os.path.join(build, "heddle"), "check", "--replay-events", events, "--format", "json"], capture_output=True,
                          text=True, timeout=60)
    try:
        return json.loads(done.stderr)["findings"]
    except ValueError:
        return f"status {done.returncode}: {done.stderr}"


def check(path, program, policy, events=None):
    """The pairs that are reported, whether all is watched, and what the run has read; or None and what went wrong. With `events`, a file, the
    run is recorded there, and has to be replayed to the same."""
    slots = program["grid"] * program["block"] * max(1, program["slots"])
    done = subprocess.run([os.path.join(build, "heddle"), "check", path, "--grid", str(program["grid"]), "--block", str(program["block"]),
                           *policy, *(["--record-events", events] if events else []), "--json", f"u32[{BYTES // 4}]", f"u32[{slots}]+print"], capture_output=True, text=True, timeout=60)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return None, False, f"status {done.returncode}: {done.stderr}"
    if said["result"] != "HD_SUCCESS":
        return None, False, f"{said['result']}: {said.get('diagnostics')}"
    if events and (again := replay(events)) != said["findings"]:
        return None, False, f"replayed: {again}, and not {said['findings']}"
    (out,) = [b for b in said["buffers"] if b.get("argument") == 2]
    watched = all(f["code"] != "not-watched" for f in said["findings"])
    return finding_lines(said["findings"]), watched, out["values"]


def do(case):
    """campaign.py: a verdict with counts, and what was found."""
    text = case.decode()
    program = json.loads(text.split("\n", 1)[0][3:])
    assert text.split("\n", 1)[1] == Text(program).all()
    counts = {"runs": 0, "races": 0, "clean": 0, "unjudged": 0}
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "kernel.ptx"), "w+") as f:
        events = os.path.join(folder, "run.events")
        f.write(text)
        f.flush()
        for policy in POLICIES:
            reported, watched, out = check(f.name, program, policy, events if policy == POLICIES[-1] else None)
            if reported is None:
                return "differs", f"{' '.join(policy)}: {out}"
            run = Run(program, out)
            known = causality.races(run.runs, run.barriers)
            counts["runs"] += 1
            if known is None:
                counts["unjudged"] += 1
                continue
            least, most = known
            counts["races"] += len(least)
            counts["clean"] += not most
            if not reported <= most or (watched and not least <= reported):
                return "differs", f"{' '.join(policy)}: missed {sorted(least - reported)}, wrong {sorted(reported - most)}, agreed {sorted(reported & most)}"
    return "ok " + " ".join(f"{k}={v}" for k, v in counts.items()), ""
