"""Campaigns, for some seconds each; see campaign.py."""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.dirname(here)]
import strides
from both import build, need_compiler
from tap import main, need_loadable_libraries, some


def campaign(name, cases, seed=3, first=0):
    """Runs it, and shows what it found."""
    with tempfile.TemporaryDirectory() as found:
        done = subprocess.run([sys.executable, os.path.join(here, "campaign.py"), name, "--cases", str(cases), "--seed", str(seed), "--first", str(first),
                               "--found", found],
                              capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def changed_PTX_does_the_same_by_both_engines_and_stays_in_its_memory():
    need_compiler()
    said = campaign("mutants", 40)
    assert "of these, success" in said, said


def extreme_strides_do_the_same_by_both_engines_and_stay_in_their_memory():
    need_compiler()
    said = campaign("strides", 6)
    assert "of these, success" in said and "of these, fault" in said, said


def matrices_and_copies_are_tested_for_every_byte_that_they_move():
    need_compiler()
    said = campaign("moves", len(some(12, range(60))))
    assert "of these, success" in said and "of these, fault" in said, said


def damaged_images_are_loaded_or_refused():
    said = campaign("images", 300)
    assert "of these, loaded" in said and "of these, refused" in said, said


def damaged_objects_messages_and_arrays_are_taken_or_refused():
    need_compiler()
    said = campaign("messages", 150)
    assert "of these, accepted" in said and "of these, refused" in said, said


def damaged_programs_run_or_are_refused():
    need_loadable_libraries()
    said = campaign("programs", 10)
    assert " ok\n" in said, said


def damaged_files_of_events_are_replayed_or_refused():
    said = campaign("events", len(some(200, range(2000))))
    assert "of these, replayed" in said and "of these, refused" in said, said


def the_checker_reports_the_races_that_the_memory_model_has():
    said = campaign("races", len(some(30, range(100))))
    assert "of these, clean" in said and " 0 of these, clean" not in said and " 0 of these, races" not in said, said


def what_a_warp_did_before_it_has_exited_is_not_behind_a_barrier_of_others():
    campaign("races", 1, seed=8, first=432)


KERNEL = """//! buffer 1000 hash 1
//! launch 1 32 warp @0
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .u64 %rd; .reg .u32 %r;
    ld.param.u64 %rd, [p];
    mov.u32 %r, %tid.x;
    st.global.u32 [%rd], %r;
    ret;
}
"""


def verdict(crime, how="warp"):
    """Of a kernel that is in order, after which the harness itself does something wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w") as f:
            f.write(KERNEL.replace("warp", how))
        done = subprocess.run([os.path.join(build, "tests/harness"), "--seconds-a-case", "1", "--crime", crime, path],
                              capture_output=True, text=True, timeout=100)
    return done.stdout.split()[1]


def what_goes_wrong_is_noticed():
    need_compiler()
    for crime, expected in (("none", "ok"), ("writes-beside", "canary"), ("reads-far", "crash"), ("another-result", "differs"),
                            ("another-count", "differs"), ("no-end", "hang")):
        assert verdict(crime) == expected, f"{crime}: {verdict(crime)}"
    assert verdict("none", "inside") == "ok" and verdict("none", "outside") == "bounds"


def eight_threads_of_python_leave_memory_as_it_is():
    need_loadable_libraries()
    done = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "soak.py")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("10000 launches"), done.stdout + done.stderr


def cases_are_made_again_by_their_number():
    assert strides.make(7, 3) == strides.make(7, 3) != strides.make(7, 4)


main(globals())
