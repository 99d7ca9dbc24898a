"""heddle debug --dap: an editor's requests, each message as the protocol's schema has it."""
import base64
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import xml.dom.minidom
import zipfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from client import SCHEMA, Client, Gone, check
from tap import Folder, Skip, heddle, in_full, main, need_clang, need_loadable_libraries, some, source

folder = Folder()
here = os.path.dirname(os.path.abspath(__file__))
debug = os.path.join(source, "tests", "debug")
tile_cu = os.path.join(debug, "tile.cu")
TILE = dict(program=os.path.join(debug, "tile.ptx"), kernel="turn", grid="2", block=64,
            args=["f32[128]", "f32[128]=range", 128, "hex:0000003f010000000200000003000000"])
ADDS = dict(program=os.path.join(debug, "faults.ptx"), kernel="adds", grid="2", block="32", args=["s32[1]", "s32[1]"])
program_cu = os.path.join(debug, "program.cu")


def session(breakpoints=(), launch=TILE, **more):
    c = Client(cwd=debug)
    c.set_breakpoints = c.begin(breakpoints, **launch, **more)
    return c


def compiled(name, text=None, *options):
    need_clang()
    need_loadable_libraries()
    path = folder.path(name)
    if not os.path.exists(path):
        of = folder.write(name + ".cu", text) if text else program_cu
        done = subprocess.run([heddle, "cc", *options, of, "-o", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return path


PROGRAM = "program", None, "-lineinfo"


def a_breakpoint_with_a_condition_stops_and_shows_the_stack():
    c = session([(tile_cu, [{"line": 15, "condition": "times == 3 && blockIdx.x == 1"}])])
    assert c.set_breakpoints == [[{"id": 1, "verified": True, "line": 15, "source": {"path": tile_cu}}]], c.set_breakpoints
    s = c.stop()
    t = s["threadId"]
    assert s["reason"] == "breakpoint" and s["hitBreakpointIds"] == [1] and s["allThreadsStopped"], s
    frames = c.frames(t)
    assert [(f["name"], f["line"], f["source"]["path"]) for f in frames] == [("sum", 15, tile_cu), ("turn", 30, tile_cu)], frames
    threads = {x["id"]: x["name"] for x in c.ask("threads")["threads"]}
    assert threads[t] == "block (1,0,0), thread (3,0,0)" and len(threads) >= 32, threads
    assert c.ask("stackTrace", threadId=t, startFrame=1, levels=1)["stackFrames"][0]["name"] == "turn"
    c.ask("disconnect")
    c.close()


def scopes_unfold_into_structs_arrays_registers_shared_memory_and_lanes():
    c = session([(tile_cu, [{"line": 31, "condition": "blockIdx.x == 1 && threadIdx.x == 3"}])])
    t = c.stop()["threadId"]
    scopes = c.scopes(t)
    assert list(scopes) == ["Locals", "Arguments", "Shared memory", "Thread and block", "Registers", "Lanes of the warp"], scopes
    local = c.variables(scopes["Locals"])
    assert local["v"]["value"] == "160" and local["own"]["type"] == "pair" and local["own"]["namedVariables"] == 2, local
    own = c.variables(local["own"]["variablesReference"])
    n = c.variables(own["n"]["variablesReference"])
    assert [v["value"] for v in n.values()] == ["1", "2", "3"] and n["[2]"]["evaluateName"] == "own.n[2]", n
    assert list(c.variables(own["n"]["variablesReference"], start=1, count=1)) == ["[1]"]
    arguments = c.variables(scopes["Arguments"])
    (pointed,) = c.variables(arguments["in"]["variablesReference"]).values()
    assert pointed["name"] == "*in" and pointed["value"] == "0", pointed
    tile = c.variables(scopes["Shared memory"])["tile"]
    assert tile["indexedVariables"] == 64, tile
    assert c.variables(scopes["Thread and block"])["threadIdx"]["value"] == "{x = 3, y = 0, z = 0}"
    assert c.variables(scopes["Registers"])["%r1"]["type"] == "unsigned int"
    lanes = c.variables(c.variables(scopes["Lanes of the warp"])["i"]["variablesReference"])
    assert {k: v["value"] for k, v in lanes.items()} == {f"lane {l}": str(64 + l) for l in range(32)}, lanes
    frames = c.frames(t)
    assert c.ask("evaluate", expression="own.n[1] + i", frameId=frames[0]["id"], context="hover")["result"] == "69"
    assert "there is no `nothing`" in c.fails("evaluate", expression="nothing", frameId=frames[0]["id"], context="watch")
    # what is set is there
    c.ask("setVariable", variablesReference=own["n"]["variablesReference"], name="[1]", value="7 * 11")
    assert c.ask("setExpression", expression="own.x", value="0.25", frameId=frames[0]["id"])["value"] == "0.25"
    assert c.value("own", t) == "{x = 0.25, n = {1, 77, 3}}"
    at = own["n"]["memoryReference"]
    read = base64.b64decode(c.ask("readMemory", memoryReference=at, offset=4, count=8)["data"])
    assert read == (77).to_bytes(4, "little") + (3).to_bytes(4, "little"), read
    assert c.ask("writeMemory", memoryReference=at, offset=4, data=base64.b64encode(b"\1\2").decode())["bytesWritten"] == 2
    assert c.value("own.n[1]", t) == str(0x201)
    unread = c.ask("readMemory", memoryReference="0x10", count=4)
    assert unread["data"] == "" and unread["unreadableBytes"] == 4, unread
    c.ask("disconnect")
    c.close()


def steps_go_forth_and_back_to_the_same_lines():
    c = session([(tile_cu, [{"line": 15, "condition": "times == 3 && blockIdx.x == 1"}])])
    t = c.stop()["threadId"]
    assert c.go("stepOut", t)["reason"] == "step" and c.line(t) == 30
    c.go("next", t)
    assert c.line(t) == 31
    before = c.frames(t)[0]["instructionPointerReference"]
    c.go("stepIn", t, granularity="instruction")
    assert c.frames(t)[0]["instructionPointerReference"] != before
    c.go("stepBack", t, granularity="instruction")
    assert c.frames(t)[0]["instructionPointerReference"] == before
    c.go("stepBack", t)
    assert c.line(t) == 30
    assert c.go("next", t)["reason"] == "breakpoint" and c.line(t) == 15  # on the way
    c.go("stepOut", t)
    back = c.go("reverseContinue", t)
    assert back["reason"] == "breakpoint" and c.line(t) == 15, back
    targets = c.ask("gotoTargets", source={"path": tile_cu}, line=31)["targets"]
    assert [x["label"][:4] for x in targets] == ["back", "forw"], targets
    c.breakpoints(tile_cu)
    c.ask("goto", threadId=t, targetId=targets[1]["id"])
    s = c.stop()
    assert s["reason"] == "goto" and s["threadId"] == t and c.line(t) == 31, s
    start = c.go("reverseContinue", t)
    assert start["reason"] == "entry" and "start of the launch" in start["text"], start
    c.ask("continue", threadId=t)
    assert c.end() == 0 and "turn: 2 blocks of 64 threads" in c.output, c.output


def a_data_breakpoint_stops_at_writes_of_any_thread():
    c = session([(tile_cu, [{"line": 26, "condition": "threadIdx.x == 0 && blockIdx.x == 0"}])])
    t = c.stop()["threadId"]
    frame = c.frames(t)[0]["id"]
    info = c.ask("dataBreakpointInfo", name="tile[60]", frameId=frame)
    assert info["accessTypes"] == ["read", "write", "readWrite"] and "4 bytes" in info["description"], info
    assert c.ask("dataBreakpointInfo", name="i", frameId=frame)["dataId"] is None
    (p,) = c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])["breakpoints"]
    assert p["verified"], p
    (r,) = c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "read"}])["breakpoints"]
    assert r["verified"], r
    (p,) = c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "condition": "tile[60] == 60"}])["breakpoints"]
    s = c.go("continue", t)
    assert s["reason"] == "data breakpoint" and c.value("threadIdx.x", s["threadId"]) == "60", s
    assert "Old value = 0\nNew value = 60\n" in c.output, c.output
    c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "read"}])
    s = c.go("continue", s["threadId"])
    assert s["reason"] == "data breakpoint" and c.line(s["threadId"]) == 28 and "read at tile.cu:28\nValue = 60\n" in c.output, (s, c.output)
    c.ask("disconnect")
    c.close()


