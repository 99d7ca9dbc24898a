"""The pages tell the truth: README.md's commands are run and what they print is compared; files and tables are where pages say."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import heddle, main, need_loadable_libraries, source

output = SourceFileLoader("console_output", os.path.join(source, "scripts", "console-output")).load_module()


def comparable(text):
    """Times and addresses differ from run to run, lines of compiled PTX with the headers, precompiled or not."""
    text = re.sub(r"(in PTX \d+ of \w+:)\d+:(\d+:\n *)\d+", r"\1N:\2N", text)
    text = re.sub(r"\(PTX \d+\)", "(PTX N)", text)
    text = re.sub(r"PTX lines \d+ and \d+(, \d+ and \d+)*", "PTX lines N", text)
    text = re.sub(r"\d+(\.\d+)? ms", "N ms", text)
    text = re.sub(r"(in \w+ in \w+\+)0x[0-9a-f]+", r"\1OFFSET", text)
    return re.sub(r"0x[0-9a-f]{8,}", "ADDRESS", text)


folder, shown = None, {}  # where all pages' commands run; what each has printed, as pages share many


def run(command, expected):
    """Checks a command of a page: what it prints, or, of a script, that it succeeds."""
    global folder
    folder = folder or output.Folder(os.path.dirname(heddle), os.environ["HEDDLE_BUILD"])
    if expected is None:
        done = folder.start(command, "-e")
        assert done.returncode == 0, done.stdout
        return
    if command not in shown:
        shown[command] = folder.run(command)
    printed = shown[command]
    assert comparable(printed) == comparable(expected), printed


def text_of(page):
    with open(os.path.join(source, page)) as f:
        return f.read()


def shows_real_output(page):
    found = output.commands(text_of(page))
    for command, expected in found:
        try:
            run(command, expected)
        except AssertionError as e:
            raise AssertionError(f"{page}: {command}\n{e}") from None
    return len(found)


def the_readme_shows_real_output():
    need_loadable_libraries()
    assert shows_real_output("README.md") >= 3


def all_pages_show_real_output():
    need_loadable_libraries()
    assert sum(shows_real_output(page) for page in SHOWN if page not in TESTED_BY and page != "README.md") >= 50


# Why this suite does not run a block of `sh`, which says it behind its language: `sh not run: takes hours`, or `sh not run: tests/install does`.
REASONS = "needs your own files", "needs packages of PyPI", "needs nvcc", "installs packages", "takes hours"
# Pages whose commands another suite runs, or the script that makes them, which takes hours and the network.
TESTED_BY = {"docs/DEBUG.md": "tests/debug/test.py", "docs/MISTAKES.md": "tests/mistakes/test.sh", "docs/PROJECTS.md": "scripts/projects"}
LANGUAGES = "c", "c++", "cmake", "console", "cuda", "elisp", "json", "lua", "pycon", "python", "rust", "sh", "synopsis", "text", "yaml"
COMMAND = re.compile(r"(?:\$ )?(?:\w+=\S+ )*(?:heddle|make|(?:scripts|build|bench|tests|\.)/\S+|pip|python3?|pytest|git|cmake|ctest|mpirun|cc|gcc|nvcc|clang\S*"
                     r"|docker|apt-get|meson|ninja)(?= |$)")


def is_reason(reason, page):
    """Is it a reason, or a suite that knows the page's command?"""
    suite = re.fullmatch(r"(tests/\w+) does", reason)
    return reason in REASONS or suite and any(os.path.basename(page) in text_of(os.path.join(suite[1], name)) for name in ("test.py", "test.sh")
                                              if os.path.exists(os.path.join(source, suite[1], name)))


def unmarked(text, page=""):
    """The lines of a page that are commands, and that no test runs although no mark says why."""
    language, first = None, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            language, reason = (None, "") if language is not None else re.fullmatch(r"([\w+]*)(?: not run: (.*))?", line[3:]).groups()
            if language is not None and language not in LANGUAGES or reason and (language != "sh" or not is_reason(reason, page)):
                yield number, line
            first = True
        elif language is None and re.match("    ", line) and COMMAND.match(line[4:]) or language in ("text", "c") and first and COMMAND.match(line):
            yield number, line
        else:
            first = False


