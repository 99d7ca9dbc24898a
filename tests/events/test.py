"""Files of events (heddle check --record-events, --replay-events): findings from a few lines of text without a kernel; what is recorded replays
to the same; what is damaged is an error with its place, and never a crash. Whole programs: tests/races."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Folder, main, run, some, source

folder = Folder()
path, write = folder.path, folder.write


# ---- events by hand ----

# A kernel of one block of two warps, with an array in shared memory: what its sites are, one line each, from number 0 on.
STORE = "kind=store writes=1 accesses=1 space=shared bytes=4 elements=1"
LOAD = "kind=load reads=1 accesses=1 space=shared bytes=4 elements=1"
ATOM = "kind=atom reads=1 writes=1 accesses=1 space=global bytes=4 elements=1 memory_order=relaxed memory_scope={} type=1"
BARRIER = "kind=barrier aligned=1 whole=1"


def events(sites, *told, blocks=1, tools=0xf):
    head = ["heddle-events 5", f"checker tools={tools}", f'kernel name="k" sites={len(sites)} shared_bytes=256', 'variable name="tile" bytes=256',
            "file name=\"k.cu\""]
    for i, site in enumerate(sites):
        head += [f"line id={i} files=0 lines={10 + i}", f"site number={i} instruction={i + 1} line={i + 1} {site}"]
    head += ["host task=1 timeline_after=1 does=1 name=\"k\"", "host kind=begin task=1", "launch",
             f"grid number=1 task=1 grid_x={blocks} grid_y=1 grid_z=1 block_x=64 block_y=1 block_z=1 cluster=1 shared_bytes=256"]
    head += [f"block id={b} index={b} x={b} shared={0x700000 + 0x1000 * b}" for b in range(blocks)]
    tail = [f"end id={b}" for b in range(blocks)]
    return "\n".join([*head, *told, *tail, "host kind=launched", "host kind=done task=1", "host kind=finish", "done", ""])


def access(site, warp, base, lanes="0xffffffff", block=0, shared=True, **more):
    fields = " ".join(f"{name}={value}" for name, value in more.items())
    where = f"space=shared owner={block + 1}" if shared else ""
    return f"access block={block} warp={warp} site={site} {where} pattern=linear lanes={lanes} bytes=4 base={base} {fields}"


def store(site, warp, base, lanes="0xffffffff", **more):
    return access(site, warp, base, lanes, writes=1, **more) + f"\nperformed wrote={lanes}"


def load(site, warp, base, **more):
    return access(site, warp, base, reads=1, **more)


def opens(*, waited="0xffffffff,0xffffffff", parties=()):
    warps, lanes, at = zip(*parties) if parties else ((), (), ())
    columns = {"block": ["0"] * len(warps), "warp": warps, "lanes": lanes, "site": at, "call": ["0"] * len(warps), "alone": ["1"] * len(warps)}
    lists = " ".join(f"party_{name}={','.join(map(str, of))}" for name, of in columns.items() if of)
    return f"sync kind=open block=0 waited={waited} arrived=0,0 {lists}"


def found(text):
    """The findings: code and line of each."""
    status, _, err = run("check", "--replay-events", write("hand.txt", text), "--format", "json")
    said = json.loads(err)
    assert status == bool(said["errors"]), err
    return [(f["code"], f["cuda_line"]) for f in said["findings"] if f["severity"] != "note"]


def two_warps_race_on_shared_memory():
    assert found(events([STORE, LOAD], store(0, 0, 0), load(1, 1, 0), tools=2)) == [("data-race", 10)]


def a_barrier_orders_the_warps():
    assert found(events([STORE, LOAD, BARRIER], store(0, 0, 0), opens(), load(1, 1, 0), tools=2)) == []


def a_barrier_of_one_warp_orders_nothing():
    assert found(events([STORE, LOAD, BARRIER], store(0, 0, 0), opens(waited="0xffffffff,0"), load(1, 1, 0), tools=2)) == [("data-race", 10)]


def a_phase_like_one_before_is_watched_from_where_it_differs():
    """Stores by both warps, loads of what they have stored: twice the same. Then a load comes into the phase of the stores."""
    stores, loads = [store(0, 0, 0), store(0, 1, 128)], [load(1, 0, 128), load(1, 1, 0)]
    phases = [*stores, opens(), *loads, opens()]
    at = "pattern=any lanes=0x3 address={},{}".format
    any_store = store(0, 0, 0, lanes="0x3").replace("pattern=linear lanes=0x3", at(16, 32)).replace("base=0", "")
    sites = [STORE, LOAD, BARRIER]
    assert found(events(sites, *phases, *phases, tools=2)) == []
    assert found(events(sites, *phases, *phases, *stores, loads[0], tools=2)) == [("data-race", 10)]
    assert found(events(sites, *phases, *phases, stores[0], store(0, 1, 0), tools=2)) == [("data-race", 10)]
    assert found(events(sites, *phases, *phases, stores[0], opens(waited="0xffffffff,0"), load(1, 1, 0), tools=2)) == [("data-race", 10)]
    assert found(events(sites, *phases, *phases, *stores, opens(), *loads, store(0, 0, 0), tools=2)) == [("data-race", 10)]
    scattered = [any_store, load(1, 1, 64), opens()]
    assert found(events(sites, *scattered, *scattered, tools=2)) == []
    assert found(events(sites, *scattered, any_store.replace("16,32", "16,64"), load(1, 1, 64), tools=2)) == [("data-race", 10)]


def atomic_operations_race_where_their_scope_is_too_narrow():
    def update(scope):
        one = [access(0, 0, 0x10000000, block=b, shared=False, reads=1, writes=1, strong=1) + "\nperformed wrote=0xffffffff" for b in (0, 1)]
        return found(events([ATOM.format(scope)], *one, blocks=2, tools=2))
    assert update("gpu") == [] and update("cta") == [("data-race", 10)]


def a_task_that_nothing_orders_races_with_a_copy():
    copy = ["host task=2 timeline_after=2 does=2 stream=7", "host kind=range task=2 address=0x10000000 bytes=4 write=1"]
    told = access(0, 0, 0x10000000, shared=False, reads=1)
    assert found(events([LOAD.replace("shared", "global")], told, *copy, tools=2)) == [("data-race", 10)]


def what_nobody_has_written_is_read():
    assert found(events([STORE, LOAD], store(0, 0, 0), load(1, 0, 0), load(1, 1, 128), tools=4)) == [("uninitialised-read", 11)]


def what_nobody_uses_is_no_read():
    text = events([LOAD], load(0, 0, 0), tools=4).split("\n")
    at = sum(line.split(" ")[0] in ("host", "launch", "grid", "block") for line in text[:text.index(load(0, 0, 0))]) + 1
    text.insert(len(text) - 2, f"answer at={at} key={0xffffffff}")
    assert found("\n".join(text)) == []


def lanes_of_a_warp_meet_at_two_barriers():
    parties = [(0, "0xffff", 0), (0, "0xffff0000", 1), (1, "0xffffffff", 0)]
    assert found(events([BARRIER, BARRIER], opens(parties=parties), tools=8)) == [("divergent-barrier", 11)]


def an_access_to_a_copy_that_nobody_has_waited_for():
    sites = [LOAD, "kind=copy mode=1 accesses=1 space=shared bytes=16 elements=1 reads=1 writes=1"]
    assert found(events(sites, load(0, 0, 0), "overtake copy=1 written=1", tools=2)) == []  # the kernel has no copies
    text = events(sites, load(0, 0, 0), "overtake copy=1 written=1", tools=2).replace('name="k" sites', 'name="k" async=1 sites', 1)
    assert found(text) == [("unfinished-copy", 10)]


def a_bulk_copy_to_shared_memory_has_an_mbarrier():
    sites = ["kind=copy mode=5 reads=1 writes=1 signals=1 accesses=1 space=shared bytes=16 elements=1"]
    def said(more):
        text = events(sites, f"issue site=0 lanes=1 bytes=16 to=0 from=0x1000 {more}", tools=2).replace('name="k" sites', 'name="k" async=1 sites', 1)
        return run("check", "--replay-events", write("hand.txt", text))
    status, _, err = said("")
    assert status == 1 and "a bulk copy to shared memory needs an mbarrier" in err, err
    status, _, err = said("signals=1 object=64")
    assert status == 0 and "no errors" in err, err


def the_file_of_the_page_is_a_race():
    with open(os.path.join(source, "docs", "CHECK.md")) as f:
        page = f.read()
    end = page.index("\ndone\n") + 6
    assert found(page[page.rindex("heddle-events 5", 0, end):end]) == [("data-race", 10)]


# ---- files ----

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
    .reg .b64 %a<4>; .reg .b32 %r<6>;
    .shared .align 4 .b8 buf[256];
    ld.param.u64 %a1, [p];
    ld.param.u64 %a2, [q];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, buf;
    add.u32 %r3, %r3, %r2;
    ld.shared.u32 %r5, [%r3];
    st.shared.u32 [%r3], %r1;
    xor.b32 %r4, %r2, 128;
    mov.u32 %r3, buf;
    add.u32 %r3, %r3, %r4;
    ld.shared.u32 %r4, [%r3];
    add.u32 %r4, %r4, %r5;
    cvt.u64.u32 %a3, %r2;
    add.u64 %a2, %a2, %a3;
    ld.global.u32 %r5, [%a2];
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%a1], %r4;
    st.global.u32 [%a1 + 512], %r4;
    st.global.u32 [%a1 + 65536], %r4;
    ret;
}
"""