def breakpoints_count_hits_and_log():
    c = session([(tile_cu, [{"line": 17, "hitCondition": "% 3"}, {"line": 26, "logMessage": "thread {threadIdx.x} of {n} {nothing}"},
                            {"line": 31, "hitCondition": "often"}])])
    (points,) = c.set_breakpoints
    assert "is not a hit count" in points[2]["message"] and not points[2]["verified"], points
    s = c.stop()
    assert s["hitBreakpointIds"] == [1], s
    hits = c.ask("evaluate", expression="info breakpoints", context="repl")["result"]
    assert "3 hits" in hits, hits
    assert "thread 31 of 128 " in c.output and "<there is no `nothing` here>" in c.output, c.output
    c.breakpoints(tile_cu, {"line": 17, "hitCondition": "% 3"})
    s = c.go("continue", s["threadId"])
    assert "6 hits" in c.ask("evaluate", expression="info breakpoints", context="repl")["result"]
    c.ask("disconnect")
    c.close()


def functions_instructions_and_the_ptx_have_breakpoints():
    c = session()
    s = None
    c = Client(cwd=debug)
    c.ask("initialize", adapterID="heddle")
    c.ask("launch", **TILE)
    c.wait("initialized")
    points = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "sum"}, {"name": "summ"}])["breakpoints"]
    assert points[0]["verified"] and not points[1]["verified"] and "is `sum` meant?" in points[1]["message"], points
    c.ask("configurationDone")
    s = c.stop()
    assert s["reason"] == "function breakpoint" and c.frames(s["threadId"])[0]["name"] == "sum", s
    c.ask("setFunctionBreakpoints", breakpoints=[])
    at = c.frames(s["threadId"])[1]["instructionPointerReference"]
    instructions = c.ask("disassemble", memoryReference=at, instructionOffset=-1, instructionCount=40)["instructions"]
    assert len(instructions) == 40 and any("st.f32" in i["instruction"] for i in instructions), instructions
    store = next(i["address"] for i in instructions if "st.f32" in i["instruction"])
    (p,) = c.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": store}])["breakpoints"]
    assert p["verified"], p
    s = c.go("continue", s["threadId"])
    assert s["reason"] == "instruction breakpoint" and c.frames(s["threadId"])[0]["instructionPointerReference"] == store, s
    text = c.ask("source", sourceReference=1)["content"]
    with open(TILE["program"]) as f:
        assert text.rstrip() == f.read().rstrip()
    c.ask("setInstructionBreakpoints", breakpoints=[])
    (p,) = c.breakpoints(TILE["program"], int(store, 16) + 2)
    assert p["verified"], p
    s = c.go("continue", s["threadId"])
    assert c.frames(s["threadId"])[0]["instructionPointerReference"] == hex(int(store, 16) + 2), s
    c.ask("disconnect")
    c.close()


