"""heddle explore PROGRAM: one launch of a running program is explored, with its arguments and the memory as it is then."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main, run

here = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.TemporaryDirectory()
os.environ["TMPDIR"] = folder.name  # what is left there is seen
PROGRAM = os.path.join(folder.name, "launches")
SOURCE = os.path.join(here, "launches.cu")


def build(source):
    done = subprocess.run([heddle, "cc", "-lineinfo", "-o", PROGRAM, source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def explore(*args, status, **more):
    """The program's output, what was said, and the JSON of what was found (or None)."""
    save = os.path.join(folder.name, "found.json")
    if os.path.exists(save):
        os.remove(save)
    got, out, err = run("explore", "--json", save, *args, **more)
    assert got == status, (args, got, out, err)
    left = [name for name in os.listdir(folder.name) if name.startswith("heddle-explore-")]
    assert not left, left
    if not os.path.exists(save):
        return out, err, None
    with open(save) as f:
        return out, err, json.load(f)


def line_of(text):
    with open(SOURCE) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def a_launch_begins_with_the_memory_of_the_program():
    places = "1[0]", "2[0]:u64", "4[0]", "total", "pair[1]", "shown[1]"
    out, err, found = explore("--kernel", "add", *(word for p in places for word in ("--observe", p)), PROGRAM, "add", 2, status=1)
    assert out.startswith("counter ") and "mapped 54, cudaSuccess" in out, out
    assert found["observed"] == list(places) and found["complete"], found
    # The list is walked in device memory: 10 + 11 + 12; `step` is what was copied to it; mapped memory is the host's.
    assert found["outcomes"] == [[counter, 2 * 33 << 32, 52, 2, 8, 104] for counter in (8, 11)], found
    assert found["kernel"] == "add" and found["launch"] == 1 and found["grid"] == [2, 1, 1], found
    read, write = line_of("now = counter[0]"), line_of("counter[0] = now")
    assert err.count("\nrace: ") == 2 and f"launches.cu:{read} (PTX" in err and f"launches.cu:{write} (PTX" in err, err
    assert "of 2 launches of `add`; --launch N explores another" in err, err


def a_later_launch_begins_with_what_earlier_ones_left():
    out, err, found = explore("--kernel", "add", "--launch", 3, "--observe", "total", "--observe", "4[0]", PROGRAM, "add", 3, status=1)
    assert found["outcomes"] == [[6, 56]] and found["launch"] == 3, found
    assert "explore: launch 3 of `add`, grid 2, block 1" in err, err


def options_may_stand_behind_the_program():
    out, err, found = explore(PROGRAM, "add", 1, "--kernel", "bump", "--require", "1[0] == 10 || 1[0] == 13", status=0)
    assert "counter" in out and found["kernel"] == "bump<unsigned int>" and found["outcomes"], (out, err, found)


def a_kernel_has_the_name_that_heddle_launch_knows():
    for name in "bump", "bump<unsigned int>", "_Z4bumpIjEvPT_":
        out, err, found = explore("--kernel", name, PROGRAM, "leave", status=0)
        assert found["kernel"] == "bump<unsigned int>" and "explored: all executions, 0 findings" in err, (name, err)


def launches_of_graphs_come_in_their_place():
    out, err, found = explore("--kernel", "bump", "--launch", 4, "--observe", "1[0]", PROGRAM, "graph", status=0)
    assert found["outcomes"] == [[6]] and found["block"] == [2, 1, 1], found


def dynamic_shared_memory_is_the_launchs():
    for barrier, status, outcomes in (1, 0, [[64]]), (0, 1, [[0], [64]]):
        out, err, found = explore("--kernel", "hand_on", "--observe", "1[0]", PROGRAM, "hand-on", barrier, status=status)
        assert found["outcomes"] == outcomes and bool(found["races"]) == (not barrier), found


def blocks_of_a_cooperative_launch_meet():
    out, err, found = explore("--kernel", "meet", "--observe", "1[2]", "--observe", "1[3]", PROGRAM, "meet", status=0)
    assert found["outcomes"] == [[2, 1]] and found["complete"] and out == "cudaSuccess\n", (found, err)


