"""heddle litmus on tests in herd's format: what is allowed, how it is said, and what is refused, with its line."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main, run


def litmus(text, *args, name="t.litmus"):
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, name), "w") as f:
            f.write(text)
        return run("litmus", *args, name, cwd=d)


def found(text):
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "out.json")
        status, shown, err = litmus(text, "--json", out)
        assert status == 0, shown + err
        with open(out) as f:
            (one,) = json.load(f)
    return one


def rows(one):
    return [dict(zip(one["observed"], row)) for row in one["outcomes"]]


def columns(*threads):
    """Rows of a test, of threads (place, instruction...)."""
    height = max(len(t) for t in threads)
    return "".join(" | ".join((list(t) + [""] * height)[i] for t in threads) + " ;\n" for i in range(height))


def test(threads, condition, init="x=0; f=0;", title="PTX T\n"):
    return f"{title}{{ {init} }}\n{columns(*threads)}{condition}\n"


WRITER = ("st.weak x, 1", "st.release.gpu f, 1")
READER = ("ld.acquire.gpu r0, f", "ld.weak r1, x")
MISSED = "exists (P1:r0 == 1 /\\ P1:r1 == 0)"


def mp(where, writer=WRITER, reader=READER, condition=MISSED):
    return test([("P0@cta 0,gpu 0", *writer), (f"P1@{where}", *reader)], condition)


def a_test_is_shown_as_herd_shows_it():
    status, out, err = litmus(mp("cta 1,gpu 0"))
    assert status == 0 and not err, err
    lines = out.splitlines()
    assert lines[:5] == ["Test T Allowed", "States 3", "P1:r0=0; P1:r1=0;", "P1:r0=0; P1:r1=1;", "P1:r0=1; P1:r1=1;"], out
    assert "No" in lines and "Condition " + MISSED in lines and "Observation T Never 0 3" in lines, out
    assert "race: t.litmus:" not in out or "t.litmus:4" in out, out


def quantifiers_mean_what_herd_says():
    for condition, holds, how in [("exists (1:r0=1)", True, "Sometimes"), ("~exists (1:r0=1)", False, "Sometimes"),
                                  ("forall (1:r0=1 \\/ 1:r0=0)", True, "Always"), ("forall (1:r0=1)", False, "Sometimes"),
                                  ("exists (1:r0=7)", False, "Never"), ("~exists (not (1:r0 < 2))", True, "Never"),
                                  ("exists (1:r0 == 1:r1 /\\ ~(x != 1))", True, "Sometimes"), ("exists 0==0", True, "Always")]:
        one = found(mp("cta 1,gpu 0", condition=condition))
        assert (one["holds"], one["observation"]) == (holds, how), (condition, one)


def locations_are_shown_beside_the_condition():
    one = found(mp("cta 1,gpu 0", condition="locations [x; 1:r1;]\nexists (f=1)"))
    assert one["observed"] == ["x", "P1:r1", "f"] and all(r["f"] == 1 and r["x"] == 1 for r in rows(one)), one


def a_scope_reaches_a_block_a_gpu_or_all():
    """(writer's and reader's scope, the reader's place, whether the data may be missed)."""
    for scope, where, missed in [("cta", "cta 0,gpu 0", False), ("cta", "cta 1,gpu 0", True), ("gpu", "cta 1,gpu 0", False),
                                 ("gpu", "cta 0,gpu 1", True), ("sys", "cta 0,gpu 1", False), ("cta", "cta 0,gpu 1", True)]:
        one = found(mp(where, (WRITER[0], f"st.release.{scope} f, 1"), (f"ld.acquire.{scope} r0, f", READER[1])))
        assert one["holds"] == missed, (scope, where, one)


def gpus_have_as_many_blocks_as_they_need():
    threads = [("P0@cta 0,gpu 0", "st.relaxed.sys x, 1"), ("P1@cta 3,gpu 1", "ld.relaxed.sys r0, x", "ld.relaxed.sys r1, x"),
               ("P2@cta 7,gpu 1", "st.relaxed.sys x, 2"), ("P3@cta 7,gpu 1", "ld.relaxed.cta r0, x")]
    one = found(test(threads, "exists (1:r0=1 /\\ 1:r1=2 /\\ 3:r0=2)"))
    assert one["holds"] and not one["deadlock"], one


def columns_belong_to_the_threads_above_them():
    one = found(test([("P1@cta 1,gpu 0", "ld.relaxed.gpu r0, x"), ("P0@cta 0,gpu 0", "st.relaxed.gpu x, 1")], "exists (1:r0=1)"))
    assert one["holds"] and len(one["outcomes"]) == 2, one


def every_instruction_is_read():
    code = ("ld r1, 5", "add r2, r1, 2", "sub r2, r2, 1", "mul r2, r2, 3", "div r3, r2, 2", "st.relaxed.gpu x, r3",
            "atom.acq_rel.gpu.add r4, x, 1", "atom.relaxed.sys.sub r5, x, 4", "atom.relaxed.gpu.and r6, x, 6", "atom.relaxed.gpu.or r7, x, 9",
            "atom.relaxed.gpu.xor r8, x, 1", "atom.relaxed.gpu.exch r9, x, 20", "atom.acquire.gpu.cas r10, x, 20, 30",
            "red.release.gpu.add x, 2", "fence.sc.gpu", "fence.acq_rel.cta", "ld.relaxed.gpu r11, x")
    names = [f"0:r{i}={v}" for i, v in zip(range(2, 12), (18, 9, 9, 10, 6, 6, 15, 14, 20, 32))]
    one = found(test([("P0@cta 0,gpu 0", *code)], "exists (" + " /\\ ".join(names) + " /\\ x=32)"))
    assert one["holds"] and one["observation"] == "Always", one


def branches_and_what_registers_hold_at_first():
    for branch, taken in [("beq r0, 3, LC01", True), ("bne r0, 3, LC01", False), ("blt r0, 4, LC01", True), ("bgt r0, 3, LC01", False),
                          ("ble r0, 3, LC01", True), ("bge r0, 4, LC01", False), ("goto LC01", True)]:
        one = found(test([("P0@cta 0,gpu 0", branch, "ld r1, 1", "LC01:", "st.weak x, r1")], "exists (x=0)", init="x=9; P0:r0=3;"))
        assert one["holds"] == taken, (branch, one)


def a_loop_that_nobody_ends_spins_for_ever():
    spin = ("LC00:", "ld.relaxed.gpu r0, f", "bne r0, 0, LC01", "goto LC00", "LC01:")
    for writer, spins in [(("st.relaxed.gpu f, 1",), False), (("st.relaxed.gpu x, 1",), True)]:
        one = found(test([("P0@cta 0,gpu 0", *writer), ("P1@cta 1,gpu 0", *spin)], "exists 0==0"))
        assert one["livelock"] == spins, one


def rounds_within_rounds_that_write_are_explored_at_once():
    """Loops of exchanges: where one writes something else than it has read, the round it is in is none that can be left out."""
    first = ("LC00:", "atom.relaxed.gpu.exch r0, x, 1", "bne r0, 1, LC01", "goto LC00", "LC01:")
    second = ("LC10:", "atom.relaxed.gpu.exch r1, x, 1", "bne r1, 1, LC11", "goto LC12", "LC11:", "atom.relaxed.gpu.exch r2, x, 0",
              "bne r2, 1, LC12", "goto LC10", "LC12:", "atom.relaxed.gpu.exch r3, x, 0", "bne r3, 1, LC13", "goto LC11", "LC13:")
    text = test([("P0@cta 0,gpu 0", *first), ("P1@cta 0,gpu 0", *second)], "exists 0==0")
    began = time.monotonic()
    status, out, err = litmus(text)
    assert status == 0 and "not exhausted: --unroll 16" in out and time.monotonic() - began < 30, out + err


def barriers_are_of_those_who_name_them():
    """An instance alone, an id, a quorum: (P0's barrier, P1's, a deadlock, whether both may miss the other's store)."""
    for first, second, dead, missed in [("sync 0", "sync 0", False, False), ("sync 0", "sync 1", False, True), ("sync 1, 1", "sync 1, 1", False, False),
                                        ("sync 1, 1, 2", "sync 1, 1, 2", False, False), ("sync 1, 1, 2", "sync 1, 2, 2", True, False),
                                        ("sync 1, 1, 2", "arrive 1, 1, 2", False, True)]:
        threads = [(f"P{i}@cta 0,gpu 0", f"st.weak {'xf'[i]}, 1", f"bar.cta.{bar}", f"ld.weak r0, {'fx'[i]}") for i, bar in ((0, first), (1, second))]
        one = found(test(threads, "exists (0:r0=0 /\\ 1:r0=0)"))
        assert one["deadlock"] == dead, (first, second, one)
        sees = found(test(threads, "exists (1:r0=0)"))
        assert sees["holds"] == (missed or not dead and first != second), (first, second, sees)


def a_signal_leaves_no_batch_for_done():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "t.litmus")
        threads = [(f"P{i}@cta {i},gpu 0", *["atom.relaxed.gpu.add r0, x, 1"] * 4) for i in range(5)]
        with open(path, "w") as f:
            f.write(test(threads, "exists (x=20)"))
        process = subprocess.Popen([heddle, "litmus", "--no-symmetry", path, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 1 and "not exhausted: the search was interrupted" in out and "interrupted: 1 of 2 tests" in err, (out, err)


def a_limit_ends_the_search_of_a_test():
    status, out, err = litmus(mp("cta 1,gpu 0"), "--limit", 1)
    assert "not exhausted: --limit 1" in out, out + err


def what_is_no_test_is_refused_with_its_line():
    one = ("P0@cta 0,gpu 0",)
    for text, line, says in [
        ("C T\n{}\n", 1, "PTX NAME"), ("PTX T\n{ x=0;", 2, "`}` is missing"), (test([one + ("st.weak x, 1",)], ""), 4, "condition is missing"),
        (test([one + ("tld.weak r0, x",)], "exists (x=0)"), 4, "generic proxy"), (test([one + ("fence.proxy.alias",)], "exists (x=0)"), 4, "generic proxy"),
        (test([one], "exists (x=0)", init="x=0; y @ surface aliases x;"), 2, "generic proxy"), (test([one + ("st.acquire.gpu x, 1",)], "exists (x=0)"), 4, "order"),
        (test([one + ("st.relaxed x, 1",)], "exists (x=0)"), 4, "scope"), (test([one + ("jump x",)], "exists (x=0)"), 4, "not an instruction"),
        (test([one + ("ld.weak r0",)], "exists (x=0)"), 4, "operands"), (test([one + ("bar.cta.sync 1, 99, 2",)], "exists (x=0)"), 4, "barriers 0 to 15"),
        (test([one + ("goto LC99",)], "exists (x=0)"), 4, "LC99"), (test([one + ("beq r0, 0, LC98",)], "exists (x=0)"), 4, "LC98"), (test([one], "exists (5:r0=0)"), 4, "no such thread"),
        (test([one], "exists (x=)"), 0, ""), (test([one], "filter (x=\nexists (x=0)"), 0, ""), (test([one], "exists (x=4294967296)"), 4, "this is not a register or a variable"), (test([one], "exists (x=0) => (x=0)"), 4, "=>"), ("", 1, "PTX NAME"), ("PTX", 1, ""),
        (test([("P0@cta 0,gpu 4000000000", "st.weak x, 1")], "exists (x=0)"), 3, "a GPU is 0 to 63"), (test([("P99@cta 0,gpu 0",)], "exists (x=0)"), 3, "not a thread"),
        (test([one], "exists (zz=0)"), 4, "this variable"), (test([one, one], "exists (x=0)"), 3, "a column already"),
        (test([one + ("atom.relaxed.gpu.mul r0, x, 2",)], "exists (x=0)"), 4, "operation"), (test([one + ("| st.weak x, 1",)], "exists (x=0)"), 4, "no thread"),
    ]:
        status, out, err = litmus(text)
        assert status == 1 and says in err and "t.litmus" in err and (not line or f"t.litmus:{line}:" in err), (text, status, out, err)


def numbers_have_a_sign_where_one_is_negative():
    init = "x=-3; f=0; P1:r5=-1;"
    threads = [("P0@cta 0,gpu 0", "st.relaxed.gpu f, -2"), ("P1@cta 1,gpu 0", "ld.relaxed.gpu r0, f", "atom.relaxed.gpu.add r1, x, r5")]
    for condition, holds in (("exists (P1:r0 = -2)", True), ("~exists (P1:r0=-2)", False), ("forall (P1:r0 < 1 /\\ x=-4)", True),
                             ("exists (x == - 4)", None), ("forall (P1:r0 >= -1)", False), ("exists (P1:r0=4294967294)", True)):
        if holds is None:
            status, out, err = litmus(test(threads, condition, init))
            assert status == 1 and "t.litmus:6: this is not a register or a variable" in err, (out, err)
            continue
        assert found(test(threads, condition, init))["holds"] == holds, condition
    status, out, err = litmus(test(threads, "exists (P1:r0=-2)", init))
    assert "P1:r0=-2;\n" in out and "P1:r0=0;\n" in out, out + err


def a_filter_says_which_outcomes_count():
    threads = [("P0@cta 0,gpu 0", "st.relaxed.gpu x, 1"), ("P1@cta 1,gpu 0", "ld.relaxed.gpu r0, x")]
    for condition, holds, states in (("filter (P1:r0=1)\nforall (P1:r0=1)", True, 1), ("filter ([x]=1)\nforall (P1:r0=1)", False, 2),
                                     ("filter (false)\nexists (true)", False, 0), ("exists (true)", True, 1)):
        status, out, err = litmus(test(threads, condition))
        assert status == 0 and f"States {states}\n" in out and ("\nOk\n" in out) == holds, (condition, out, err)


main(globals())