def the_console_takes_the_terminals_commands():
    c = session([(tile_cu, [{"line": 31, "condition": "blockIdx.x == 1 && threadIdx.x == 3"}])])
    t = c.stop()["threadId"]

    def says(line):
        return c.ask("evaluate", expression=line, context="repl")["result"]

    assert says("print v") == "$1 = 160" and says("v") == "160"
    assert says("i * 2") == "134" and "tile.cu:31" in says("i b")  # `i` is a variable; what is no expression is a command
    says("s")
    assert c.stop()["reason"] == "step" and c.frames(t)[0]["line"] == 32
    says("rs")
    assert c.stop()["threadId"] == t and c.frames(t)[0]["line"] == 31
    assert says("print -w tile[threadIdx.x]").startswith("lane  0:  64  65")
    assert "block (1,0,0), thread (5,0,0)" in says("cuda thread 5")
    moved = c.stop()
    assert moved["threadId"] == t + 2, (moved, t)
    assert says("break sum") == "Breakpoint 2 at tile.cu:15, in sum"
    assert c.wait("breakpoint")["body"]["reason"] == "new"
    says("delete 1")
    gone = c.wait("breakpoint")["body"]
    assert gone["reason"] == "removed" and gone["breakpoint"]["id"] == 1, gone
    assert says("info locals").startswith("own = ")
    says("last-write tile[60]")
    s = c.stop()
    assert s["reason"] == "goto" and "tile[60] was last written by block (1,0,0), thread (60,0,0)" in c.output, s
    says("next")
    assert c.stop()["reason"] == "step"
    assert c.ask("heddle/focus", warp=1, lane=2)["threadId"] == t + 31
    assert c.stop()["threadId"] == t + 31
    assert "there is no such warp" in c.fails("heddle/focus", warp=7)
    names = [x["label"] for x in c.ask("completions", text="reverse-", column=9)["targets"]]
    assert "reverse-step" in names and "print" not in names, names
    says("kill")
    c.wait("terminated")
    c.ask("disconnect")
    c.close()


