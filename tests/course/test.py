"""The programs of the course print what stands beside them, and so they did on an H200. Built by `heddle cc`, with every
engine; by nvcc, too, where there is one, with `make check-all`. Lines that begin with "time:" differ from run to run.
What their first lines say of `heddle explain`, it says of them, too."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
import explained  # noqa: E402

source, heddle = os.environ["HEDDLE_SOURCE"], os.path.join(os.environ["HEDDLE_BUILD"], "heddle")
if os.path.exists(os.path.join(os.environ["HEDDLE_BUILD"], "bin", "heddle")):
    heddle = os.path.join(os.environ["HEDDLE_BUILD"], "bin", "heddle")
programs = sorted(glob.glob(os.path.join(source, "examples", "course", "[0-9]*.cu")))
folder = tempfile.TemporaryDirectory()
count = failed = 0


def result(ok, name, detail=""):
    global count, failed
    count += 1
    failed += not ok
    for line in "" if ok else detail.splitlines()[:20]:
        print("#", line)
    print(f"{'' if ok else 'not '}ok {count} - {name}", flush=True)


def shown(command, engine):
    env = dict(os.environ, HEDDLE_ENGINE=engine)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, env=env)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("time:")]
    return done.returncode, "\n".join(lines) + "\n", done.stderr


def build(command, name, path):
    done = subprocess.run([*command, path, "-o", os.path.join(folder.name, name)], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def try_one(path, how, compiler, run, engines):
    """Builds a program, and runs it by each engine. (With -lineinfo, so that one compilation serves explain_one(), too.)"""
    name = os.path.basename(path)[:-3]
    with open(path[:-3] + ".txt") as f:
        expected = f.read()
    built, errors = build(compiler, f"{name}-{how}", path)
    if not built:
        return result(False, f"{name}, built by {how}", errors)
    for engine in engines:
        status, out, err = shown([*run, os.path.join(folder.name, f"{name}-{how}")], engine)
        result(status == 0 and out == expected, f"{name}, built by {how}, {engine}", f"status {status}\n{out}{err}")


CARDS = {"Warps", "Divergence", "Source", "Occupancy", "Roofline", "What to change", "Atomics: contention", "Estimated time"}  # of the page


def looks(path):
    """What the program's first lines tell its reader to do: [(command, [words that it says])]."""
    with open(path) as f:
        text = " ".join(re.findall(r"^// ?(.*)", f.read().split("#include")[0], re.M))
    parts = re.split(r"`(heddle explain [^`]*)`", text)
    return [(command, re.findall(r'"([^"]*)"', words)) for command, words in zip(parts[1::2], parts[2::2])]


def explain_one(path):
    """Runs what the program's reader is told to run, on what try_one() has built."""
    name = os.path.basename(path)[:-3]
    os.link(os.path.join(folder.name, f"{name}-heddle cc"), os.path.join(folder.name, name))
    for command, words in looks(path):
        done = subprocess.run([heddle, *command.split()[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, cwd=folder.name)
        with open(os.path.join(folder.name, "explain.html")) as f:
            page = f.read()
        views, figures = re.search(r'id="data">.*?</script>(.*)', page, re.S)[1], explained.data_of(page)
        del figures["sources"]  # which have these words themselves
        missing = [w for w in words if w not in (views if w in CARDS else done.stderr + json.dumps(figures))]
        result(done.returncode == 0 and not missing, f"{name}: {command}", f"status {done.returncode}; not said: {missing}\n{done.stderr}")


later = sorted(glob.glob(os.path.join(source, "examples", "memory-model", "[0-9]*.cu")))


def is_read(path):
    """Has the page of its half a row for the program: a link, a question with its answer, and, in the first half, where to look?"""
    name, first = os.path.basename(path)[:-3], path in programs
    with open(os.path.join(source, "examples", "" if first else "memory-model", "README.md")) as f:
        row = re.search(rf"^\| \[{name}\]\([^)]*{name}\.cu\) \|(.*)\|$", f.read(), re.M)
    cells = [cell.strip() for cell in row[1].split("|")] if row else []
    return bool(cells) and "?" in cells[0] and bool(cells[1]) and (not first or bool(cells[0].split("?")[-1].strip(" .")))


for program in programs:
    try_one(program, "heddle cc", [heddle, "cc", "-lineinfo"], [], ["auto", "interp", "jit"])
if os.environ.get("HEDDLE_TESTS") == "all" and not shutil.which("nvcc"):
    result(True, "the same built by nvcc # SKIP there is no nvcc")
elif os.environ.get("HEDDLE_TESTS") == "all":
    for program in programs:
        try_one(program, "nvcc", ["nvcc", "-arch=sm_80"], [heddle, "run"], ["auto"])
elif shutil.which("nvcc"):
    print("# check-all adds: the same built by nvcc")
asking = [program for program in programs if looks(program)]
for program in asking:
    explain_one(program)
result(asking == programs, "programs of the course say what heddle explain shows of them")
# Both halves of the course: each program has a row with its question and its answer; the first half's, the page of heddle explain, too.
unread = [row for row in programs + later if not is_read(row)]
result(not unread and len(later) >= 13, "each program is in the reading order, with its question and its answer", "\n".join(unread))
result(len(programs) >= 12, "the course is there")
print(f"1..{count}")
sys.exit(failed > 0)