def every_command_of_a_page_is_run_or_says_why_it_is_not():
    for page, by in TESTED_BY.items():
        assert page in SHOWN and os.path.basename(page) in text_of(by) + text_of("scripts/write-mistakes"), (page, by)
    left = [(page, *found) for page in SHOWN if page not in TESTED_BY for found in unmarked(text_of(page), page)]
    assert left == [], "\n".join(f"{page}:{number}: {line}" for page, number, line in left)
    wrong = "    heddle run x\n", "```\nx\n```\n", "```text\nmake x\n```\n", "```sh not run: too lazy\nx\n```\n", "```console not run: takes hours\nx\n```\n"
    assert [len(list(unmarked(text))) for text in wrong] == [1] * 5
    right = "```sh not run: takes hours\nmake x\n```\n", "    a b\n", "```synopsis\nheddle run PROGRAM\n```\n", "```text\nx\nmake\n```\nmake x\n"
    assert [len(list(unmarked(text))) for text in right] == [0] * 4


# A figure that somebody has measured: a time, a rate, a ratio; and what says where it is from.
FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)? ?(?:s|ms|us|ns|seconds|minutes|hours|GB/s|TB/s|GFLOP/s|times)(?![\w-])"
                    r"|(?:half|twice) (?:as|the time)|(?:two|three|five|six|seven|eight|nine|ten|twenty|thirty) times (?:as|the)\b")
SOURCES = {"machine": r"Zen \d|Xeon|EPYC|H200", "CPU level": r"AVX|x86-64-v\d|NEON|H200",
           "command": r"`[^`]*(?:make|scripts/|bench|tests/|heddle|HEDDLE_|time )[^`]*`|```"}


def figures_without_a_source(text):
    """Of a page: each part with figures that names no machine, CPU level or command, itself or in the parts above it."""
    text = re.sub(r"```.*?```", "```", text, flags=re.S)
    heads = []
    for part in re.split(r"^(?=#+ )", text, flags=re.M):
        depth = len(re.match(r"#*", part)[0])
        heads = [head for head in heads if head[0] < depth]
        known = part + "".join(head[1] for head in heads)
        heads.append((depth, part))
        prose = " ".join(re.sub(r"`[^`\n]*`", "", re.sub(r"^    .*$", "", part, flags=re.M)).split())
        missing = [name for name, pattern in SOURCES.items() if not re.search(pattern, known)]
        if missing and FIGURE.search(prose):
            yield part.split("\n")[0], missing, FIGURE.search(prose)[0]


def figures_name_their_command_machine_and_cpu_level():
    left = [(page, *found) for page in PAGES for found in figures_without_a_source(text_of(page))]
    assert left == [], "\n".join(map(str, left))
    assert len(list(figures_without_a_source("# A\n\nIt takes 3 ms (Zen 4, AVX-512, `make bench`).\n\n## B\n\nTwice: 6 ms.\n"))) == 0
    wrong = "# A\n\nIt takes 3.5 ms.\n", "# A\n\nIt is twice as fast (Zen 4, `make bench`).\n", "# A\n\n`make bench`: 3 ns on a Zen 4.\n"
    assert [len(list(figures_without_a_source(text))) for text in wrong] == [1, 1, 1]


def cells_about_peers_cite_their_page():
    page, sources = text_of("docs/PEERS.md").split("## Sources")
    known = dict(re.findall(r"^\| (\w+) \| (.*) \|$", sources, re.M))
    cited = set(re.findall(r"\[([a-z]\d)\]", page))
    assert cited == {mark for mark in known if re.fullmatch(r"[a-z]\d", mark)} and all("](http" in known[mark] for mark in cited), cited ^ set(known)
    cells = [cell.strip() for row in re.findall(r"^\|(.*)\|$", page, re.M) for cell in row.split("|")[2:]]
    left = [cell for cell in cells if not re.search(r"\[[a-z]\d\]$|^-+$|EXPLORE.md|as measured there", cell)]
    heads = "compute-sanitizer", "gpuocelot", "Nsight Compute", "Nsight Systems", "cuda-gdb", "numba's simulator", "Triton's interpreter", "PoCL", "ZLUDA", "GPGPU-Sim", "CuPBoP", "Dartagnan", "GPUMC", "herd7"
    assert set(left) == set(heads), set(left) ^ set(heads)
    ours = [row.split("|")[1].strip() for row in re.findall(r"^\|(.*)\|$", page, re.M)]
    without = [cell for cell in ours if not re.search(r"`[^`]+`|\]\(|^-+$", cell)]
    assert without == ["Heddle"], without  # the head of a table; each other cell of Heddle's has a command or a page