def what_fails_stops_and_says_why():
    launch = dict(ADDS, kernel="beyond", grid=1, block=64, args=["u32[1000]", 1000000])
    c = session(launch=launch)
    s = c.stop()
    assert s["reason"] == "exception" and "writes 4 bytes at" in s["text"], s
    info = c.ask("exceptionInfo", threadId=s["threadId"])
    assert info["exceptionId"] == "illegal-address" and info["breakMode"] == "always", info
    assert c.value("$r1", s["threadId"]) == "1000000"
    c.go("stepBack", s["threadId"])
    assert "has not stopped for a fault" in c.fails("exceptionInfo", threadId=s["threadId"])
    c.ask("disconnect")
    c.close()
    c = Client(cwd=debug)
    c.ask("initialize", adapterID="heddle")
    c.ask("launch", **launch)
    c.ask("setExceptionBreakpoints", filters=["assert"])
    c.ask("configurationDone")
    assert c.end() == 1 and "illegal-address" in c.output, c.output


def races_are_exceptions_where_launches_are_checked():
    ptx = folder.path("sum.ptx")
    need_clang()
    subprocess.run([heddle, "cc", "-G", "-ptx", os.path.join(source, "examples", "race", "sum.cu"), "-o", ptx], check=True)
    c = session(launch=dict(program=ptx, grid=1, block=256, args=["s32[256]", "s32[1]"], check=True))
    s = c.stop()
    info = c.ask("exceptionInfo", threadId=s["threadId"])
    assert s["reason"] == "exception" and info["exceptionId"] == "data-race", (s, info)
    assert "sum.cu:12: the other access: thread (16,0,0)" in info["details"]["stackTrace"], info
    assert c.line(s["threadId"]) == 12 and c.value("half", s["threadId"]) == "16"
    c.ask("disconnect")
    c.close()


def the_extension_for_vs_code_is_whole():
    vsix = folder.path("heddle.vsix")
    subprocess.run([os.path.join(source, "scripts", "vsix"), vsix], check=True)
    with zipfile.ZipFile(vsix) as z:
        names = set(z.namelist())
        package = json.loads(z.read("extension/package.json"))
        manifest = xml.dom.minidom.parseString(z.read("extension.vsixmanifest"))
        xml.dom.minidom.parseString(z.read("[Content_Types].xml"))
    assert {"extension/" + package["main"].removeprefix("./"), "extension/LICENSE.txt", "extension/README.md"} <= names, names
    for asset in manifest.getElementsByTagName("Asset"):
        assert asset.getAttribute("Path") in names, asset.toxml()
    identity = manifest.getElementsByTagName("Identity")[0]
    assert identity.getAttribute("Version") == package["version"] and identity.getAttribute("Id") == package["name"]
    (debugger,) = package["contributes"]["debuggers"]
    languages = {x["language"] for x in package["contributes"]["breakpoints"]}
    assert debugger["type"] == "heddle" and languages >= {"cuda-cpp", "ptx", "python"}, languages
    # each attribute that it offers is one of a launch
    with open(os.path.join(source, "src", "cli", "dap_program.c")) as f:
        taken = set(re.findall(r'"(\w+)"', f.read()))
    offered = set(debugger["configurationAttributes"]["launch"]["properties"])
    assert offered <= taken, offered - taken
    for snippet in debugger["configurationSnippets"]:
        assert set(snippet["body"]) <= offered | {"type", "request", "name"}, snippet


