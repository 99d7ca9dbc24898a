"""heddle check: races between launches, copies, fills and the host, by what CUDA says orders them."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, heddle, main, run, source

folder = tempfile.TemporaryDirectory()
os.environ["HEDDLE_CACHE"] = "off"
PROGRAM = os.path.join(source, "tests", "check_streams", "order.cu")
with open(PROGRAM) as f:
    text = f.read()
LINES = {m: n for n, line in enumerate(text.splitlines(), 1) for m in re.findall(r"// @(\w+)", line)}
LIBDW = os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "libheddle-symbols.so"))

# The pairs that race; cases that are not here are clean.
RACES = {
    "streams_alone": {("write", "read")},
    "a_dependent_launch_does_not_wait": {("write", "dependent")},
    "a_dependent_launch_waits_too_late": {("write", "dependent")},
    "a_thread_waits_and_tells_nobody": {("write", "dependent")},
    "the_last_of_several_does_not_wait": {("write", "dependent")},
    "an_event_recorded_too_early": {("write", "read")},
    "the_default_stream_beside_one_that_does_not_wait": {("write", "read")},
    "a_fill_is_not_waited_for": {("fill", "read")},
    "a_copy_beside_a_launch": {("write", "copy")},
    "a_copy_to_constants_beside_a_launch": {("read_constant", "copy_to_constants")},
    "a_read_only_load_beside_a_write": {("read_only", "write")},
    "memory_used_beside_its_allocation": {("write", "allocation")},
    "memory_filled_beside_its_allocation": {("early_fill", "allocation")},
    "memory_used_behind_an_event_before_its_allocation": {("write", "allocation")},
    "a_free_beside_a_launch": {("write", "free")},
    "branches_of_a_graph": {("write", "read")},
    "the_host_reads_what_is_being_written": {("write", "host_reads")},
    "the_host_writes_what_is_being_read": {("read", "host_writes")},
    "the_host_copies_what_is_being_copied": {("copy_unwaited", "host_copies")},
    "the_system_writes_what_is_being_copied": {("copy_beside_system", "system_writes")},
    "the_host_function_writes_what_another_stream_reads": {("read", "function_writes")},
    "the_host_function_writes_pinned_memory_that_another_stream_reads": {("read", "function_writes")},
    "the_host_function_of_a_graph_beside_a_kernel": {("read", "function_writes")},
    "a_flag_behind_a_fence_of_the_device": {("publish_here", "after_flag")},
    "a_managed_variable": {("count", "reads_variable")},
}
HOST = {"the_host_", "the_system_", "a_flag_", "a_managed_"}


def build(name, *compiler, source=PROGRAM):
    program = os.path.join(folder.name, name)
    if not os.path.exists(program):
        done = subprocess.run([*compiler, "-g", "-lineinfo", "-o", program, source], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return program


def pairs(program, case):
    """The lines of the races that are found, as sorted pairs, and all that is found."""
    save = os.path.join(folder.name, "findings.json")
    status, out, err = run("check", "--save", save, program, case)
    with open(save) as f:
        found = json.load(f)["findings"]
    assert status == (1 if found else 0), (case, status, out, err)
    races = [i for i, d in enumerate(found) if (d["severity"], d["code"]) == ("error", "data-race")]
    return {tuple(sorted(d.get("cuda_line") for d in found[i:i + 2])) for i in races}, found


def wanted_of(case):
    return {tuple(sorted((LINES[x], LINES[y]))) for x, y in RACES.get(case, ())}


def compare(program, cases):
    for case in cases:
        races, found = pairs(program, case)
        assert races == wanted_of(case), f"{case}: {sorted(races)} and not {sorted(wanted_of(case))}"
        assert all(d["code"] == "data-race" for d in found), (case, found)


def cases(host):
    names = re.findall(r"^CASE\((\w+)\)", text, re.M)
    return [n for n in names if any(n.startswith(h) for h in HOST) == host and n not in ("a_managed_variable", "a_free_beside_a_launch")]


def work_in_streams_is_ordered_as_cuda_says():
    if not LIBDW:
        raise Skip("lines of the host need libdw")
    compare(build("heddle", heddle, "cc", "-arch=sm_90"), cases(False))


def what_is_freed_beside_a_launch_races_or_is_gone():
    """Which of the two comes first is up to the run."""
    if not LIBDW:
        raise Skip("lines of the host need libdw")
    races, found = pairs(build("heddle", heddle, "cc", "-arch=sm_90"), "a_free_beside_a_launch")
    gone = [d["cuda_line"] for d in found if d["code"] == "illegal-address" and "that was freed at" in d["text"]]
    assert races == wanted_of("a_free_beside_a_launch") or gone == [LINES["write"]], found


def the_hosts_accesses_race_with_what_it_has_not_waited_for():
    if not LIBDW or os.uname().machine != "x86_64":
        raise Skip("the host's accesses are seen on x86-64, their lines with libdw")
    compare(build("heddle", heddle, "cc", "-arch=sm_90"), cases(True))


def work_of_two_devices_is_ordered_as_cuda_says():
    program = build("devices", heddle, "cc", "-arch=sm_90", source=os.path.join(source, "tests", "check_streams", "devices.cu"))
    status, out, err = run("check", "--devices", "2", program, "ordered")
    assert status == 0, out + err
    status, out, err = run("check", "--devices", "2", program, "races")
    assert status == 1 and "[data-race]" in err, out + err
    with_race = {int(n) for line in err.splitlines() if "error: " in line for n in re.findall(r"<(?:\(int\))?(\d+)>", line)}
    assert with_race == set(range(20, 27)), err


def nvccs_programs_are_seen_alike():
    if not shutil.which("nvcc"):
        raise Skip("there is no nvcc")
    program = build("nvcc", "nvcc", "-arch=compute_75")
    compare(program, ["a_managed_variable", "the_host_reads_what_is_being_written", "the_host_waits",
                      "branches_of_a_graph"])


main(globals())