def every_reader_finds_a_page():
    """README is short and leads to each quick start; the index leads to every page, and says what it is."""
    readme, index = text_of("README.md"), text_of("docs/README.md")
    assert readme.count("\n") < 120
    starts = {"start/" + name for name in os.listdir(os.path.join(source, "docs", "start"))}
    assert len(starts) == 7 and all(f"](docs/{name})" in readme for name in starts), starts
    pages = starts | {name for name in os.listdir(os.path.join(source, "docs")) if name.endswith(".md")} - {"README.md"}
    rows = dict(re.findall(r"^\| .*?\]\(([^)]*)\)(.*)\|$", index, re.M))
    left = [page for page in pages if f"]({page})" not in index]
    assert not left and all(row.split("|")[-1].strip() for row in rows.values()), (left, rows)


def links_lead_somewhere():
    n = 0
    for page in *SHOWN, "tests/README.md":
        with open(os.path.join(source, page)) as f:
            text = re.sub(r"```.*?```", "", f.read(), flags=re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", path):
                continue
            to = os.path.normpath(os.path.join(source, os.path.dirname(page), path)) if path else os.path.join(source, page)
            assert os.path.exists(to), (page, link)
            n += 1
            if anchor and to.endswith(".md"):
                with open(to) as f:
                    heads = [re.sub(r"[^\w -]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", f.read(), re.M)]
                assert anchor in heads, f"{page}: {link} leads to no heading of {to}: {heads}"
    assert n > 100


def the_map_names_files_that_exist():
    with open(os.path.join(source, "ARCHITECTURE.md")) as f:
        for name in re.findall(r"`((?:src|scripts|include)/[\w./]+)`", f.read()):
            assert os.path.exists(os.path.join(source, name)), name


PAGES = "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "HACKING.md", *sorted(os.path.relpath(p, source) for p in
                                                                              glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True))
SHOWN = *PAGES, "examples/README.md", "examples/memory-model/README.md"
# Where a page's path may start: folders of src/ are named without it, rooms in tables of their folder by themselves.
ROOTS = "", "src", "src/check", "src/cuda", "src/jit", "src/jit/analysis", "src/jit/emit", "src/cli", "src/libraries", "include/cuda", "include/cuda/heddle", "examples"


def found(name):
    return [p for root in ROOTS for p in glob.glob(os.path.join(source, root, name))]


def pages_name_files_that_exist():
    n = 0
    for page in PAGES:
        with open(os.path.join(source, page)) as f:
            text = re.sub(r"```.*?```", "", f.read(), flags=re.S)
        for name in re.findall(r"(?<![\w./<-])((?:[a-z_]+/)+[\w*]+\.(?:c|h|cu|def|S|py|ptx))(?![\w/]|\.in\b)", text):
            n += 1
            assert found(name) or "NAME" in name, f"{page} names {name}"
    assert n > 100


def the_page_of_programs_adds_up():
    """docs/PROGRAMS.md: the rows of a part are as many as its sums say, and the first table is the sum of the parts."""
    sys.path.insert(0, os.path.join(source, "scripts"))
    import suite
    with open(os.path.join(source, "docs", "PROGRAMS.md")) as f:
        page = f.read()
    table = suite.overview(page)
    assert table in page and table.count("\n") >= 8, table
    counted = 0
    for text in re.split(r"^## ", page, flags=re.M)[1:]:
        rows = [line.strip("|").split(" | ") for line in re.findall(r"^\|.*\|$", text, re.M)]
        head = next((row for row in rows if row[0].strip() == "program"), [])
        for i, way in enumerate(head):
            sums = [row for row in rows if way in [c.strip() for c in row[:2]] and len(row) in (7, 8)]
            shown = sum(row[i].strip() == "passes" for row in rows if len(row) == len(head))
            if sums and shown == sum(int(row[-4]) for row in sums):
                counted += 1
            else:
                assert not sums or any(name in text for name in ("CCCL", "libcu++", "CUDALibrarySamples")), (text[:20], way, shown, sums)
    assert counted > 5, counted