def record(name):
    args = [write("k.ptx", KERNEL), "--grid", 2, "--block", 64, "u32[64]", "u32[64]=undef", "--record-events", path(name)]
    status, out, err = run("check", *args, "--format", "json")
    assert status == 1 and os.path.exists(path(name)), err
    return json.loads(out)["findings"]


def replay(name):
    status, _, err = run("check", "--replay-events", path(name), "--format", "json")
    assert status == 1, err
    return json.loads(err)["findings"]


def a_recorded_launch_replays_to_the_same_findings():
    said = record("k.events")
    assert len(said) > 5 and any("past the end" in f["text"] or "no allocation" in f["text"] for f in said) and replay("k.events") == said


# Blocks that write where others read, 64 times each.
CONTENDED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b64 %a; .reg .b32 %r<3>; .reg .pred %p;
    ld.param.u64 %a, [p];
    mov.u32 %r1, 64;
AGAIN:
    ld.global.u32 %r2, [%a];
    st.global.u32 [%a+4], %r2;
    add.u64 %a, %a, 4;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra AGAIN;
    ret;
}
"""


def record_contended(name, *more):
    status, out, err = run("check", write("c.ptx", CONTENDED), "--grid", 256, "--block", 64, "u32[65]", "--workers", 4, "--record-events", path(name),
                           "--format", "json", *more)
    assert status == 1, err
    return json.loads(out)["findings"]


def what_several_workers_did_replays_to_the_same_threads_and_counts():
    for _ in range(10):
        assert record_contended("c.events") == replay("c.events")


def a_pair_counts_once_in_each_launch():
    for launches in (1, 3):
        said = [f for f in record_contended("c.events", "--repeat", launches) if f["severity"] == "error"]
        assert len(said) == 2 and all(f["count"] == launches for f in said), said


def text_and_binary_are_one_file():
    said = record("k.txt")
    for a, b in (("k.txt", "b.events"), ("b.events", "c.txt"), ("c.txt", "d.events")):
        assert run("check", "--replay-events", path(a), "--record-events", path(b)) == (0, "", "")
    same = [open(path(a), "rb").read() == open(path(b), "rb").read() for a, b in (("k.txt", "c.txt"), ("b.events", "d.events"))]
    assert same == [True, True] and replay("d.events") == said
    assert os.path.getsize(path("d.events")) * 3 < os.path.getsize(path("k.txt"))


def what_is_damaged_is_an_error_with_its_place():
    def error(name, bytes_):
        status, _, err = run("check", "--replay-events", write(name, bytes_))
        assert status == 1 and err.count("\n") == 1, err
        return err
    record("k.events")
    record("k.txt")
    with open(path("k.events"), "rb") as f:
        whole = f.read()
    with open(path("k.txt")) as f:
        text = f.read()
    assert "record" in error("cut.events", whole[:len(whole) // 2]) and "ends before its last record" in error("end.events", whole[:-1])
    assert "record" in error("bit.events", whole[:200] + bytes([whole[200] ^ 4]) + whole[201:])
    assert "another version" in error("old.events", whole[:8] + b"\x7f" + whole[9:])
    assert "another version" in error("old.txt", text.replace("heddle-events 5", "heddle-events 9", 1))
    assert "not a file of events" in error("k.png", b"\x89PNG\r\n\x1a\n" + bytes(50))
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("access"))
    for wrong, word in (("acces block=0", "`acces` is not a kind"), (lines[at] + " colour=1", "`colour`"), (lines[at] + " x", "NAME=VALUE"),
                        ("access warp=99", "no warp of this number"), ("performed", "`performed` follows an access")):
        said = error("line.txt", "\n".join([*lines[:at], wrong, *lines[at + 1:]]))
        assert f"line.txt:{at + 1}: " in said and word in said, said
    assert "cannot read" in run("check", "--replay-events", path("none"))[2]


def a_full_disk_is_an_error():
    status, _, err = run("check", write("k.ptx", KERNEL), "--grid", 2, "--block", 64, "u32[64]", "u32[64]", "--record-events", "/dev/full")
    assert status == 1 and "cannot write /dev/full: No space left on device" in err, err


def nothing_is_run_and_nothing_else_is_asked():
    for more, word in ((["./app"], "runs nothing"), ):
        status, _, err = run("check", "--replay-events", path("k.events"), *more)
        assert status == 2 and word in err, err


main(globals())
