"""Where findings are: at the instruction that the thread has run, at the user's line, with what is inlined there."""
import json
import lzma
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Folder, main, run, source

here = os.path.join(source, "tests", "places")
folder = Folder()
written = folder.write


def unpacked(name):
    """The text of a file that is kept compressed."""
    with lzma.open(os.path.join(here, name + ".xz"), "rt") as f:
        return f.read()


def check(*args):
    status, out, err = run("check", *args, "--json", cwd=folder.name)
    return json.loads(out)["findings"]


def chain(finding):
    return [f"{os.path.basename(line['file'])}:{line['line']}" for line in finding["chain"]]


def shown(finding):
    return f"{os.path.basename(finding['cuda_file'])}:{finding['cuda_line']}"


# ---- instructions ----

def a_race_is_at_the_instructions_that_the_threads_have_run():
    deque = written("deque.ptx", unpacked("deque.ptx"))
    words = ["0"] * 67
    words[0], words[32], words[65], words[66] = "1", "3", "11", "12"
    race, other, *_ = check(deque, "deque_3", "--grid", 2, "--block", 1, "--policy", "random:2", "u32[]=" + ",".join(words), "u32[4]=zeros")
    # block 0 reads at 1107 and 1193; line 1005, which has the same line of the header, only block 1 runs
    assert (race["line"], other["line"]) == (1107, 1017), (race, other)
    assert shown(race) == "deque.cu:45" and shown(other) == "deque.cu:67", (race, other)
    assert chain(race)[0] == "deque.cu:45" and chain(race)[-1] == "cuda_ptx_generated.h:303", chain(race)


def every_pair_that_is_told_can_race():
    """An independent explorer has found all pairs of instructions that can race in any execution of deque_3."""
    can_race = {(a, b) for a in (1017, 1054) for b in (1107, 1157, 1193, 1223)}
    deque, told = written("deque.ptx", unpacked("deque.ptx")), set()
    words = ["0"] * 67
    words[0], words[32], words[65], words[66] = "1", "3", "11", "12"
    for seed in range(1, 7):
        found = check(deque, "deque_3", "--grid", 2, "--block", 1, "--policy", f"random:{seed}", "u32[]=" + ",".join(words), "u32[4]=zeros")
        for f, other in zip(found, found[1:]):
            if f["code"] == "data-race" and f["severity"] == "error":
                told.add(tuple(sorted((f["line"], other["line"]))))
            elif "these lines race" in f["text"]:
                told |= {tuple(sorted(map(int, pair))) for pair in re.findall(r"(\d+) and (\d+)", f["text"])}
    assert told and told <= can_race, told - can_race


def several_runs_of_a_launch_are_told_together():
    deque = written("deque.ptx", unpacked("deque.ptx"))
    words = ["0"] * 67
    words[0], words[32], words[65], words[66] = "1", "3", "11", "12"
    arguments = ["--grid", 2, "--block", 1, "u32[]=" + ",".join(words), "u32[4]=zeros"]
    status, out, err = run("check", "--policy", "serial", "--runs", 4, "--seed", 2, deque, "deque_3", *arguments, cwd=folder.name)
    assert status == 1 and "deque.cu:45: error: " in err and "check: 1 error, 0 warnings in 4 runs" in err, err
    again = re.search("again by: (heddle check --policy random:[0-9]+ .*)", err).group(1)
    assert "--runs" not in again and "--seed" not in again, again
    status, out, err = run("check", deque, "deque_0", *arguments, "--runs=3", cwd=folder.name)
    assert status == 0 and err == "check: no errors in 3 runs\n", (status, err)
    status, out, err = run("check", deque, "deque_3", *arguments, "--runs", 3, "--json", cwd=folder.name)
    assert status == 1 and json.loads(out)["runs"] == 3 and json.loads(out)["findings"][0]["code"] == "data-race", out
    status, out, err = run("check", deque, "deque_3", *arguments[:-1], "--runs", 3, cwd=folder.name)
    assert status == 2 and err.count("deque_3 takes 2 arguments, not 1") == 1, (status, err)
    status, out, err = run("check", deque, "deque_3", *arguments, "--runs", 20000, cwd=folder.name)
    assert status == 2 and "at most 10000" in err, (status, err)


def a_copy_of_a_line_that_is_right_is_not_taken_for_the_one_that_is_wrong():
    race, *notes = check(os.path.join(here, "copies.ptx"), "copies", "--grid", 2, "--block", 64, "u32[64]")
    assert race["code"] == "data-race" and "block (1,0,0)" in race["text"] and race["line"] == 23, race
    assert all(n["severity"] == "note" for n in notes), notes


# ---- lines ----

def the_line_is_the_users_with_the_inlined_ones_beneath():
    ptx = os.path.join(here, "chains.ptx")
    found, = check(ptx, "in_library", "--grid", 1, "--block", 1, "u32[1]")
    assert shown(found) == "app.cu:10" and chain(found) == ["app.cu:10", "helpers.cuh:20", "block_load.cuh:30", "base.h:40"], found
    assert found["inlined_file"].endswith("base.h") and found["inlined_line"] == 40, found
    found, = check(ptx, "of_library", "--grid", 1, "--block", 1, "u32[1]")
    assert shown(found) == "app.cu:15" and chain(found) == ["block_load.cuh:50", "app.cu:15"], found
    found, = check(ptx, "library_alone", "--grid", 1, "--block", 1, "u32[1]")
    assert shown(found) == "block_load.cuh:60", found
    found, = check(ptx, "call_alone", "--grid", 1, "--block", 1, "u32[1]")
    assert shown(found) == "app.cu:12" and chain(found) == ["app.cu:12", "base.h:70"], found


