"""Which pairs of lines race in one execution: the PTX ISA's Memory Consistency Model (chapter 8), written down axiom by axiom for
executions that have happened, in which it is known what each strong read has read. The reference of the campaign `races`.

Not modelled: proxies, asynchronous copies, the host.
"""
import itertools

RELEASES, ACQUIRES = ("release", "acq_rel", "sc"), ("acquire", "acq_rel", "sc")


class Thread:
    def __init__(self, block, cluster, warp, lane):
        self.block, self.cluster, self.warp, self.lane = block, cluster, warp, lane


class Event:
    """An operation of a thread: R, W, U (read-modify-write), F (fence), B (arrival at a barrier) or L (leaving it)."""

    def __init__(self, thread, kind, line, place=None, sem="weak", scope=None, got=None, put=None, source=None, red=False):
        self.thread, self.kind, self.line = thread, kind, line
        self.place = place    # (state space, first byte, bytes)
        self.sem, self.scope = sem, scope
        self.got, self.put = got, put  # values
        self.source = source  # the write that a strong read has read from, or None
        self.red = red        # an atomic that returns nothing: no read of an acquire pattern
        self.number = None

    def reads(self):
        return self.kind in "RU"

    def writes(self):
        return self.kind in "WU"


def overlap(a, b):
    return a.place[0] == b.place[0] and a.place[1] < b.place[1] + b.place[2] and b.place[1] < a.place[1] + a.place[2]


def includes(scope, a, b):
    """8.5 Scope: whether the scope of an operation of thread a includes thread b."""
    return (scope in ("gpu", "sys") or scope == "cluster" and a.cluster == b.cluster or scope == "cta" and a.block == b.block)


def morally_strong(a, b):
    """8.7.1 Morally Strong Operations."""
    if a.place and b.place and a.place != b.place:
        return False
    if a.thread is b.thread:
        return True
    if "weak" in (a.sem, b.sem):
        return False
    return includes(a.scope, a.thread, b.thread) and includes(b.scope, b.thread, a.thread)


def observed(read):
    """8.9.2 Observation Order: the writes that precede this read in it."""
    writes, at = [], read
    while at.source and morally_strong(at.source, at):
        writes.append(at.source)
        if at.source.kind != "U":
            break
        at = at.source
    return writes


def release_patterns(events):
    """8.8 Release and Acquire Patterns: write -> first operations of the patterns that it ends."""
    first = {}
    for i, x in enumerate(events):
        if x.writes() and x.sem in RELEASES:
            first.setdefault(x, []).append(x)
        for w in events[i + 1:]:
            if w.writes() and w.sem != "weak":
                if x.kind == "F" and x.sem in RELEASES or x.writes() and x.sem in RELEASES and w.place == x.place:
                    first.setdefault(w, []).append(x)
    return first


def acquire_patterns(events):
    """Read -> last operations of the patterns that it begins."""
    last = {}
    for i, r in enumerate(events):
        if not r.reads() or r.red or r.sem == "weak":
            continue
        if r.sem in ACQUIRES:
            last.setdefault(r, []).append(r)
        for y in events[i + 1:]:
            if y.kind == "F" and y.sem in ACQUIRES or y.reads() and not y.red and y.place == r.place and y.sem in ACQUIRES:
                last.setdefault(r, []).append(y)
    return last


def synchronizes(runs):
    """8.9.4: pairs of operations, the first of which synchronizes with the second, but for fence.sc and barriers."""
    first, pairs = {}, []
    for events in runs:
        first.update(release_patterns(events))
    for events in runs:
        for r, ends in acquire_patterns(events).items():
            for w in observed(r):
                pairs += [(x, y) for x in first.get(w, ()) for y in ends if x.thread is not y.thread and morally_strong(x, y)]
    return pairs


class Cycle(Exception):
    """An order of fences that cannot be."""


def closure(after, n):
    """What each of n operations precedes, as a number of n bits; `after` has the immediate ones."""
    reach, state = [0] * n, [0] * n
    for root in range(n):
        stack = [root]
        while stack:
            at = stack[-1]
            if state[at] == 0:
                state[at] = 1
                for k in after[at]:
                    if state[k] == 1:
                        raise Cycle
                    if state[k] == 0:
                        stack.append(k)
                continue
            stack.pop()
            if state[at] == 1:
                state[at] = 2
                for k in after[at]:
                    reach[at] |= reach[k] | 1 << k
    return reach


def conflicts(events):
    """8.7.3: pairs of overlapping operations of two threads, one of which writes."""
    at = {}
    for e in events:
        if e.place:
            for byte in range(e.place[1], e.place[1] + e.place[2]):
                at.setdefault((e.place[0], byte), []).append(e)
    found = {}
    for there in at.values():
        writes = [e for e in there if e.writes()]
        for a in writes:
            for b in there:
                if a.thread is not b.thread:
                    found[min(a.number, b.number), max(a.number, b.number)] = a, b
    return list(found.values())


def racing_lines(events, candidates, reach, seen_by):
    """8.7.4 Conflict and Data-races, by 8.9.6 Causality Order: pairs of lines."""
    def precedes(a, b):
        return reach[a.number] >> b.number & 1 or any(reach[z.number] >> b.number & 1 for z in seen_by.get(a, ()))
    return {(min(a.line, b.line), max(a.line, b.line)) for a, b in candidates if not precedes(a, b) and not precedes(b, a)}


def races(runs, barriers, most_fences=8):
    """Pairs of lines that race whatever the order of fence.sc was, and those that race under some order of theirs.

    runs: for each thread its events in program order. barriers: (arrivals, leavings) of each phase.
    None: too many orders of fence.sc to look at."""
    events = [e for run in runs for e in run]
    for number, e in enumerate(events):
        e.number = number
    n = len(events)
    after = [[] for _ in range(n + len(barriers))]
    for run in runs:
        for a, b in zip(run, run[1:]):
            after[a.number].append(b.number)
    for k, (arrivals, leavings) in enumerate(barriers):
        for a in arrivals:
            after[a.number].append(n + k)
        after[n + k] = [b.number for b in leavings]
    for x, y in synchronizes(runs):
        after[x.number].append(y.number)
    seen_by = {}
    for e in events:
        if e.reads():
            for w in observed(e):
                seen_by.setdefault(w, []).append(e)
    candidates = [(a, b) for a, b in conflicts(events) if not morally_strong(a, b)]
    fences = [e for e in events if e.kind == "F" and e.sem == "sc"]
    pairs = [(a, b) for a, b in itertools.combinations(fences, 2) if a.thread is not b.thread and morally_strong(a, b)]
    if len(pairs) > most_fences:
        return None
    least, most = None, set()
    for turned in itertools.product((False, True), repeat=len(pairs)):
        more = [list(a) for a in after]
        for (a, b), turn in zip(pairs, turned):
            more[(b if turn else a).number].append((a if turn else b).number)
        try:
            found = racing_lines(events, candidates, closure(more, len(more)), seen_by)
        except Cycle:  # 8.10.2 Fence-SC
            continue
        least = found if least is None else least & found
        most |= found
    return least, most