def what_is_not_launched_is_said():
    for words, says in ((("--kernel", "sub", PROGRAM, "add"), ("has launched no kernel `sub`; it has launched:\n  list", "\n  add   (_Z3addP", ", once")),
                        (("--kernel", "add", "--launch", 3, PROGRAM, "add", 2), ("`add` was launched 2 times: there is no launch 3",)),
                        (("--kernel", "bump", PROGRAM, "wrong"), ("without launching a kernel: there was nothing to explore",)),
                        (("true",), ("ran without using CUDA: there was nothing to explore",))):
        status, out, err = run("explore", *words)
        assert status == 2, (words, status, err)
        for text in says:
            assert text in err, (words, err)


def of_a_source_is_said_what_makes_a_program_of_it():
    for words in (SOURCE, "--kernel", "add"), ("--kernel", "add", SOURCE):
        status, out, err = run("explore", *words)
        assert status == 2 and f"`heddle cc -lineinfo {SOURCE} -o PROGRAM` makes a program of it, for `heddle explore ./PROGRAM" in err, err


def wrong_questions_are_told_with_their_words():
    for words, says in ((("--observe", "5[0]"), "`5[0]`: the kernel takes 4 arguments"),
                        (("--observe", "4[99999]"), "`4[99999]`: it has "),
                        (("--observe", "nobody"), "`nobody`: there is no such parameter or variable in the PTX"),
                        (("--observe", "totl"), "`totl`: there is no such parameter or variable; did you mean `total`?"),
                        (("--require", "total =="), "--require `total ==`: a place or a number is missing"),
                        (("--forbid", "1[0]:u7 == 1"), "a type may follow")):
        status, out, err = run("explore", "--kernel", "add", *words, PROGRAM, "add")
        assert status == 2 and says in err, (words, status, err)


def what_is_written_wrong_is_said_before_the_program_runs():
    for words in (("--observe", "2[0"), ("--observe", "0[1]"), ("--observe", "2"), ("--observe", "1[0]:f128"), ("--observe", ""),
                  ("--observe", "1[0] == 2"), ("--require", "1[0] = 2"), ("--require", "1[0]:u32 == -1"), ("--forbid", "(1[0]"),
                  ("--forbid", "1[0]:u7 == 1"), ("--forbid", ""), ("--outcome", "0"), ("--graph", "a.png"), ("--launch", "0"),
                  ("--unroll", "0"), ("--limit", "0"), ("--limit", "x"), ("--workers", "0"), ("--launch", "-1")):
        status, out, err = run("explore", "--kernel", "add", *words, "sh", "-c", "echo has run")
        assert status == 2 and out == "" and err.startswith("heddle: "), (words, status, out, err)


def what_a_launch_brings_itself_is_no_option():
    status, out, err = run("explore", "--grid", "2", PROGRAM, "add")
    assert status == 2 and "there is no option `--grid`" in err and "the program itself sets this" in err, err


# ---- schedules ----

def scheduled(*args, status):
    """What an exploration of a launch of `update` has found, and the folder of its schedules."""
    d = tempfile.mkdtemp(dir=folder.name)
    return *explore("--kernel", "update", "--schedules", d, *args, status=status), d


def check(schedule, *args):
    return run("check", "--policy", f"replay:{schedule}", *args)


def schedules_of_a_launch_repeat_its_outcomes():
    out, err, found, d = scheduled("--launch", 2, *(w for p in ("1[0]", "2[0]", "2[1]") for w in ("--observe", p)), PROGRAM, "update", 2, status=0)
    assert found["outcomes"] == [[11, 10, 10], [12, 10, 11], [12, 11, 10]] and all(found["schedules"]), found
    assert re.match(r"cudaSuccess 1[12] 1[01] 1[01]\n$", out), "the program goes on with its memory as it was: " + out
    for values, path in zip(found["outcomes"], found["schedules"]):
        assert path.startswith(d + "/outcome-") and re.search(" ".join(map(str, values)).replace(" ", " +") + " +" + re.escape(path), err), err
        status, out, err2 = check(path, PROGRAM, "update", 2)
        assert (status, out) == (0, "cudaSuccess {} {} {}\n".format(*values)) and "no errors in 6 launches" in err2, (values, out, err2)