def a_load_that_is_moved_out_of_a_loop_has_the_line_that_uses_it():
    """LLVM gives it line 0; of two loads, each has its own user, the second through an address."""
    written("moved.ptx", """.version 8.0
.target sm_80
.address_size 64
.file 1 "moved.cu"
.visible .entry k(.param .u64 p, .param .u64 of)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .loc 1 3 0
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [of];
    .loc 1 0 9
    ld.global.u32 %r1, [%rd1];
    ld.global.u64 %rd3, [%rd2];
    ld.global.u32 %r4, [%rd1+4];
    .loc 1 7 5
    add.u32 %r2, %r1, 1;
    .loc 1 8 5
    st.global.u32 [%rd3], %r2;
    ret;
}
""")
    found = check("moved.ptx", "k", "--grid", 1, "--block", 1, 0, 0)
    lines = {f["line"]: f.get("cuda_line") for f in found if f["code"] == "illegal-address" and f["line"] < 19}
    assert lines == {13: 7, 14: 8, 15: None}, found


def a_file_may_have_any_name():
    """Compilers write it with backslashes, and what is not ASCII in octal digits."""
    name, text = 'a"b\\c é%.cu', kernel_of('a\\"b\\\\c \\303\\251%.cu')
    written(name, "the only line\n")
    (finding,) = check(written("named.ptx", text), "--grid", "1", "--block", "1")
    assert shown(finding) == name + ":1", finding
    status, out, err = run("check", "named.ptx", "--grid", "1", "--block", "1", cwd=folder.name)
    assert status == 1 and err.startswith(name + ":1: error:") and "the only line" in err, err
    status, out, err = run("ptx", "--print", "named.ptx", cwd=folder.name)
    assert status == 0 and r'"a\"b\\c \303\251%.cu"' in out, out


def kernel_of(name):
    """A store to address 0 in a file of this name."""
    return f"""//
.version 8.0
.target sm_90
.address_size 64
.file 1 "{name}"
.visible .entry k()
{{
	.reg .b64 %p;
	mov.b64 %p, 0;
	.loc 1 1 1
	st.global.u32 [%p], 1;
	ret;
}}
"""


def the_text_has_the_chain():
    status, out, err = run("check", os.path.join(here, "chains.ptx"), "in_library", "--grid", 1, "--block", 1, "u32[1]", cwd=folder.name)
    text = out + err
    assert re.search(r"app\.cu:10: error: .*\n  inlined from helpers\.cuh:20\n  inlined from /usr/local/cuda/include/cub/block/block_load\.cuh:30\n"
                     r"  inlined from /opt/project/.*base\.h:40\n", text), text
    status, out, err = run("check", os.path.join(here, "chains.ptx"), "of_library", "--grid", 1, "--block", 1, "u32[1]", cwd=folder.name)
    assert re.search(r"app\.cu:15: error: .*\n  inlined in /usr/local/.*block_load\.cuh:50\n", out + err), out + err


def calls_are_told_apart_where_their_lines_are_not_repeated():
    """calls.cu's functions have the line of the call as a template's argument, so that the names of what is inlined say whose each
    instruction is; without the names the .locs alone have to tell."""
    text = unpacked("calls.ptx")
    lines = text.split("\n")
    names, label = {}, None
    for line in lines:
        if found := re.match(r"(\$L__info_string\d+):", line):
            label = found.group(1)
            names[label] = b""
        elif label and line.startswith(".b8"):
            names[label] += bytes(int(x) & 255 for x in re.findall(r"-?\d+", line[3:]))
    blind = written("blind.ptx", re.sub(r"function_name \S+,", "function_name $L__info_string0,", text))
    seen = 0
    for kernel in "ab":
        saved = os.path.join(folder.name, "explained.json")
        status, out, err = run("explain", blind, f"_Z1{kernel}PiS_i", "--grid", 1, "--block", 32, "s32[4096]=ones", "s32[4096]=ones", 4,
                               "--json", saved, "-o", os.path.join(folder.name, "page.html"))
        assert status == 0, err
        with open(saved) as f:
            explained = json.load(f)
        for i in instructions(explained):
            if "volatile" not in lines[i["ptx_line"] - 1]:
                continue
            at = next(k for k in range(i["ptx_line"] - 1, 0, -1) if lines[k].strip().startswith(".loc"))
            name = names[re.search(r"function_name (\S+),", lines[at]).group(1)].split(b"\0")[0].decode()
            assert i["line"] == int(re.search(r"ILi(\d+)E", name).group(1)), (kernel, i["ptx_line"], name, i)
            seen += 1
    assert seen > 80, seen


def instructions(o):
    if isinstance(o, dict):
        if "ptx_line" in o:
            yield o
        o = list(o.values())
    for value in o if isinstance(o, list) else []:
        yield from instructions(value)


main(globals())
