"""The recipes of docs/CI.md and the steps of action.yml are YAML, of which the commands of the shell run: those that install something
are read by the shell alone."""
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

folder = tempfile.TemporaryDirectory()
INSTALLS = re.compile(r"pip install|apt-get|git -C|docker run|scripts/setup|GITHUB_OUTPUT")


def load(text):
    if not importlib.util.find_spec("yaml"):
        raise tap.Skip("no yaml (python3-yaml)")
    import yaml
    return yaml.safe_load(text)


def text_of(name):
    with open(os.path.join(tap.source, name)) as f:
        return f.read()


def recipes(page="docs/CI.md"):
    return [load(text) for text in re.findall(r"```yaml\n(.*?)```", text_of(page), re.S)]


def a_release_is_made_by_scripts_that_are_there():
    text = text_of(".github/workflows/release.yml")
    scripts = set(re.findall(r"scripts/release/\w+", text))
    assert scripts == {"scripts/release/build", "scripts/release/try", "scripts/release/Containerfile"}, scripts
    for name in "scripts/release/build", "scripts/release/try":
        path = os.path.join(tap.source, name)
        assert os.access(path, os.X_OK) and subprocess.run(["sh", "-n", path]).returncode == 0, name
    status = subprocess.run([os.path.join(tap.source, "scripts/release/try"), "none.zip"], capture_output=True, text=True)
    assert status.returncode == 2 and "a wheel or a Debian package" in status.stderr, status
    jobs = load(text)["jobs"]
    assert jobs["try"]["needs"] == "build" and jobs["release"]["needs"] == "try" and jobs["release"]["if"].startswith("startsWith(github.ref"), jobs


@tap.in_full
def workflows_pass_actionlint():
    """That of the release and the recipes for GitHub."""
    if not shutil.which("actionlint"):
        raise tap.Skip("no actionlint")
    workflows = os.path.join(folder.name, "linted", ".github", "workflows")
    os.makedirs(workflows)
    texts = [text_of(".github/workflows/release.yml"), *re.findall(r"```yaml\n(on:.*?)```", text_of("docs/CI.md"), re.S)]
    assert len(texts) >= 3, texts
    for number, text in enumerate(texts):
        with open(os.path.join(workflows, f"{number}.yml"), "w") as f:
            f.write(text)
    done = subprocess.run(["actionlint", *sorted(os.path.join(workflows, name) for name in os.listdir(workflows))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def steps(document):
    """All commands of a GitHub workflow, an action, a GitLab pipeline or a configuration of pre-commit."""
    for job in document.get("jobs", {}).values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
    yield from (step["run"] for step in document.get("runs", {}).get("steps", ()) if "run" in step)
    yield from (line for job in document.values() if isinstance(job, dict) for line in job.get("script", ()))
    yield from (hook["entry"] for repo in document.get("repos", ()) for hook in repo["hooks"])


def repository(at):
    """What the recipes take for the user's."""
    os.makedirs(f"{at}/tests")
    race = "        if (t < half)\n            part[t] += part[t + half];\n"
    sum_cu = text_of("examples/race/sum.cu")
    assert race in sum_cu
    saxpy = os.path.join(tap.examples, "saxpy", "saxpy.ptx")
    files = {"kernel.ptx": text_of(saxpy),
             "tests/sum.cu": sum_cu.replace(f"half /= 2)\n{race}", f"half /= 2) {{\n{race}        __syncthreads();\n    }}\n"),
             "tests/test_saxpy.py": f"""import array, heddle
def test_saxpy():
    x, y = array.array('f', range(8)), array.array('f', [1] * 8)
    heddle.check({saxpy!r}, 'saxpy', 1, 8, (8, 2.0, x, y)).raise_if_found()
    assert list(y) == [1 + 2 * i for i in range(8)]
"""}
    for file, text in files.items():
        with open(os.path.join(at, file), "w") as f:
            f.write(text)
    return at


def recipes_have_the_shape_of_their_services():
    github, program, gitlab, hooks = recipes()
    action = load(text_of("action.yml"))
    for workflow in github, program:
        (job,) = workflow["jobs"].values()
        assert job["runs-on"] and all(("run" in s) != ("uses" in s) for s in job["steps"])
    assert len(github["jobs"]["cuda"]["steps"]) == 4
    assert action["runs"]["using"] == "composite" and action["name"] and action["description"]
    for step in action["runs"]["steps"]:
        assert ("run" in step) != ("uses" in step) and ("run" in step) == ("shell" in step), step
    named = set(re.findall(r"inputs\.([\w-]+)", text_of("action.yml")))
    assert named == set(action["inputs"]), named
    assert set(gitlab) == {"heddle", "cuda"} and gitlab["cuda"]["needs"] == ["heddle"]
    for hook in hooks["repos"][0]["hooks"]:
        assert {"id", "name", "language", "entry"} <= set(hook), hook


def commands_are_the_shells():
    commands = [c for document in [*recipes(), load(text_of("action.yml"))] for c in steps(document)]
    assert len(commands) >= 15, commands
    for command in commands:
        done = subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True)
        assert done.returncode == 0, command + done.stderr


def commands_run_in_a_repository():
    at = repository(os.path.join(folder.name, "repository"))
    env = dict(os.environ, PATH=os.path.join(os.environ["HEDDLE_BUILD"], "bin") + ":" + os.environ["PATH"],
               PYTHONPATH=os.path.join(tap.source, "python"))
    has_pytest = bool(shutil.which("pytest"))
    ran = 0
    for document in recipes():
        for command in steps(document):
            if INSTALLS.search(command) or command.startswith("pytest") and not has_pytest:
                continue
            files = {"heddle ptx": " kernel.ptx", "sh -c": " tests/sum.cu"}  # as pre-commit appends them
            command += next((f for start, f in files.items() if command.startswith(start)), "")
            done = subprocess.run(["bash", "-ec", command], cwd=at, env=env, text=True, capture_output=True, timeout=300)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran >= 5
    assert '"version": "2.1.0"' in text_of(os.path.join(at, "heddle.sarif"))
    if not has_pytest:
        raise tap.Skip("no pytest: its commands were not run")


def the_sources_that_the_action_takes_note_of_are_there():
    (listed,) = re.findall(r"find (.*?) -type f", text_of("action.yml"))
    for name in shlex.split(listed):
        assert os.path.exists(os.path.join(tap.source, name)), name


tap.main(globals())