def a_programs_kernels_stop_and_its_output_is_told():
    c = session([(program_cu, [{"line": 9, "condition": "threadIdx.x == 8 && blockIdx.x == 1"}, 16])], dict(program=compiled(*PROGRAM), args=["77"]))
    (points,) = c.set_breakpoints
    assert not points[0]["verified"] and "kept for a kernel" in points[0]["message"], points
    s = c.stop()
    changed = {e["body"]["breakpoint"]["id"]: e["body"]["breakpoint"]["verified"] for e in c.events if e["event"] == "breakpoint"}
    assert changed[1] and s["hitBreakpointIds"] == [1], (changed, s)
    assert c.value("threadIdx.x + 100 * blockIdx.x", s["threadId"]) == "108"
    none = c.variables(c.scopes(s["threadId"])["Locals"])
    assert "compile it with -G" in none["none"]["value"], none
    s = c.go("continue", s["threadId"])
    assert s["hitBreakpointIds"] == [2] and c.frames(s["threadId"])[0]["name"] == "check", s
    c.breakpoints(program_cu)
    c.ask("continue", threadId=s["threadId"])
    assert c.end() == 0 and "036903690369\nlast 189, cudaSuccess\n" in c.output, c.output
    # without a breakpoint it runs compiled, and its failure says how to stop there
    c = session((), dict(program=compiled(*PROGRAM), args=["6"]))
    assert c.end() == 3 and "Kernel check has failed in compiled code: " in c.output, c.output
    # and without a debugger
    folder_of, name = os.path.split(compiled(*PROGRAM))  # a program of the folder, as editors name it
    c = session([(program_cu, [16])], dict(program=name, cwd=folder_of, noDebug=True))
    assert c.end() == 0, c.output


def breakpoints_can_be_set_while_a_program_runs():
    path = compiled("steady", """#include <cstdio>
#include <unistd.h>
__global__ void tick(int *n)
{
    *n += 1;
}
int main()
{
    int *n;
    cudaMallocManaged(&n, sizeof *n);
    puts("begins");
    for (*n = 0; *n >= 0 && *n < 2000;) {
        tick<<<1, 1>>>(n);
        cudaDeviceSynchronize();
        usleep(5000);
    }
    puts("ends");
}
""", "-G")
    c = session((), dict(program=path, stopOnEntry=True))
    assert c.stop()["reason"] == "entry"
    c.ask("continue", threadId=2)
    assert c.ask("threads")["threads"] == [{"id": 1, "name": "the program"}]
    assert "the program is running" in c.fails("stackTrace", threadId=2)
    (p,) = c.breakpoints(path + ".cu", 5)
    assert not p["verified"], p
    s = c.stop()
    assert s["hitBreakpointIds"] == [p["id"]] and c.line(s["threadId"]) == 5, s
    assert [e["body"]["breakpoint"]["verified"] for e in c.events if e["event"] == "breakpoint"] == [True], c.events
    assert "begins\n" in c.output and "ends" not in c.output
    c.breakpoints(path + ".cu")
    c.ask("continue", threadId=2)
    c.ask("pause", threadId=1)
    s = c.stop()
    assert s["reason"] == "pause", s
    c.go("next", s["threadId"])
    c.ask("setExpression", expression="*n", value="-10", frameId=c.frames(s["threadId"])[0]["id"])
    c.ask("continue", threadId=s["threadId"])
    assert c.end() == 0 and c.output.endswith("ends\n"), c.output


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"  # nobody may have waited for it yet
    except FileNotFoundError:
        return False


