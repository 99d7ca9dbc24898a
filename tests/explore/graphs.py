"""graphs.py ALGORITHM [ARGS]: counts execution graphs by brute force, to hold `heddle explore` against: every way to let one read after the
other read from all that is there, with a table of what has been seen, each graph judged anew by the axioms of PTX ISA 9.0, chapter 8.

Nothing is shared with src/explore: threads are Python generators, a graph is what each read reads from, and orders are looked for by trying
all of them. A thread goes on behind a read that nothing hangs on ("unused"), so that executions with a circle of program order and reads-from
are counted, too. Accesses are weak, or strong in the gpu's scope.
"""
import itertools
import sys

INITIAL = -1


class Event:
    def __init__(self, thread, op):
        self.thread, self.op, self.place, self.order = thread, op, op[1], op[2]
        self.kind = "R" if op[0] == "U" else op[0]  # R, W, F; U: a compare-and-swap that has read what it compares with
        self.rf = self.value = self.got = None
        self.strong = self.order != "weak"
        self.acquires = self.kind in "RF" and self.order in ("acquire", "acq_rel", "sc")
        self.releases = self.kind in "WF" and self.order in ("release", "acq_rel", "sc")


def grow(program, sources):
    """The events of a graph: sources[t] is what reads of thread t read from, {number: (thread, number) or INITIAL}. Threads go on
    alternately, as far as what they read is there. Returns also the reads that are open: (thread, number, place)."""
    threads = [make() for make in program.threads]
    lists = [[] for _ in threads]
    ops = [next(t, None) for t in threads]

    def read(e, op, source):
        """False where what it reads from is not there yet."""
        if source != INITIAL and (len(lists[source[0]]) <= source[1] or lists[source[0]][source[1]].value is None):
            return False
        e.rf = source
        e.got = 0 if source == INITIAL else lists[source[0]][source[1]].value
        if op[0] == "U" and e.got == op[3]:
            e.kind, e.value, e.releases = "U", op[4], op[2] in ("release", "acq_rel")
        return True

    moved = True
    while moved:
        moved = False
        for t, thread in enumerate(threads):
            for k, e in enumerate(lists[t]):
                if e.op[0] in "RU" and e.rf is None and k in sources[t]:
                    moved |= read(e, e.op, sources[t][k])
            while ops[t]:
                op, k = ops[t], len(lists[t])
                e = Event(t, op)
                if op[0] in "RU" and not (k in sources[t] and read(e, op, sources[t][k])) and op[-1] != "unused":
                    break
                if op[0] == "W":
                    e.value = op[3]
                lists[t].append(e)
                moved = True
                try:
                    ops[t] = thread.send(e.got)
                except StopIteration:
                    ops[t] = None
    opened = [(t, k, e.place) for t, events in enumerate(lists) for k, e in enumerate(events) if e.op[0] in "RU" and e.rf is None]
    return lists, opened + [(t, len(lists[t]), op[1]) for t, op in enumerate(ops) if op]


def closed(rows):
    for k in range(len(rows)):
        for i in range(len(rows)):
            if rows[i] >> k & 1:
                rows[i] |= rows[k]
    return rows


def bits(m):
    while m:
        yield (m & -m).bit_length() - 1
        m &= m - 1


