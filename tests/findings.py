"""What `heddle check PROGRAM` finds, for tests and scripts: data races as pairs of lines of CUDA."""
import json
import os
import subprocess
import tempfile

heddle = os.environ.get("HEDDLE") or os.path.join(os.environ["HEDDLE_BUILD"], "heddle")


class Checked:
    """A program that was run under `heddle check`: status, out, err (what stands before the findings), findings (of the JSON), and
    what went wrong with it all, or ''."""

    def __init__(self, command, options=(), cwd=None, timeout=120, env=None):
        self.status, self.out, self.err, self.findings, self.wrong = None, "", "", [], ""
        with tempfile.TemporaryDirectory() as folder:
            saved, log = (os.path.join(folder, name) for name in ("findings.json", "log"))
            try:
                done = subprocess.run([heddle, "check", "--save", saved, "--log-file", log, "--timeout", str(timeout), *options, *command],
                                      capture_output=True, text=True, errors="replace", cwd=cwd, timeout=2 * timeout,
                                      stdin=subprocess.DEVNULL, env=env)
            except subprocess.TimeoutExpired:
                self.wrong = f"not done after {2 * timeout} s"
                return
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
            try:
                with open(saved) as f:
                    self.findings = json.load(f)["findings"]
            except (OSError, ValueError) as error:
                self.wrong = f"status {self.status}, {error}: {self.err.strip()[-300:]}"
            if self.status == 124:
                self.wrong = f"not done after {timeout} s"

    def races(self):
        """Each data race: the places of its two accesses, each a set of (file's name, line): of the line itself, and of the calls
        that are inlined there."""
        found = []
        for i, f in enumerate(self.findings):
            if f["code"] == "data-race" and f["severity"] != "note":
                other = self.findings[i + 1] if i + 1 < len(self.findings) and self.findings[i + 1]["severity"] == "note" else f
                found.append((places(f), places(other)))
        return found

    def races_between(self, some, others):
        """Whether a race is one between a line of each list."""
        def on(place, lines):
            return any(line in lines for _, line in place)
        return any(on(a, some) and on(b, others) or on(a, others) and on(b, some) for a, b in self.races())

    def summary(self):
        """A line for each finding."""
        return [f"{f['code']} {' '.join(f'{name}:{line}' for name, line in sorted(places(f)))}: {f['text']}" for f in self.findings]


def places(finding):
    found = {(os.path.basename(line["file"]), line["line"]) for line in finding.get("chain", [])}
    if finding.get("cuda_file"):
        found.add((os.path.basename(finding["cuda_file"]), finding["cuda_line"]))
    for frame in finding.get("frames") or []:
        if frame.get("file"):
            found.add((os.path.basename(frame["file"]), frame.get("line")))
    return found