def functions_stand_in_the_files_that_the_map_names():
    with open(os.path.join(source, "ARCHITECTURE.md")) as f:
        named = re.findall(r"`(\w+)`,? (?:in )?[(]?`?([a-z]+/[\w/]+\.[ch])", f.read())
    assert len(named) >= 8
    for name, path in named:
        with open(os.path.join(source, "src", path)) as f:
            assert re.search(rf"\b{name}(_sized)?\b", f.read()), f"{name} is not in {path}"


CODE = [p for top in ("src", "include") for p in glob.glob(os.path.join(source, top, "**"), recursive=True)
        if p.endswith((".c", ".h", ".S", ".in", ".def"))]


def tables_of(text):
    """The tables that a file of this text includes; LIBRARY_DEF is that of each of CUDA's libraries in turn."""
    by_library = [t for kind in ("cu", "n") for t in glob.glob(f"libraries/{kind}*/{kind}*.def", root_dir=os.path.join(source, "src"))]
    return {*re.findall(r'#\s*include ["<]([\w/-]+\.def)[">]', text), *(by_library if re.search(r"#\s*include LIBRARY_DEF\b", text) else ())}


def includes(path, table):
    """Does a file include a table, or is it a script that reads it?"""
    with open(path) as f:
        text = f.read()
    name = os.path.basename(table)
    return name in map(os.path.basename, tables_of(text)) or (path.startswith(os.path.join(source, "scripts")) and name in text)


def the_map_knows_every_table_and_who_includes_it():
    with open(os.path.join(source, "ARCHITECTURE.md")) as f:
        lines = re.findall(r"^\| (`[^|]*\.def`[^|]*) \|[^|]*\| ([^|]*) \|$", f.read(), re.M)
    known, unlisted, users = set(), [], {}
    for path in CODE:
        with open(path) as f:
            for table in tables_of(f.read()):
                users.setdefault(table, set()).add(path)
    for tables, readers in lines:
        names = re.findall(r"`([^`]*)`", tables)
        folder = os.path.dirname(names[0])
        paths = [p for n in names for p in found(n if "/" in n else os.path.join(folder, n))]
        assert len(paths) >= len(names), tables
        known.update(paths)
        readers = [(r, found(r)) for r in re.findall(r"`([^`]*)`", readers)]
        assert readers, tables
        for name, path in readers:
            assert path, f"{tables}: {name} is not there"
            assert any(includes(path[0], t) for t in paths), f"{name} includes none of {tables}"
        for t in paths:
            assert any(includes(path[0], t) for _, path in readers), f"nobody of {readers} includes {t}"
        listed = {p for _, files in readers for p in files}
        silent = {p for t in paths for p in users.get(os.path.relpath(t, os.path.join(source, "src")), ())} - listed - set(paths)
        unlisted += [f"{names}: {os.path.relpath(p, source)} includes it, too" for p in sorted(silent)]
    assert not unlisted, "\n".join(unlisted)
    tables = {p for p in CODE if p.endswith(".def")}
    assert known == tables, known ^ tables