class Graph:
    def __init__(self, lists):
        self.events = [e for events in lists for e in events]
        first = [0]
        for events in lists:
            first.append(first[-1] + len(events))
        self.n = len(self.events)
        self.po = [0] * self.n
        for t, events in enumerate(lists):
            for i in range(first[t], first[t + 1]):
                self.po[i] = (1 << first[t + 1]) - (1 << i + 1)
        self.rf = {i: INITIAL if e.rf == INITIAL else first[e.rf[0]] + e.rf[1] for i, e in enumerate(self.events) if e.rf is not None}
        self.observed = {}
        for i in self.rf:
            self.observe(i)

    def observe(self, r):
        """What precedes a read in observation order (8.9.2)."""
        if r not in self.observed:
            w = self.rf[r]
            ok = w != INITIAL and (self.events[w].thread == self.events[r].thread or (self.events[w].strong and self.events[r].strong))
            self.observed[r] = 0 if not ok else 1 << w | (self.observe(w) if self.events[w].kind == "U" else 0)
        return self.observed[r]

    def synchronized(self):
        """Base causality without fences' order: program order, and patterns that synchronize (8.8, 8.9.4)."""
        rows = list(self.po)
        for r in self.rf:
            for w in bits(self.observed[r]):
                if self.events[w].thread == self.events[r].thread:
                    continue
                for x, e in enumerate(self.events):
                    begins = x == w or (self.po[x] >> w & 1 and self.events[w].strong and (e.kind == "F" or e.place == self.events[w].place))
                    if not (e.releases and e.strong and begins):
                        continue
                    for y, f in enumerate(self.events):
                        ends = y == r or (self.po[r] >> y & 1 and self.events[r].strong and (f.kind == "F" or f.place == self.events[r].place))
                        if f.acquires and f.strong and ends:
                            rows[x] |= 1 << y
        return closed(rows)

    def is_consistent(self):
        return self.has_fence_order(self.synchronized())

    def has_fence_order(self, base):
        """Is there an order of the fences of .sc (8.9.3) with which all axioms hold?"""
        if any(base[i] >> i & 1 for i in range(self.n)) or not self.holds(base):
            return False
        fences = [i for i, e in enumerate(self.events) if e.kind == "F" and e.order == "sc"]
        for a in fences:
            for b in fences:
                if a < b and not base[a] >> b & 1 and not base[b] >> a & 1:
                    for x, y in ((a, b), (b, a)):
                        more = list(base)
                        after = more[y] | 1 << y
                        for i in range(self.n):
                            if i == x or more[i] >> x & 1:
                                more[i] |= after
                        if self.has_fence_order(more):
                            return True
                    return False
        return True

    def holds(self, base):
        cause = list(base)  # 8.9.5
        for r in self.rf:
            for w in bits(self.observed[r]):
                cause[w] |= base[r]
        for r, w in self.rf.items():  # axiom Causality: a read reads nothing that it precedes
            if w != INITIAL and cause[r] >> w & 1:
                return False
        places = {}
        for i, e in enumerate(self.events):
            if e.kind != "F":
                places.setdefault(e.place, []).append(i)
        return all(self.has_coherence(here, cause) for here in places.values())

    def has_coherence(self, here, cause):
        writes = [i for i in here if self.events[i].kind in "WU"]
        return self.extend([], writes, here, cause)

    def extend(self, order, left, here, cause):
        """Writes of one place in coherence order so far: total, as those of the algorithms' places are all strong, or one thread's."""
        if not left:
            return self.is_coherent(order, here, cause)
        for w in left:
            if any(cause[v] >> w & 1 for v in left if v != w):
                continue
            e = self.events[w]
            if e.kind == "U" and self.rf[w] != (order[-1] if order else INITIAL):  # axiom Atomicity
                continue
            if self.extend(order + [w], [v for v in left if v != w], here, cause):
                return True
        return False

    def is_coherent(self, order, here, cause):
        rank = {INITIAL: -1, **{w: k for k, w in enumerate(order)}}
        for r in here:
            if r not in self.rf:
                continue
            for w in order:  # axiom Causality
                if w != r and cause[w] >> r & 1 and rank[self.rf[r]] < rank[w]:
                    return False
        # axiom Sequential Consistency per Location: program order, coherence, reads-from, from-read, of strong ones
        rows = {i: 0 for i in here}
        for i in here:
            for k in here:
                e, f = self.events[i], self.events[k]
                if i == k:
                    continue
                strong = e.thread == f.thread or (e.strong and f.strong)
                if self.po[i] >> k & 1:
                    rows[i] |= 1 << k
                if strong and i in rank and k in rank and rank[i] < rank[k]:
                    rows[i] |= 1 << k
                if strong and self.rf.get(k) == i:
                    rows[i] |= 1 << k
                if strong and i in self.rf and k in rank and rank[self.rf[i]] < rank[k]:
                    rows[i] |= 1 << k
        dense = [0] * self.n
        for i, row in rows.items():
            dense[i] = row
        return not any(row >> i & 1 for i, row in enumerate(closed(dense)))


