"""Random kernels with nested scopes that declare the same names again, each beside the same kernel with all names made unique.

The generator resolves names by itself, as the vendor's assembler does (PTX ISA 4.4, 5.4.6): scope by scope from the innermost,
and in each what stands before the use, declared by itself (%r2) or in a range (%r<4>). Only labels may stand behind their uses.
A kernel computes one number from all that it reads; `python3 scopes.py SEED` writes both texts."""
import random
import re
import sys

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
BEFORE = """.global .u32 a = 11;
.const .u32 a1 = 12;
.global .u32 %s = 13;
.func (.param .b32 r) twice(.param .b32 p) { .reg .b32 a; ld.param.b32 a, [p]; add.u32 a, a, a; st.param.b32 [r], a; ret; }
.func (.param .b32 r) next(.param .b32 p) { .reg .b32 a; ld.param.b32 a, [p]; add.u32 a, a, 1; st.param.b32 [r], a; ret; }
"""
ACC = "acc"  # names that no scope hides: what is computed, and room for values on their way
KEPT = ".reg .u32 acc, tmp; .reg .u64 wide, code; .reg .pred yes;"
STEMS = ["a", "%r", "%s", "b$"]
REGISTERS = ["u32", "u64", "pred", "f32"]
MEMORY = ["shared", "local", "global"]


class Thing:
    """What a name stands for: a register, a variable in a state space, a label, a list, a function."""

    def __init__(self, kind, unique, type=None):
        self.kind, self.unique, self.type = kind, unique, type


class Scope:
    def __init__(self):
        self.names = {}       # declared by themselves so far
        self.ranges = {}      # stem: [Thing]
        self.labels = {}      # that this scope declares now or later
        self.seen_as_outer = set()  # labels of outer scopes that were jumped to from here

    def find(self, name):
        stem = name.rstrip("0123456789")
        if stem != name and stem in self.ranges and int(name[len(stem):]) < len(self.ranges[stem]):
            return self.ranges[stem][int(name[len(stem):])]
        return self.names.get(name)

    def is_free(self, name):
        return self.find(name) is None and name not in self.labels

    def has_room(self, stem, count):
        one_by_one = {**self.names, **self.labels}
        return stem not in self.ranges and not any(f"{stem}{i}" in one_by_one for i in range(count))