def who_leaves_ends_the_program_or_lets_it_go():
    path = compiled("long", """#include <cstdio>
#include <unistd.h>
__global__ void spin(volatile int *at, int n)
{
    for (int i = 0; i < n; i++)
        at[0] = i;
}
int main(int argc, char **argv)
{
    int *at;
    cudaMallocManaged(&at, sizeof *at);
    spin<<<1, 1>>>(at, 100);
    cudaDeviceSynchronize();
    FILE *f = fopen(argv[1], "w");
    fprintf(f, "%d %d\\n", getpid(), *at);
    fclose(f);
    if (argc > 2)
        pause();
}
""", "-G")
    told = folder.path("told")
    c = session([(path + ".cu", [6])], dict(program=path, args=[told]))
    c.stop()
    c.ask("disconnect", terminateDebuggee=False)
    c.close()
    with open(told) as f:
        assert f.read().endswith(" 99\n")
    for leave in "disconnect", "killed", "terminate":
        os.remove(told)
        c = session((), dict(program=path, args=[told, "wait"]))
        while not os.path.exists(told) or not open(told).read().endswith("\n"):
            time.sleep(0.01)
        pid = int(open(told).read().split()[0])
        if leave == "terminate":
            c.ask("terminate")
            assert c.end() == 128 + signal.SIGTERM and "ended by signal 15" in c.output, c.output
        elif leave == "killed":
            c.process.kill()
            c.close()
        else:
            c.ask("disconnect")
            c.close()
        until = time.time() + 30
        while is_running(pid):
            assert time.time() < until, f"{leave}: the program is there still"
            time.sleep(0.01)


def a_program_that_is_killed_or_forks_is_told_to_have_ended():
    path = compiled("forks", """#include <cstdio>
#include <unistd.h>
__global__ void one(int *n)
{
    *n = 1;
}
int main()
{
    int *n;
    cudaMallocManaged(&n, sizeof *n);
    one<<<1, 1>>>(n);
    cudaDeviceSynchronize();
    if (fork() == 0) {
        sleep(20);
        _exit(0);
    }
    puts("the parent ends");
    return 5;
}
""", "-G")
    begun = time.time()
    c = session([(path + ".cu", [5])], dict(program=path))
    s = c.stop()
    c.ask("continue", threadId=s["threadId"])
    assert c.end() == 5 and "the parent ends" in c.output, c.output
    assert time.time() - begun < 15
    c = session([(path + ".cu", [5])], dict(program=path))
    s = c.stop()
    with open(f"/proc/{c.process.pid}/task/{c.process.pid}/children") as f:
        os.kill(int(f.read().split()[0]), signal.SIGKILL)
    assert c.end() == 128 + signal.SIGKILL and "ended by signal 9" in c.output, c.output


def many_blocks_are_no_burden():
    c = session([(os.path.join(debug, "faults.cu"), [{"line": 29, "condition": "blockIdx.x == 9000"}])], dict(ADDS, grid=10000))
    s = c.stop()
    assert s["threadId"] == 2 + 9000 * 32, s
    assert len(c.ask("threads")["threads"]) == 32
    assert "block (9999,0,0) has ended, or not begun" in c.fails("heddle/focus", block=[9999])
    c.ask("disconnect")
    c.close()


