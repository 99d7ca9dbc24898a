"""Barriers of a block that lanes of a warp come to one after the other (PTX ISA 9.7.13.1): what an H200 did, who orders whom, what is
said of those that never open."""
import lzma
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import by_both, fault_by_both, written
from tap import launch, main, run, some, values

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
WORDS = {"A": "barrier.arrive", "S": "barrier.sync", "P": "barrier.sync", "R": "barrier.red.popc.u32", "Q": "barrier.red.popc.u32",
         "N": "barrier.red.and.pred", "O": "barrier.red.or.pred"}
HOLDS = {"1": "setp.ne.u32 %q, 1, 0;", "2": "and.b32 %a, %t, 1; setp.ne.u32 %q, %a, 0;", "3": "rem.u32 %a, %t, 3; setp.eq.u32 %q, %a, 0;",
         "0": "setp.ne.u32 %q, 0, 0;"}


def kernel(body):
    """%t: the thread, %l: its lane, %w: its warp; %x: its word of the output."""
    return HEAD + f""".visible .entry k(.param .u64 out)
{{
    .reg .pred %p, %q, %r; .reg .u32 %t, %w, %l, %a, %b, %n, %v, %o; .reg .u64 %x, %y;
    .shared .align 4 .u32 cell[128];
    mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %l, %laneid; mov.u32 %o, 1;
    ld.param.u64 %x, [out]; mul.wide.u32 %y, %t, 4; add.u64 %x, %x, %y;
{body}done:
    st.global.u32 [%x], %o;
    ret;
}}
"""


class Step:
    """A letter of WORDS, the barrier's number, its count, what a reduction is given (a key of HOLDS), and what that gave."""

    def __init__(self, text):
        text, _, self.value = text.partition("=")
        self.kind, rest = text[0], text[1:].split(":")
        self.barrier, self.count, self.holds = rest[0], "", ""
        if self.kind not in "PQX":
            self.count = rest.pop(1)
        if self.kind in "RNOQ":
            self.holds = rest[1]

    def text(self):
        if self.kind == "X":
            return "bra done;"
        count = ", %n" if self.count else ""
        place = f"mov.u32 %b, {self.barrier}; mov.u32 %n, {self.count or 0};"
        if not self.holds:
            return f"{place} {WORDS[self.kind]} %b{count}; mad.lo.u32 %o, %o, 131, 1;"
        to, take = ("%r", "selp.b32 %v, 1, 0, %r;") if self.kind in "NO" else ("%v", "")
        return f"{HOLDS[self.holds]} {place} {WORDS[self.kind]} {to}, %b{count}, %q; {take} mad.lo.u32 %o, %o, 131, %v; add.u32 %o, %o, 1;"


def case(line):
    """How it ends, threads, the kernel, and what each thread has in the end. Groups of lanes have their own code."""
    ending, threads = line.split(" | ")[0].split()
    body, result = "", {}
    for n, group in enumerate(line.split(" | ")[1:]):
        place, *steps = group.split()
        warp, mask = place.split("/")
        steps = [Step(s) for s in steps]
        value = 1
        for s in steps:
            if s.kind == "X":
                break
            value = (value * 131 + 1 + int(s.value or 0)) & 0xffffffff
        result.update({32 * int(warp) + lane: value for lane in range(32) if int(mask, 16) >> lane & 1})
        code = "".join(f"    {s.text()}\n" for s in steps)
        body += f"""    setp.ne.u32 %p, %w, {warp}; shr.u32 %a, 0x{mask}, %l; and.b32 %a, %a, 1; setp.eq.or.u32 %p, %a, 0, %p; @%p bra others{n};
{code}    bra done;
others{n}:
"""
    return ending, int(threads), kernel(body), [result.get(t, 1) for t in range(int(threads))]


def lanes_that_have_parted_meet_as_on_an_h200():
    """174 programs whose end does not depend on who comes first: where a warp counts, who goes on, what is reduced, what never ends."""
    with lzma.open(os.path.join(os.path.dirname(__file__), "parted-h200.txt.xz"), "rt") as f:
        lines = f.read().splitlines()
    assert len(lines) == 174
    for n, line in enumerate(some(35, lines)):
        ending, threads, text, want = case(line)
        args = ["--grid", 1, "--block", threads, f"u32[{threads}]=zeros+print"]
        with written(text) as path:
            if ending == "hangs":
                assert "[deadlock]" in fault_by_both(path, *args), line
                continue
            assert values(by_both(path, *args), 1) == want, line
            assert values(launch(path, *args, "--policy", f"random:{n}"), 1) == want, line


def branch(odd, even, behind=""):
    return kernel(f"and.b32 %a, %l, 1; setp.eq.u32 %p, %a, 0; @%p bra even;\n{odd} bra meet;\neven:\n{even}\nmeet:\n{behind}\n")