def what_comments_name_is_there():
    done = subprocess.run([os.path.join(source, "scripts/check-comments")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def comments_that_lie_are_noticed():
    files = {"src/a/a.h": "/* Calls a_do(), and a_gone(); see b.h and docs/NONE.md. Private to this folder. */\n/* ---- a.c ---- */\nvoid a_do(void);\n"
                          "void a_other(void);\n",
             "src/a/a.c": '#include "a/a.h"\nvoid a_do(void) {}\n', "src/b/b.c": '#include "a/a.h"\nvoid a_other(void) {}\n',
             "src/a/wide.h": f"struct wide {{\n    const char\n        *name; /* its name */\n    int n;{' ' * 80}/* how many */\n}};\n"
                             f"/* a table:\n *     {'x' * 120} */\n"}
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as f:
                f.write(text)
        os.mkdir(os.path.join(root, "scripts"))
        script = shutil.copy(os.path.join(source, "scripts/check-comments"), os.path.join(root, "scripts"))
        shutil.copy(os.path.join(source, "scripts/usage.py"), os.path.join(root, "scripts"))
        done = subprocess.run([script], capture_output=True, text=True)
    said = [line.split(": ", 2)[2] for line in done.stdout.splitlines()]
    assert done.returncode == 1 and sorted(said) == sorted(["there is no a_gone()", "there is no b.h", "there is no docs/NONE.md", "a_other() is not in a.c",
                                             "a comment goes beyond column 100", "the comment breaks the declaration: put it above",
                                             "private to this folder, and src/b/b.c includes it"]), done.stdout + done.stderr


def costs_name_benchmarks_that_there_are():
    with open(os.path.join(source, "src/jit/costs.def")) as f:
        benches = re.findall(r'^(?:COST|EVERY|LIMIT)\(.*, "([^"]*)"\)$', f.read(), re.M)
    with open(os.path.join(source, "bench/peers/problem.c")) as f:
        problems = set(re.findall(r'^    \{"(\w+)", BOUND', f.read(), re.M))
    assert len(benches) > 50
    for name in set(benches) - problems:
        assert name.startswith("bench-") and os.path.exists(os.path.join(source, "bench", name[len("bench-"):] + ".c")), name


def every_word_of_the_glossary_stands_where_it_is_defined():
    with open(os.path.join(source, "docs/GLOSSARY.md")) as f:
        lines = re.findall(r"^\| ([^|]*) \| [^|]* \|[^|]*\| ([^|]*) \|$", f.read(), re.M)[1:]
    assert len(lines) > 20
    for words, files in lines:
        for name in re.findall(r"`([^`]*)`", files):
            (path,) = found(name)
            with open(path) as f:
                text = re.sub(r"[-\s_*]+", " ", f.read().lower())
            assert any(re.search(rf"\b{w.lower()}s?\b", text) for w in words.replace("-", " ").split(", ")), f"{name} does not say `{words}`"


def every_program_of_the_tree_explains_itself():
    """And does nothing else."""
    programs = [p for folder in ("scripts", "scripts/release", "bench", "bench/peers") for p in sorted(glob.glob(os.path.join(source, folder, "*")))
                if os.path.isfile(p) and open(p, "rb").read(2) == b"#!"]
    assert len(programs) > 40, programs
    with tempfile.TemporaryDirectory() as empty:
        for path in programs:
            done = subprocess.run([path, "--help"], cwd=empty, capture_output=True, text=True, timeout=60)
            assert re.match(rf"(usage: )?(bench/)?{re.escape(os.path.basename(path))}\b", done.stdout + done.stderr), (path, done)
        assert not os.listdir(empty)


def the_index_of_tests_names_every_suite_and_no_other():
    with open(os.path.join(source, "tests/README.md")) as f:
        changed, index = f.read().split("## Suites")
    tests = os.path.join(source, "tests")
    suites = {n for n in os.listdir(tests) if os.path.exists(os.path.join(tests, n, "test.sh"))}
    listed = {n for row in re.findall(r"^\|[^|]*\| (`[^|]*`) \|", index, re.M) for n in re.findall(r"`([\w-]+)`", row)}
    assert listed == suites, listed ^ suites
    with open(os.path.join(os.environ["HEDDLE_BUILD"], "tests/tests.list")) as f:
        units = set(f.read().split())
    for row in re.findall(r"^\| [^|]*`src/[^|]*\| ([^|]*) \|$", changed, re.M):
        for name in re.findall(r"`([^`]*)`", row):
            unknown = set() if name.startswith("make ") else set(name.split()) - suites - units
            assert not unknown, unknown


main(globals())