def what_is_wrong_is_said():
    def refused(text, **launch):
        c = Client(cwd=debug)
        c.ask("initialize", adapterID="heddle")
        said = c.fails("launch", **launch)
        assert text in said, said
        c.ask("disconnect")
        c.close()

    refused("`program` is missing")
    refused("nothing.ptx", program="nothing.ptx")
    refused("./nothing", program="./nothing")
    refused("nowhere", **dict(TILE, kernel="nowhere"))
    refused("takes 4 arguments", **dict(TILE, args=[]))
    refused("--policy", **dict(TILE, policy="sometimes"))
    refused("there is no option", **dict(TILE, options=["--nothing"]))
    refused("the console `integratedTerminal` is not supported", **dict(TILE, console="integratedTerminal"))
    refused("cannot go to the folder", **dict(TILE, cwd="/nowhere"))
    refused("program", **dict(TILE, program=7))
    c = Client(cwd=debug)
    assert "pathFormat" in c.fails("initialize", adapterID="heddle", pathFormat="uri")
    c.ask("initialize", adapterID="heddle")
    assert "launch" in c.fails("attach")
    assert "does not support the request `modules`" in c.fails("modules")
    assert c.fails("configurationDone") == "nothing has been launched"
    assert c.fails("stackTrace", threadId=1) == "nothing runs yet"
    c.ask("launch", **TILE)
    (p, q) = c.breakpoints(tile_cu, 27, 4000)
    assert p["line"] == 28 or p["verified"], p
    assert not q["verified"] and "kept for a kernel" in q["message"], q
    (p,) = c.breakpoints(tile_cu, {"line": 31, "condition": "nothing > 1"})
    assert not p["verified"] and "the condition is wrong: there is no `nothing` here" in p["message"], p
    assert "neither a path" in c.fails("setBreakpoints", source={})
    c.write(b'{"seq": 1')
    c.write(b'[1, 2]')
    c.ask("threads")
    assert c.output.count("not a request of the Debug Adapter Protocol") == 2, c.output
    c.out.write(b"Content-Length: lots\r\n\r\n{}")
    c.out.flush()
    try:
        while True:
            c.next()
    except Gone:
        pass
    assert b"Content-Length" in c.process.stderr.read()
    assert c.process.wait(30) == 1


ODD = [None, True, -1, 0, 1, 7, 31, 2**31, 2**62, -(2**63), 1e300, "", "é\0", "%s%n", "i", "*p", "tile[99999999999]", "own.n[1]", "(((", "1 / 0", "x/8xw out", "30",
       "next", "reverse-step", "cuda block 9", "last-write tile[3]", "info locals", tile_cu, "turn", "== 2", [], [[[]]], {}, {"a": {}}]


def random_value(rng, schema, depth=0):
    """Mostly as the schema has it."""
    if rng.random() < 0.1 or depth > 5:
        return rng.choice(ODD)
    if "$ref" in schema:
        return random_value(rng, SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]], depth)
    kind = schema.get("type", "object")
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return [random_value(rng, schema.get("items", {}), depth + 1) for _ in range(rng.randrange(3))]
    if kind == "object":
        return {name: random_value(rng, of, depth + 1) for name, of in schema.get("properties", {}).items() if rng.random() < 0.7}
    fits = {"string": str, "integer": int, "number": int, "boolean": bool}
    return rng.choice(schema["enum"] if "enum" in schema else [v for v in ODD if isinstance(v, fits.get(kind, object))])


def random_requests_are_answered_once_each():
    """By messages that are as the schema has them, and none of them ends the server."""
    with open(os.path.join(source, "src", "cli", "dap_requests.def")) as f:
        names = sorted(set(re.findall(r'^DAP_REQUEST\("(\w+)"', f.read(), re.M)) - {"initialize", "launch", "attach", "disconnect", "terminate", "cancel"})
    for seed in some(1, range(100)):
        rng = random.Random(seed)
        c = session([(tile_cu, [31])])
        thread = c.stop()["threadId"]
        frame = c.frames(thread)[0]["id"]
        for seq in range(1001, 1101):
            name = rng.choice(names)
            arguments = random_value(rng, SCHEMA["definitions"].get(name[0].upper() + name[1:] + "Arguments", {}))
            known = {"threadId": thread, "frameId": frame, "variablesReference": rng.randrange(1, 40)}
            if isinstance(arguments, dict):
                arguments.update({key: value for key, value in known.items() if key in arguments and rng.random() < 0.7})
            c.write(json.dumps({"seq": seq, "type": "request", "command": name, "arguments": arguments}).encode())
            assert c.response(seq)["command"] == name, (seed, seq)
        c.ask("disconnect")
        c.close()
        assert c.process.returncode == 0, (seed, c.process.returncode)
        assert not [e for e in c.events if e["type"] == "response"], seed