def renamed(sources, to):
    """The graph with its threads exchanged: thread t is to[t]."""
    all_of_them = [()] * len(sources)
    for t, of in enumerate(sources):
        all_of_them[to[t]] = tuple((k, s if s == INITIAL else (to[s[0]], s[1])) for k, s in of)
    return tuple(all_of_them)


def count(program):
    """Of graphs that differ by an exchange of threads that do the same one is looked at, and all are counted."""
    n = len(program.threads)
    alike = [t for t in range(n) if t >= program.alike]
    exchanges = [list(range(program.alike)) + list(p) for p in itertools.permutations(alike)]
    seen, todo, graphs = set(), [((),) * n], 0
    while todo:
        sources = todo.pop()
        lists, reads = grow(program, [dict(of) for of in sources])
        if not reads:
            graphs += len({renamed(sources, to) for to in exchanges})
        for t, k, place in reads:
            writes = [(u, i) for u in range(n) for i, e in enumerate(lists[u]) if e.value is not None and e.place == place]
            for source in [INITIAL, *writes]:
                more = sources[:t] + (tuple(sorted(sources[t] + ((k, source),), key=lambda s: s[0])),) + sources[t + 1:]
                key = min((renamed(more, to) for to in exchanges), key=repr)
                if key not in seen:
                    seen.add(key)
                    if Graph(grow(program, [dict(of) for of in key])[0]).is_consistent():
                        todo.append(key)
    return graphs


# ---- the algorithms of tests/explore/kernels ----

class Program:
    def __init__(self, threads, alike):
        self.threads, self.alike = threads, alike  # from thread `alike` on all do the same


def treiber(plan, blocks):
    def thread(block):
        def body():
            todo = plan >> 2 * block
            if todo & 1:
                me = block + 1
                h = yield "R", "head", "relaxed"
                yield "W", ("value", me), "weak", 10 + me
                while True:
                    yield "W", ("next", me), "relaxed", h
                    got = yield "U", "head", "release", h, me
                    if got == h:
                        break
                    h = got
            if todo & 2:
                h = yield "R", "head", "acquire"
                while h:
                    following = yield "R", ("next", h), "relaxed"
                    got = yield "U", "head", "acquire", h, following
                    if got == h:
                        yield "R", ("value", h), "weak", "unused"
                        break
                    h = got
        return body
    same = all(plan >> 2 * b & 3 == plan & 3 for b in range(blocks))
    return Program([thread(b) for b in range(blocks)], 0 if same else blocks)


def deque(pushes, takes, thieves):
    def owner():
        for i in range(pushes):
            b = yield "R", "bottom", "relaxed"
            yield "W", ("item", b % 8), "relaxed", 11 + i
            yield "F", None, "acq_rel"
            yield "W", "bottom", "relaxed", b + 1
        for i in range(takes):
            b = (yield "R", "bottom", "relaxed") - 1
            yield "W", "bottom", "relaxed", b
            yield "F", None, "sc"
            t = yield "R", "top", "relaxed"
            if b - t >= 0:
                yield "R", ("item", b % 8), "relaxed", "unused"
                if t == b:
                    yield "U", "top", "relaxed", t, t + 1, "unused"
                    yield "W", "bottom", "relaxed", b + 1
            else:
                yield "W", "bottom", "relaxed", b + 1

    def thief():
        t = yield "R", "top", "acquire"
        yield "F", None, "sc"
        b = yield "R", "bottom", "acquire"
        if b - t > 0:
            yield "R", ("item", t % 8), "relaxed", "unused"
            yield "U", "top", "relaxed", t, t + 1, "unused"
    return Program([owner] + [thief] * thieves, 1)


if __name__ == "__main__":
    print(count({"treiber": treiber, "deque": deque}[sys.argv[1]](*map(int, sys.argv[2:]))))
