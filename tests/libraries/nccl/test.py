#!/usr/bin/env python3
"""NCCL: ranks on devices of one process and of several."""
import functools
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cases  # noqa: E402
import tap  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.cache
def built(name):
    return cases.build(HERE, name, "-lnccl")


def heddle(*words):
    return subprocess.Popen([tap.heddle, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ends_well(process, case):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and f"{case}: ok" in out, f"{case}: status {process.returncode}\n{out}{err}"
    return out + err


def threads_with_a_device_each():
    program = built("ranks")
    for n in 2, 4:
        for case in ["types", "operators", "collectives", "pairs", "graphs", "split"]:
            ends_well(heddle("run", "--devices", n, program, case, n), case)


def in_processes(program, case, n, absent=()):
    """The same ranks, each in a process; what the others say."""
    file = os.path.join(cases.WORK, f"id-{case}-{n}")
    ranks = [heddle("run", "--devices", n, program, case, n, file, i) for i in range(n)]
    said = "".join(ends_well(r, case) for i, r in enumerate(ranks) if i not in absent)
    for i in absent:
        ranks[i].communicate(timeout=120)
    return said


def processes_meet_by_an_id_in_a_file():
    program = built("ranks")
    for n in 2, 4:
        for case in ["collectives", "pairs", "graphs"] + (["split", "types"] if n == 4 else []):
            in_processes(program, case, n)


def who_waits_for_a_rank_that_is_gone_gets_an_error():
    program = built("ranks")
    in_processes(program, "killed", 3, absent=[1])
    said = in_processes(program, "killed_unseen", 2, absent=[1])
    assert "ncclAllReduce: rank 0 waits for rank 1, which has ended or failed" in said, said


def ranks_that_call_different_functions_are_told():
    program = built("ranks")
    said = ends_well(heddle("run", "--devices", 2, program, "different", 2), "different")
    assert "rank 1 calls ncclAllReduce, but rank 0 calls ncclBroadcast" in said, said


def two_processes_on_one_device_are_refused():
    program = built("ranks")
    file = os.path.join(cases.WORK, "id-same")
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="1,0", HEDDLE_DEVICES="2")
    ranks = [subprocess.Popen([tap.heddle, "run", program, "nothing", "2", file, str(i)], stdout=subprocess.PIPE, text=True, env=e)
             for i, e in enumerate([environment, dict(os.environ, HEDDLE_DEVICES="2")])]
    for r in ranks:
        out, _ = r.communicate(timeout=120)
        assert r.returncode == 1 and "ranks 0 and 1 are on one device" in out, out


def one_thread_has_all_devices():
    program = built("single")
    for case in "group", "refusals", "nonblocking":
        ends_well(heddle("run", "--devices", 2, program, case), case)


def check_finds_what_is_wrong_with_a_call():
    program = built("single")
    for case, code, words in [("race", "data-race", "ncclAllReduce"), ("too_long", "copy-out-of-bounds", "ncclGroupEnd"), ("group", "", "no errors")]:
        status, out, err = tap.run("check", "--devices", "2", program, case)
        assert (status == 0) == (not code) and f"[{code}" in out + err + "[" and words in out + err, f"{case}: {status}\n{out}{err}"


def explain_shows_a_call_in_its_stream():
    trace = os.path.join(cases.WORK, "trace.json")
    status, out, err = tap.run("explain", "--devices", "2", "--trace", trace, built("single"), "group")
    assert status == 0, out + err
    with open(trace) as f:
        assert '"ncclAllReduce: 1e+03 FLOP, 8e+03 bytes"' in f.read()


if __name__ == "__main__":
    tap.main(globals())