def odd_and_even_lanes_arrive_and_wait_by_turns():
    text = branch("barrier.arrive 1, 64; barrier.sync 2, 64;", "barrier.sync 1, 64; barrier.arrive 2, 64;", "add.u32 %o, %t, 1;")
    with written(text) as path:
        assert values(by_both(path, "--grid", 1, "--block", 64, "u32[64]=zeros+print"), 1) == list(range(1, 65))


def a_warp_that_arrives_twice_fills_a_count_of_two():
    for first, then in ("barrier.arrive 1, 64;", "barrier.sync 1, 64;"), ("bar.arrive 1, 64;", "bar.sync 1, 64;"):
        with written(kernel(f"{first} {then} add.u32 %o, %t, 1;\n")) as path:
            assert values(by_both(path, "--grid", 1, "--block", 32, "u32[32]=zeros+print"), 1) == list(range(1, 33))


def a_count_of_0_in_a_register_is_that_of_the_block():
    """As an H200 has it; a constant 0 is refused by ptxas, and of arrive it is an error there, too."""
    for word in "bar.sync", "barrier.sync":
        with written(kernel(f"mov.u32 %n, 0; {word} 1, %n; add.u32 %o, %t, 1;\n")) as path:
            assert values(by_both(path, "--grid", 1, "--block", 96, "u32[96]=zeros+print"), 1) == list(range(1, 97))
    with written(kernel("mov.u32 %n, 0; barrier.arrive 1, %n;\n")) as path:
        assert "[barrier]" in fault_by_both(path, "--grid", 1, "--block", 64, "u32[64]=zeros")


def whom_a_warp_waits_for_is_said():
    with written(branch("barrier.arrive 1, 64;", "barrier.sync 2, 64;")) as path:
        err = fault_by_both(path, "--grid", 1, "--block", 32, "u32[32]=zeros")
    assert re.search(r"16 lanes \(ADDRESS\) wait for barrier 1 in `barrier.arrive`; 16 lanes \(ADDRESS\) of this warp are not there", err), err
    with written(branch("barrier.arrive 1, 64;", "barrier.sync 1, 64;")) as path:
        err = fault_by_both(path, "--grid", 1, "--block", 32, "u32[32]=zeros")
    assert "wait for barrier 1 in `barrier.sync`; 32 of 64 threads are there" in err and "barrier.arrive" not in err, err


CELL = "mov.u32 %a, cell; mad.lo.u32 %b, %t, 4, %a;"
BESIDE = "xor.b32 %n, %t, 1; mad.lo.u32 %n, %n, 4, %a;"
WRITE, READ = f"{CELL} st.shared.u32 [%b], %t;", f"{CELL} {BESIDE} ld.shared.u32 %o, [%n];"


def said(text):
    with written(text) as path:
        status, _, err = run("check", path, "--grid", 1, "--block", 64, "u32[64]=zeros")
    codes = set(re.findall(r"\[([a-z-]+)[],]", err))
    assert status == bool(codes), err
    return codes


def who_waits_is_behind_those_who_have_arrived():
    assert said(branch(WRITE + "barrier.arrive 1, 64;", "barrier.sync 1, 64;" + READ)) == set()
    assert said(branch(WRITE + "barrier.sync 1, 64;", "barrier.sync 1, 64;" + READ)) == set()
    assert said(branch("barrier.sync 1, 64;" + READ, WRITE + "barrier.arrive 1, 64;")) == set()
    assert said(branch(WRITE + "barrier.arrive 1, 64; barrier.sync 2, 64;" + READ,
                        "barrier.sync 1, 64;" + READ + WRITE + "barrier.arrive 2, 64;")) == set()


def who_has_arrived_is_behind_nobody():
    assert "data-race" in said(branch("barrier.arrive 1, 64;" + READ, WRITE + "barrier.sync 1, 64;"))
    assert "data-race" in said(branch("barrier.arrive 1, 64;" + WRITE, "barrier.sync 1, 64;" + READ))


def a_barrier_at_which_some_reduce_and_others_wait_is_told():
    """An H200 mostly ends such a launch: an illegal instruction."""
    both, waits = "barrier.red.popc.u32 %v, 1, 64, %p;", "barrier.sync 1, 64;"
    for odd, even in (both, waits), (waits, both), (both, "barrier.arrive 1, 64;"), (both, "barrier.red.or.pred %q, 1, 64, %p;"):
        assert said(branch(odd, even)) == {"barrier-reduction"}, (odd, even)
    assert said(branch(both, both)) == set()
    assert said(branch(waits + both, waits + both)) == set()


main(globals())
