"""Detectors by files of events (heddle check --record-events), cut down or written by hand: one test a file."""
import glob
import os
import subprocess
import sys

source = os.environ["HEDDLE_SOURCE"]
heddle = os.path.join(os.environ["HEDDLE_BUILD"], "heddle")
here = os.path.join(source, "tests", "detectors")
files = sorted(glob.glob(os.path.join(here, "*.txt")))
failed = 0
print(f"1..{len(files)}")
for number, path in enumerate(files, 1):
    name = os.path.basename(path)
    done = subprocess.run([heddle, "check", "--replay-events", name], capture_output=True, text=True, cwd=here, timeout=60)
    got = f"{done.stdout}{done.stderr}exit status {done.returncode}\n"
    golden = path[:-4] + ".found"
    if os.environ.get("UPDATE"):
        open(golden, "w").write(got)
    want = open(golden).read() if os.path.exists(golden) else "(nobody has said what they find)\n"
    says = f"{number} - {name[:-4].replace('_', ' ')}"
    if got == want:
        print("ok", says)
    else:
        failed += 1
        print("# expected\n" + "".join(f"#   {line}\n" for line in want.splitlines()), end="")
        print("# got\n" + "".join(f"#   {line}\n" for line in got.splitlines()), end="")
        print("not ok", says)
sys.exit(failed > 0)
