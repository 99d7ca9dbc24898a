"""README.md tells the truth: its commands are run, and what they print is compared."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import SANITIZED, Skip, examples, heddle, main, source


def comparable(text):
    """Times and addresses differ from run to run, lines of compiled PTX with the headers."""
    text = re.sub(r"(in PTX \d+ of \w+:)\d+:(\d+:\n *)\d+", r"\1N:\2N", text)
    text = re.sub(r"\d+(\.\d+)? ms", "N ms", text)
    return re.sub(r"0x[0-9a-f]{8,}", "ADDRESS", text)


def commands(page):
    """Each `$ command` of the page's console blocks, with the output that the page shows."""
    with open(os.path.join(source, page)) as f:
        blocks = re.findall(r"```console\n(.*?)```", f.read(), re.S)
    return [(c, out) for block in blocks for c, out in re.findall(r"\$ (.*)\n((?:[^$\n].*\n|\n)*)", block)]


def the_readme_shows_real_output():
    if SANITIZED:
        raise Skip("programs are not built with the sanitizers")
    found = commands("README.md")
    assert len(found) >= 4
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(examples, os.path.join(folder, "examples"))
        path = os.path.dirname(heddle) + ":" + os.environ["PATH"]
        for command, expected in found:
            done = subprocess.run(command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, "PATH": path})
            assert comparable(done.stdout) == comparable(expected), f"{command}\n{done.stdout}"


def links_lead_somewhere():
    for page in "README.md", "ARCHITECTURE.md", "HACKING.md", "examples/README.md", "tests/README.md":
        with open(os.path.join(source, page)) as f:
            for link in re.findall(r"\]\(([^)#]+)\)", f.read()):
                assert os.path.exists(os.path.join(source, os.path.dirname(page), link)), (page, link)


def the_map_names_files_that_exist():
    with open(os.path.join(source, "ARCHITECTURE.md")) as f:
        for name in re.findall(r"`((?:src|scripts|include)/[\w./]+)`", f.read()):
            assert os.path.exists(os.path.join(source, name)), name


def the_index_of_tests_names_every_suite_and_no_other():
    with open(os.path.join(source, "tests/README.md")) as f:
        changed, index = f.read().split("## Suites")
    tests = os.path.join(source, "tests")
    suites = {n for n in os.listdir(tests) if os.path.exists(os.path.join(tests, n, "test.sh"))}
    listed = {n for row in re.findall(r"^\|[^|]*\| (`[^|]*`) \|", index, re.M) for n in re.findall(r"`(\w+)`", row)}
    assert listed == suites, listed ^ suites
    with open(os.path.join(os.environ["HEDDLE_BUILD"], "tests/tests.list")) as f:
        units = set(f.read().split())
    for row in re.findall(r"^\| [^|]*`src/[^|]*\| ([^|]*) \|$", changed, re.M):
        for name in re.findall(r"`([^`]*)`", row):
            unknown = set() if name.startswith("make ") else set(name.split()) - suites - units
            assert not unknown, unknown


main(globals())