class Kernel:
    """Two texts of one kernel: `nested` and `flat`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nested, self.flat = [], []
        self.made = 0
        module = Scope()
        module.names = {"a": Thing("global", "a"), "a1": Thing("const", "a1"), "%s": Thing("global", "%s"),
                        "twice": Thing("func", "twice"), "next": Thing("func", "next")}
        self.scopes = [module, Scope()]
        self.depth = 0
        for _ in range(self.random.randint(12, 20)):
            self.step()

    # ---- names ----

    def unique(self):
        self.made += 1
        return f"u{self.made}_"

    def any_name(self):
        stem = self.random.choice(STEMS)
        return stem if self.random.random() < 0.3 else f"{stem}{self.random.randint(0, 4)}"

    def find(self, name):
        return next((t for t in (s.find(name) for s in reversed(self.scopes)) if t), None)

    def find_label(self, name):
        """The label that `bra name` reaches, where something else does not hide it."""
        for depth in range(len(self.scopes) - 1, 0, -1):
            s = self.scopes[depth]
            if s.find(name):
                return None, 0
            if name in s.labels:
                return s.labels[name], depth
        return None, 0

    def free_name(self):
        """One that this scope does not have yet, and that no jump out of it has used."""
        for _ in range(20):
            name = self.any_name()
            if self.scopes[-1].is_free(name) and name not in self.scopes[-1].seen_as_outer:
                return name
        return None

    # ---- text ----

    def emit(self, text, *things):
        """`text` with $0, $1, ... for pairs of a name and what it stands for."""
        self.nested.append(re.sub(r"\$(\d)", lambda m: things[int(m[1])][0], text))
        self.flat.append(re.sub(r"\$(\d)", lambda m: things[int(m[1])][1].unique, text))

    def open(self):
        self.nested.append("{")
        self.scopes.append(Scope())

    def close(self):
        self.nested.append("}")
        self.scopes.pop()

    def number(self):
        return self.random.randint(1, 99999)

    # ---- statements ----

    def step(self):
        kinds = [self.use] * 8 + [self.declare] * 3 + [self.declare_range] * 2 + [self.nest] * 2 + [self.skip, self.call,
                                                                                                     self.call_by_pointer]
        self.random.choice(kinds)()

    def write_first(self, name, thing):
        pair = name, thing
        if thing.kind == "reg":
            self.emit({"u32": f"mov.u32 $0, {self.number()};", "u64": f"mov.u64 $0, {self.number()};",
                       "f32": f"mov.f32 $0, {self.random.randint(1, 99)}.0;",
                       "pred": f"setp.lt.u32 $0, acc, {self.number() << 14};"}[thing.type], pair)
        else:
            self.emit(f"st.{thing.kind}.u32 [$0], {self.number()};", pair)

    def declare(self):
        name = self.free_name()
        if not name:
            return
        if self.random.random() < 0.6:
            thing = Thing("reg", self.unique(), self.random.choice(REGISTERS))
            self.emit(f".reg .{thing.type} $0;", (name, thing))
        else:
            thing = Thing(self.random.choice(MEMORY), self.unique())
            self.emit(f".{thing.kind} .u32 $0;", (name, thing))
        self.scopes[-1].names[name] = thing
        self.write_first(name, thing)

    def declare_range(self):
        stem, count = self.random.choice(STEMS), self.random.randint(0, 5)
        jumped = self.scopes[-1].seen_as_outer
        if not self.scopes[-1].has_room(stem, count) or any(f"{stem}{i}" in jumped for i in range(count)):
            return
        kind = "reg" if self.random.random() < 0.7 else self.random.choice(MEMORY)
        type = self.random.choice(REGISTERS) if kind == "reg" else "u32"
        things = [Thing(kind, self.unique(), type) for _ in range(count)]
        self.nested.append(f".{kind} .{type} {stem}<{count}>;")
        self.flat += [f".{kind} .{type} {t.unique};" for t in things]
        self.scopes[-1].ranges[stem] = things
        for i, thing in enumerate(things):
            self.write_first(f"{stem}{i}", thing)

    def use(self):
        name = self.any_name()
        thing = self.find(name)
        if not thing or thing.kind in ("label", "table", "func"):
            return
        pair = name, thing
        if thing.kind == "reg" and self.random.random() < 0.3:
            digits = name[len(name.rstrip("0123456789")):]
            if digits and self.find(name) is thing and all(name not in s.names for s in self.scopes):
                pair = name[:-len(digits)] + "0" + digits, thing  # %r03 is %r3 of a range, too
        if thing.kind == "reg":
            self.emit(self.random.choice({
                "u32": ["add.u32 $0, $0, acc;", "mad.lo.u32 acc, acc, 31, $0;", "@yes mov.u32 $0, acc;"],
                "u64": ["cvt.u32.u64 tmp, $0; mad.lo.u32 acc, acc, 33, tmp;", "mad.wide.u32 $0, acc, 5, $0;"],
                "f32": ["add.f32 $0, $0, 0f3F800000; cvt.rni.u32.f32 tmp, $0; mad.lo.u32 acc, acc, 35, tmp;"],
                "pred": [f"setp.lt.u32 $0, acc, {self.number() << 14};", "@$0 add.u32 acc, acc, 77;",
                         "@!$0 xor.b32 acc, acc, 12345;", "selp.u32 tmp, 3, 4, $0; mad.lo.u32 acc, acc, 37, tmp;"],
            }[thing.type]), pair)
        elif thing.kind == "const" or self.random.random() < 0.5:
            self.emit(f"ld.{thing.kind}.u32 tmp, [$0]; mad.lo.u32 acc, acc, 39, tmp;", pair)
        else:
            self.emit(f"st.{thing.kind}.u32 [$0], acc;", pair)

    def nest(self):
        if self.depth == 4:
            return
        self.depth += 1
        self.open()
        for _ in range(self.random.randint(3, 9)):
            self.step()
        self.close()
        self.depth -= 1

    def skip(self):
        """Jumps over inner scopes, from before them and from within."""
        name = self.free_name()
        if not name or self.depth == 4 or self.find(name):
            return
        here, label = self.scopes[-1], Thing("label", self.unique())
        here.labels[name] = label
        self.emit(f"setp.lt.u32 yes, acc, {self.number() << 14}; @yes bra $0;", (name, label))
        self.depth += 1
        for _ in range(self.random.randint(1, 2)):
            self.open()
            for _ in range(self.random.randint(2, 6)):
                self.step()
                self.jump(self.any_name() if self.random.random() < 0.5 else name)
            self.close()
        self.depth -= 1
        here.names[name] = label
        self.emit("$0:", (name, label))

    def jump(self, name):
        label, depth = self.find_label(name)
        if not label:
            return
        for s in self.scopes[depth + 1:]:
            s.seen_as_outer.add(name)
        table = self.free_name()
        pair = name, label
        if table and table != name and not self.find(table) and self.random.random() < 0.4:
            over, behind = self.unique(), Thing("label", self.unique())
            thing = Thing("table", self.unique())
            self.scopes[-1].names[table] = thing
            self.emit(f"$1: .branchtargets $2, $0; and.b32 tmp, acc, 1; brx.idx tmp, $1; $2:", pair, (table, thing),
                      (over, behind))
        else:
            self.emit(f"setp.lt.u32 yes, acc, {self.number() << 13}; @yes bra $0;", pair)

    def call(self, pointer=False):
        """A call's parameters are variables of the scope around it."""
        function = self.random.choice(["twice", "next"])
        self.open()
        given, got = self.free_name(), None
        while got in (None, given):
            got = self.free_name()
        if given and got and not (given[:-1] == got[:-1]):
            things = Thing("param", self.unique()), Thing("param", self.unique())
            pairs = (given, things[0]), (got, things[1])
            self.emit(".param .b32 $0; .param .b32 $1; st.param.b32 [$0], acc;", *pairs)
            if pointer:
                proto = self.unique(), Thing("table", self.unique())
                self.emit(f"mov.u64 code, {function}; $2: .callprototype (.param .b32 _) _ (.param .b32 _);"
                          " call ($1), code, ($0), $2;", *pairs, proto)
            else:
                self.emit(f"call ($1), {function}, ($0);", *pairs)
            self.emit("ld.param.b32 tmp, [$1]; mad.lo.u32 acc, acc, 41, tmp;", *pairs)
        self.close()

    def call_by_pointer(self):
        self.call(pointer=True)


def texts(seed):
    """A kernel with nested scopes, and the same with unique names."""
    kernel = Kernel(seed)
    frame = ".visible .entry kernel(.param .u64 out)\n{\n" + KEPT + "\nmov.u32 acc, 1; setp.ne.u32 yes, acc, 0;\n%s\n" + \
        "ld.param.u64 wide, [out];\nst.global.u32 [wide], acc;\nret;\n}\n"
    return [HEAD + BEFORE + frame.replace("%s", "\n".join(lines)) for lines in (kernel.nested, kernel.flat)]


if __name__ == "__main__":
    print("\n".join(texts(int(sys.argv[1]))))
