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
    for page in "README.md", "ARCHITECTURE.md", "HACKING.md", "examples/README.md":
        with open(os.path.join(source, page)) as f:
            for link in re.findall(r"\]\(([^)#]+)\)", f.read()):
                assert os.path.exists(os.path.join(source, os.path.dirname(page), link)), (page, link)


def the_map_names_files_that_exist():
    with open(os.path.join(source, "ARCHITECTURE.md")) as f:
        for name in re.findall(r"`((?:src|scripts|include)/[\w./]+)`", f.read()):
            assert os.path.exists(os.path.join(source, name)), name


main(globals())
