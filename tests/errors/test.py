"""Golden texts of errors: one test a file."""
import glob
import os
import subprocess
import sys

source = os.environ["HEDDLE_SOURCE"]
heddle = os.path.join(os.environ["HEDDLE_BUILD"], "heddle")
here = os.path.join(source, "tests", "errors")
files = sorted(glob.glob(os.path.join(here, "*.ptx")))
failed = 0
print(f"1..{len(files)}")
for number, path in enumerate(files, 1):
    name = os.path.basename(path)
    done = subprocess.run([heddle, "ptx", name], capture_output=True, text=True, cwd=here, timeout=60)
    got = f"{done.stderr}{done.stdout}exit status {done.returncode}\n"
    golden = path[:-4] + ".txt"
    if os.environ.get("UPDATE"):
        open(golden, "w").write(got)
    want = open(golden).read() if os.path.exists(golden) else "(no golden text)\n"
    says = f"{number} - heddle ptx says what is wrong in {name}"
    if got == want and (done.returncode == 1 or name.startswith("valid_")):
        print("ok", says)
    else:
        failed += 1
        print("# expected\n" + "".join(f"#   {l}\n" for l in want.splitlines()), end="")
        print("# got\n" + "".join(f"#   {l}\n" for l in got.splitlines()), end="")
        print("not ok", says)
sys.exit(failed > 0)
