"""tests/run, on suites made for it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["HEDDLE_SOURCE"], "tests"))
from both import build
from tap import main, source


def run(suites, *options, longest=""):
    """The exit status and lines of a run of suites, each a shell script under its name."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/build/tests")
        open(f"{folder}/build/tests/tests.list", "w").close()
        for name, script in suites.items():
            os.makedirs(f"{folder}/tests/{name}")
            with open(f"{folder}/tests/{name}/test.sh", "w") as f:
                f.write("#!/bin/sh\n" + (script if "1.." in script else "echo 1..1\n" + script))
            os.chmod(f"{folder}/tests/{name}/test.sh", 0o755)
        shutil.copy(f"{source}/tests/run", f"{folder}/tests/run")
        with open(f"{folder}/tests/longest", "w") as f:
            f.write(longest)
        env = {k: v for k, v in os.environ.items() if k != "HEDDLE_TESTS"}
        done = subprocess.run([f"{folder}/tests/run", *options, f"{folder}/build"], capture_output=True, text=True, timeout=100, env=env)
        assert done.stderr == "", done.stderr
        return done.returncode, done.stdout.splitlines()


def the_last_line_counts_the_tests_of_all_suites():
    status, lines = run({"a": "echo 1..2\necho ok 1 - x\necho ok 2 - y", "b": "echo 1..2\necho 'ok 1 - z # SKIP no GPU'\necho ok 2"})
    assert status == 0 and lines[-1] == "3 passed, 0 failed, 1 skipped" and "skipped: z # SKIP no GPU" in lines, lines


def what_cmocka_skips_is_skipped():
    status, lines = run({"a": "echo 1..2; echo 'not ok 1 # SKIP x'; echo ok 2 - y"})
    assert status == 0 and lines[-1] == "1 passed, 0 failed, 1 skipped" and "skipped: x # SKIP" in lines, lines


def a_suite_fails_that_says_so_or_says_nothing_or_ends_badly():
    for script in "echo ok 1; echo not ok 2 - x", "true", "echo ok 1; exit 3", "echo ok 1; kill -9 $$":
        status, lines = run({"a": script})
        assert status == 1 and re.fullmatch("[01] passed, 1 failed", lines[-1]) and "FAILED: a" in "\n".join(lines), (script, lines)


def a_suite_fails_that_does_less_than_it_plans_or_has_no_plan():
    for script in "echo 1..3; echo ok 1; echo ok 2", "echo ok 1 '# 1..'", "echo 1..1; echo 1..1; echo ok 1":
        status, lines = run({"a": script})
        assert status == 1 and re.fullmatch("[12] passed, 1 failed", lines[-1]), (script, lines)
    status, lines = run({"a": "echo ok 1; echo 1..1; echo ok 1; echo ok 2; echo 1..2"})
    assert status == 0 and lines[-1] == "3 passed, 0 failed", lines


def a_suite_leaves_no_temporary_files():
    with tempfile.TemporaryDirectory() as folder:
        for ending in "echo ok 1", "echo not ok 1", "kill -9 $$", "sleep 1000":
            run({"a": f"mktemp -d > {folder}/name; {ending}"}, "--limit", "1")
            name = open(f"{folder}/name").read().strip()
            assert name and not os.path.exists(name) and not os.path.exists(os.path.dirname(name)), (ending, name)


def what_a_failing_suite_says_is_shown():
    _, lines = run({"a": "echo ok 1 - good; echo because of this; echo not ok 2 - bad"})
    assert "    because of this" in lines and "    not ok 2 - bad" in lines and not any("good" in l for l in lines), lines


def a_suite_that_hangs_is_stopped_with_all_that_it_has_started():
    started = "setsid sh -c 'echo $$ >{0}; sleep 1000' &\nwhile [ ! -s {0} ]; do sleep 0.1; done\n"
    with tempfile.TemporaryDirectory() as folder:
        status, lines = run({"a": started.format(f"{folder}/pid") + "echo ok 1; sleep 1000", "b": "echo ok 1"}, "--limit", "2")
        assert status == 1 and lines[-1] == "2 passed, 1 failed", lines
        assert any("it ends: stopped after 2 s, with these processes:" in l for l in lines), lines
        assert not os.path.exists(f"/proc/{open(f'{folder}/pid').read().strip()}")


def processes_that_are_left_are_a_failure():
    status, lines = run({"a": "setsid sleep 1000 >/dev/null 2>&1 & echo ok 1"})
    assert status == 1 and any("it leaves no processes" in l and "sleep" in l for l in lines), lines


def suites_run_side_by_side_and_those_marked_so_alone():
    """Each of two waits for the other; the third would see their files."""
    with tempfile.TemporaryDirectory() as folder:
        meet = "touch {0}/{1}; while [ ! -e {0}/{2} ]; do sleep 0.05; done; echo ok 1; rm {0}/{2}"
        status, lines = run({"a": "# alone: it wants the folder for itself\n" + f'[ -z "$(ls {folder})" ] && echo ok 1',
                             "b": meet.format(folder, "b", "c"), "c": meet.format(folder, "c", "b")}, "-j", "2", "--limit", "20")
        assert status == 0 and lines[-1] == "3 passed, 0 failed", lines


def one_that_mostly_waits_runs_beside_as_many_as_are_to():
    """The one waits for both others, which wait for each other."""
    with tempfile.TemporaryDirectory() as folder:
        meet = "touch {0}/{1}; while [ $(ls {0} | wc -l) -lt 3 ]; do sleep 0.05; done; echo ok 1"
        status, lines = run({"a": "# waits: for the others\n" + meet.format(folder, "a"), "b": meet.format(folder, "b"),
                             "c": meet.format(folder, "c")}, "-j", "2", "--limit", "20")
        assert status == 0 and lines[-1] == "3 passed, 0 failed", lines


def a_first_run_begins_with_the_suites_that_are_known_to_take_longest():
    with open(f"{source}/tests/longest") as f, open(f"{build}/tests/tests.list") as programs:
        suites = set(programs.read().split()) | {name for name in os.listdir(f"{source}/tests") if os.path.exists(f"{source}/tests/{name}/test.sh")}
        names = f.read().split()
    assert len(names) > 10 and set(names) <= suites, set(names) - suites
    _, lines = run(dict.fromkeys("abcd", "echo ok 1"), "-j", "1", longest="c\nb\n")
    assert [line[0] for line in lines[:4]] == ["c", "b", "a", "d"], lines


def what_is_left_to_check_all_is_named():
    suite = {"a": "echo '# check-all adds: more of them'\n[ \"$HEDDLE_TESTS\" = all ] && echo ok 2\necho ok 1"}
    assert "left to make check-all: a: more of them" in run(suite)[1]
    status, lines = run(suite, "--all")
    assert "added: a: more of them" in lines and lines[-1] == "2 passed, 0 failed", lines


main(globals())