def schedules_repeat_traps_and_threads_that_spin_for_ever():
    for wrong, status, kind in (11, 1, "trap"), (5, 124, "livelock"): # in which the program itself spins behind it
        out, err, found, d = scheduled("--timeout", 2, PROGRAM, "update", 1, wrong, status=status)
        finding, = found["findings"]
        assert finding["kind"] == kind and os.path.exists(finding["schedule"]), found
        status, out, err = check(finding["schedule"], PROGRAM, "update", 1, wrong)
        assert status and not out.startswith("cudaSuccess"), (kind, out, err)


def a_schedule_whose_launch_does_not_come_is_said():
    out, err, found, d = scheduled("--launch", 2, "--observe", "1[0]", PROGRAM, "update", 2, status=0)
    status, out, err = check(found["schedules"][0], PROGRAM, "update", 1)
    assert status == 0 and "of launch 2 of `update`, which the program did not make: nothing was replayed" in err, err
    with open(found["schedules"][0], "rb") as f, open(f"{d}/cut", "wb") as g:
        g.write(f.readline())
    status, out, err = check(f"{d}/cut", PROGRAM, "update", 2)
    assert "does not do what the replayed schedule recorded" in err, err
    with open(f"{d}/other", "w") as f:
        f.write("heddle schedule 1\n")
    for name, says in (f"{d}/other", "does not name a launch"), (f"{d}/none", "cannot be opened"):
        status, out, err = check(name, PROGRAM, "update")
        assert status == 2 and says in err, err


def schedules_of_a_sandboxed_program_are_below_its_folder():
    out, err, found, d = scheduled("--sandbox", "--observe", "1[0]", PROGRAM, "update", status=0)
    assert all(found["schedules"]) and len(os.listdir(d)) == len(found["outcomes"]), (found, err)
    status, out, err = run("explore", "--sandbox", "--schedules", "/usr/none", "--kernel", "update", PROGRAM, "update")
    assert status == 2 and "a program in the sandbox can write only below" in err, err


def what_is_not_explored_is_refused():
    out, err, found = explore("--observe", "1[0]", PROGRAM, "large", status=2)
    assert "at most 1024 are explored" in err and found is None, err


def a_programs_own_status_goes_first():
    out, err, found = explore(PROGRAM, "fail", status=7)
    assert found["complete"], found


def a_program_that_dies_meanwhile_leaves_no_result():
    status, out, err = run("explore", "--kernel", "many", "--no-symmetry", PROGRAM, "die")
    assert status in (-signal.SIGABRT, 128 + signal.SIGABRT), status
    assert "ended while launch 1 of `many`, grid 1, block 8 was being explored" in err, err


def one_of_several_processes_explores():
    out, err, found = explore("--kernel", "add", "--observe", "total", "sh", "-c", f"{PROGRAM} add; {PROGRAM} add", status=1)
    assert out.count("counter") == 2 and err.count("explore: launch") == 1 and found["outcomes"] == [[2]], (out, err)


def a_sandboxed_program_is_explored():
    out, err, found = explore("--sandbox", "--kernel", "add", "--observe", "total", PROGRAM, "add", status=1)
    assert found["outcomes"] == [[2]], found


def a_limit_is_said_and_the_program_goes_on():
    out, err, found = explore("--kernel", "many", "--limit", 3000, "--no-symmetry", "--observe", "1[0]", PROGRAM, "many", 8, status=3)
    assert out == "cudaSuccess\n" and "not exhausted: --limit 3000" in err and not found["complete"], (out, err)


def a_signal_ends_the_search_and_not_the_program():
    for by in signal.SIGINT, signal.SIGTERM:
        process = subprocess.Popen([heddle, "explore", "--kernel", "many", "--no-symmetry", "--observe", "1[0]", PROGRAM, "many", "8"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        time.sleep(1)
        process.send_signal(by)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 3 and out == "cudaSuccess\n", (process.returncode, out, err)
        assert "not exhausted: the search was interrupted" in err, err


def a_time_limit_ends_the_search():
    out, err, found = explore("--timeout", 1, "--kernel", "many", "--no-symmetry", "--observe", "1[0]", PROGRAM, "many", 8, status=124)
    assert found and "the search was interrupted" in err, err


build(SOURCE)
main(globals())
