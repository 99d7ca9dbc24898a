"""heddle check: what the checker itself keeps does not grow with a program's launches, and has a limit that can be set."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from findings import Checked
from tap import SANITIZED, Skip, heddle, main, run, some, source

folder = tempfile.TemporaryDirectory()
os.environ["HEDDLE_CACHE"] = "off"
SEES_HOST = os.uname().machine == "x86_64" and os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "libheddle-symbols.so"))
PARTLY = os.path.join(source, "tests", "check_memory", "partly.cu")
MANY = os.path.join(source, "tests", "check_memory", "many.cu")
BRANCHES = os.path.join(source, "tests", "check_memory", "branches.cu")
PAST = os.path.join(source, "tests", "check_memory", "past.cu")


def lines_of(file):
    with open(file) as f:
        return {m: n for n, line in enumerate(f, 1) for m in re.findall(r"// @(\w+)", line)}


LINES = lines_of(MANY)


def build(source_file):
    path = os.path.join(folder.name, os.path.basename(source_file)[:-3])
    if not os.path.exists(path):
        done = subprocess.run([heddle, "cc", "-g", "-lineinfo", "-o", path, source_file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return path


def check(*arguments, program=MANY, options=("--tool", "racecheck")):
    done = Checked([build(program), *map(str, arguments)], options)
    assert not done.wrong, done.wrong
    return done


def grown_mib(*arguments):
    done = check(*arguments)
    assert not done.findings, done.findings
    return int(done.out) / 1024


def launches_that_are_waited_for_leave_nothing_behind():
    if SANITIZED:
        raise Skip("sanitizers keep what is freed")
    for streams in 1, 2:
        grown = grown_mib(200, streams)  # which have left 570 MiB when all was kept
        assert grown < 64, f"{grown} MiB more behind 200 launches in {streams} streams"


def a_graph_of_many_branches_is_in_proportion():
    if SANITIZED:
        raise Skip("sanitizers keep what is freed")
    done = check(8000, program=BRANCHES)  # which took 525 MiB when each branch remembered all the others
    assert not done.findings and int(done.out) < 150 << 10, (done.findings, done.out)
    (race,) = check(3000, "race", program=BRANCHES).findings
    assert race["code"] == "data-race" and race["cuda_line"] == lines_of(BRANCHES)["writes"], race


def races_behind_many_launches_are_found():
    for race, lines in ("streams", ("writes", "reads")), ("host", ("writes", "host")):
        if race == "host" and not SEES_HOST:
            continue
        for launches in 2, 200:
            found = [f for f in check(launches, 2, race).findings if f["code"] == "data-race"]
            at = sorted(f.get("cuda_line") or 0 for f in found)
            assert at == sorted(LINES[line] for line in lines), (race, launches, found)


def texts(done, code):
    return [f["text"] for f in done.findings if f["code"] == code]


def racecheck_says_that_it_stops_at_its_limit_and_goes_on_when_it_can():
    """What two launches leave depends on how far they run beside each other: some sizes are too little for the copies before them, some
    for the launches, others enough."""
    limited = lambda size, *arguments: check(*arguments, options=("--tool", "racecheck", "--shadow-memory", size))
    said = {size: texts(limited(f"{size}K", 2, 2, "streams"), "not-watched") for size in (256, 512, 768, 1024, 1536, 2048, 4096)}
    assert said[256] and all(len(found) < 2 for found in said.values()), said
    for size, text in [(size, text) for size, found in said.items() for text in found]:
        limit = f"{size // 1024} MiB" if size % 1024 == 0 else f"{size} KiB"
        where = r"a copy or a fill|launch \d+, of kernel `(update|writes|reads)`"
        assert re.search(rf"^racecheck stopped watching memory in ({where}), until .*limit, {limit}$", text), text
    assert any("of kernel" in text for found in said.values() for text in found), said
    done = limited("12M", 40, 2, "streams")  # enough for what two launches leave, not for what forty do
    assert texts(done, "data-race") and not texts(done, "not-watched"), done.findings


def what_can_no_longer_race_is_given_back_though_the_program_never_waits_for_all():
    lines = lines_of(PAST)
    cases = (("launches", 100, ("early", "reads")), ("waits", 100, ("early", "reads")), ("one", 1200, ("last", "other")),
             ("shared", 20000, ("shared_last", "shared_other")), ("locks", 1500, ("locked", "unlocked")))
    for race, (case, rounds, racing) in some(len(cases), [(("race",), c) for c in cases] + [((), c) for c in cases]):
        done = check(case, rounds, *race, program=PAST, options=("--tool", "racecheck", "--shadow-memory", "8M"))
        assert done.out == "ok\n" and not texts(done, "not-watched"), (case, race, done.out, done.findings)
        found = {f["cuda_line"] for f in done.findings if "cuda_line" in f}
        assert found == ({lines[line] for line in racing} if race else set()), (case, race, done.findings)


def initcheck_says_what_it_takes_for_written_at_its_limit():
    done = check(program=PARTLY, options=("--tool", "initcheck"))
    assert not texts(done, "not-watched") and [f["count"] for f in done.findings] == [2], done.findings
    done = check(program=PARTLY, options=("--tool", "initcheck", "--shadow-memory", "64K"))
    assert [f["count"] for f in done.findings if f["code"] == "uninitialised-read"] in ([], [1]), done.findings
    (text,) = texts(done, "not-watched")
    assert re.search(r"^initcheck no longer follows \d+ bytes of memory, and treats it as initialised, from launch 1, of kernel `writes`, on "
                     r"\(first byte \d+ of a buffer of 4194304 bytes.*\): the checker's records have reached their limit, 64 KiB$", text), text


def kernels_of_ptx_files_have_the_same_limit():
    cuda = os.path.join(source, "examples", "race", "sum.cu")
    ptx = os.path.join(folder.name, "sum.ptx")
    done = subprocess.run([heddle, "cc", "-ptx", "-o", ptx, cuda], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    status, out, err = run("check", "--shadow-memory", "4K", ptx, "--grid", 1, "--block", 128, "s32[128]=ones", "s32[1]=zeros", "--json")
    assert "racecheck stopped watching memory in launch 1" in out + err, (out, err)


main(globals())
