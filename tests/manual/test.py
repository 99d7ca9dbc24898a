"""Manual pages and completion say all that --help says of every command; and the table of environment variables has all that are read."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from tap import Skip, heddle, main, source


def run(*command, **how):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    assert done.returncode == 0 and not done.stderr, (command, done)
    return done.stdout


COMMANDS = re.findall(r"^  (\w+) ", run(heddle, "--help").split("Commands:")[1], re.M)
assert len(COMMANDS) >= 13, COMMANDS


def options(command):
    """Names as they are typed, of --help's list; of heddle cc, those that have an effect."""
    text = run(heddle, command, "--help").split("\nAccepted without")[0]
    return {name for head in re.findall(r"^  (--?[\w+-]+(?:, --?[\w+-]+)?)(?= |$)", text, re.M) for name in head.split(", ")}


def plain(page):
    return page.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def each_page_has_each_option():
    for command in COMMANDS:
        page = plain(run(heddle, "manual", command))
        assert options(command) or command in ("completion", "manual")
        for name in options(command):
            assert f"\\fB{name}\\fR" in page, (command, name)
        assert f"heddle-{command} - " in page and f"heddle {command}" in page.split(".SH SYNOPSIS")[1], command


def the_first_page_leads_to_all_others():
    page = plain(run(heddle, "manual"))
    for command in COMMANDS:
        assert f"\\fBheddle-{command}\\fR(1)" in page.split(".SH COMMANDS")[1], command


def pages_are_set_without_warnings():
    setter = shutil.which("groff") or shutil.which("nroff")
    if not setter:
        raise Skip("no groff")
    for command in ["", *COMMANDS]:
        page = run(heddle, "manual", *command.split())
        text = run(setter, *(["-Tutf8"] if setter.endswith("groff") else []), "-man", "-ww", "-Wbreak", input=page)
        assert "SYNOPSIS" in re.sub(".\x08", "", text), (command, text[:300])


def read_variables(src):
    """What src/ asks the environment for, by name."""
    for path in glob.glob(os.path.join(src, "**", "*.[ch]"), recursive=True):
        with open(path) as f:
            yield from ((name, path) for name in re.findall(r'"(HEDDLE_[A-Z_]+|NVCC_[A-Z_]+|CUDA_VISIBLE_DEVICES|NO_COLOR)"', f.read()))


def the_table_has_every_variable_and_no_other():
    with open(os.path.join(source, "src", "cli", "environment.def")) as f:
        rows = re.findall(r'^ENVIRONMENT\((\w+), "(\w+)", "([^"]*)", "([^"]*)"\)$', f.read(), re.M)
    listed, used = {name for _, name, _, _ in rows}, dict(read_variables(os.path.join(source, "src")))
    assert len(used) > 20
    for name, path in used.items():
        assert name in listed, f"{name}, which {path} reads, is not in src/cli/environment.def"
    assert not listed - set(used) - {"TMPDIR"}, listed - set(used)
    page = plain(run(heddle, "manual"))
    with open(os.path.join(source, "docs", "ENVIRONMENT.md")) as f:
        document = f.read()
    for kind, name, value, text in rows:
        assert (f"\\fB{name}\\fR=" in page) == (kind != "INTERNAL"), name
        row = "| `{}={}` | {} |".format(name, value.replace("|", "\\|"), text)
        assert kind == "INTERNAL" or row in document, f"docs/ENVIRONMENT.md lacks a row (make docs):\n{row}"


def bash_offers_every_option():
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "heddle")
        with open(script, "w") as f:
            f.write(run(heddle, "completion", "bash"))

        def offered(*words):
            typed = " ".join(f"'{w}'" for w in words)
            return run("bash", "-c", f"source {script}; compopt() {{ :; }}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}\n"
                       '_heddle; printf "%s\\n" "${COMPREPLY[@]}"', cwd=folder).split("\n")

        assert set(COMMANDS) <= set(offered("heddle", ""))
        assert "explain" in offered("heddle", "expl") and "run" not in offered("heddle", "expl")
        for command in COMMANDS:
            assert options(command) <= {*offered("heddle", command, "-"), *offered("heddle", command, "--")}, command
        assert {"text", "json", "sarif"} <= set(offered("heddle", "check", "--format", ""))
        assert "heddle" in offered("heddle", "check", "--suppressions", "hed")
        assert "heddle" in offered("heddle", "run", "hed")


def other_shells_offer_every_option():
    zsh, fish = run(heddle, "completion", "zsh"), run(heddle, "completion", "fish")
    for command in COMMANDS:
        part = zsh.split(f"\n    {command})\n")[1].split(";;")[0]
        lines = re.findall(rf"^complete -c heddle -n '__fish_seen_subcommand_from {command}'(.*)$", fish, re.M)
        for name in options(command):
            assert f"'*{name}[" in part, (command, name)
            kind = "-l" if name.startswith("--") else "-o" if len(name) > 2 else "-s"
            word = name.lstrip("-")
            assert any(f" {kind} {word} " in line + " " for line in lines), (command, name)


def zsh_and_fish_take_their_scripts():
    tried = 0
    for shell, flag in ("zsh", "-n"), ("fish", "--no-execute"):
        if shutil.which(shell):
            tried += 1
            run(shell, flag, "/dev/stdin", input=run(heddle, "completion", shell))
    if not tried:
        raise Skip("neither zsh nor fish")


def wrong_words_are_told():
    for words, says in (["manual", "chek"], "did you mean `check`?"), (["manual", "run", "cc"], "one page at a time"), \
            (["completion"], "the name of the shell is missing"), (["completion", "csh"], "bash, zsh and fish"):
        done = subprocess.run([heddle, *words], text=True, capture_output=True)
        assert done.returncode == 2 and not done.stdout and says in done.stderr, done


if __name__ == "__main__":
    main(globals())