def what_waits_can_be_cancelled():
    c = session([(tile_cu, [31])])
    c.stop()
    requests = [{"seq": 1001, "type": "request", "command": "threads"}, {"seq": 1002, "type": "request", "command": "evaluate", "arguments": {"expression": "1 + 1"}},
                {"seq": 1003, "type": "request", "command": "cancel", "arguments": {"requestId": 1002}}]
    texts = [json.dumps(r).encode() for r in requests]
    c.out.write(b"".join(b"Content-Length: %d\r\n\r\n" % len(t) + t for t in texts))
    c.out.flush()
    assert c.response(1001)["success"]
    r = c.response(1002)
    assert not r["success"] and r["message"] == "cancelled", r
    assert c.response(1003)["success"]
    c.ask("disconnect")
    c.close()


def editors_are_served_at_a_port():
    with subprocess.Popen([heddle, "debug", "--dap-port", "0"], stdout=subprocess.PIPE, text=True, cwd=debug) as server:
        try:
            port = int(re.search(r"port (\d+) of 127\.0\.0\.1", server.stdout.readline())[1])
            clients = []
            for n in range(2):  # at once
                c = Client(port=port)
                c.begin([(tile_cu, [31])], **TILE)
                clients.append((c, c.stop()))
            for c, s in clients:
                assert c.line(s["threadId"]) == 31
            clients[0][0].close()  # one leaves without a word
            clients[1][0].breakpoints(tile_cu)
            clients[1][0].ask("continue", threadId=clients[1][1]["threadId"])
            assert clients[1][0].end() == 0
        finally:
            server.kill()


def lines_can_begin_at_0():
    c = Client("--policy", "random:3", cwd=debug)
    c.ask("initialize", adapterID="heddle", linesStartAt1=False)
    c.ask("launch", **TILE)
    assert c.breakpoints(tile_cu, 30)[0]["line"] == 30
    c.ask("configurationDone")
    s = c.stop()
    assert c.line(s["threadId"]) == 30
    assert "policy random:3" in c.ask("evaluate", expression="info time", context="repl")["result"]
    c.ask("disconnect")
    c.close()


def need_client(module):
    """A Python that has debugpy: this one, or HEDDLE_DAP_PYTHON."""
    python = os.environ.get("HEDDLE_DAP_PYTHON", sys.executable)
    if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        raise Skip("there is no debugpy: pip install debugpy, and HEDDLE_DAP_PYTHON for a Python that has it")
    return python


@in_full
def a_client_of_others_debugs_a_kernel_of_c_and_one_of_python():
    python = need_client("debugpy.common.messaging")
    path = compiled(*PROGRAM)
    script = folder.write("script.py", f"""import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def do(r):
    assert r == 0, r
context, module, kernel, at, lock = (ctypes.c_void_p() for _ in range(5))
do(cuda.cuInit(0))
do(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
do(cuda.cuCtxSetCurrent(context))
do(cuda.cuModuleLoad(ctypes.byref(module), {os.path.join(debug, "faults.ptx").encode()!r}))
do(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"_Z4addsPiS_"))
for memory in at, lock:
    do(cuda.cuMemAlloc_v2(ctypes.byref(memory), 4))
    do(cuda.cuMemsetD32_v2(memory, 0, 1))
arguments = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.pointer(memory), ctypes.c_void_p) for memory in (at, lock)))
do(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None))
do(cuda.cuCtxSynchronize())
print("done")
""")
    for program, args, file, line, expression, kernel in ((path, ["77"], program_cu, 9, "*(int *)($arg1 + 4 * 7)", "fill"),
                                                          (sys.executable, [script], os.path.join(debug, "faults.cu"), 29, "*(int *)$arg1", "adds")):
        done = subprocess.run([python, os.path.join(here, "others.py"), heddle, program, json.dumps(args), file, str(line), expression],
                              capture_output=True, text=True, timeout=120, cwd=debug)
        assert done.returncode == 0 and re.fullmatch(kernel + r" \d+\ndone\n", done.stdout), (done.stdout, done.stderr)


main(globals())
