"""A page in chromium without a window, driven over the DevTools protocol, on a pipe. Needs nothing but Python."""
import json
import os
import select
import shutil
import subprocess
import time
import urllib.parse

import tap

running = None


def window(folder):
    """The one browser of a test, as if it were new."""
    global running
    if not find():
        raise tap.Skip("there is no chromium: apt-get install chromium")
    if not running:
        running = Browser(os.path.join(folder, "profile"))
    running.problems.clear()
    running.size(1280)
    running.scheme("light")
    return running


def close():
    if running:
        running.close()


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, folder):
        ours, theirs = os.pipe(), os.pipe()  # what it reads as 3, and writes as 4
        self.to, self.of, self.rest, self.number = ours[1], theirs[0], b"", 0
        self.problems, self.loaded = [], 0

        def place():
            a, b = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(a, 3)
            os.dup2(b, 4)

        # --no-sandbox: it has to run as root, too, as in a container; it is shown our own page alone.
        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--remote-debugging-pipe",
             "--user-data-dir=" + folder, "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.of)

    def _message(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.of], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            more = os.read(self.of, 1 << 16)
            assert more, "the browser has ended"
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def _note(self, m):
        method, p = m.get("method"), m.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"]))
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.problems.append(str(p["args"]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.problems.append(p["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "about:")):
            self.problems.append("it asks for " + p["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded += 1

    def call(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        os.write(self.to, json.dumps(m).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    def open(self, path, view=""):
        """Seconds of processor time until the page is shown: the machine may have other things to do."""
        start = self.busy()
        self._navigate(f"file://{urllib.parse.quote(path)}?{self.loaded}" + (("#" + view) if view else ""))  # the number makes it another page
        return self._shown() - start

    def _shown(self):
        self.do("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
        return self.busy()

    def busy(self):
        """Of the page's main thread."""
        return {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def _navigate(self, url):
        before = self.loaded
        self.call("Page.navigate", url=url)
        while self.loaded == before:
            self._note(self._message(time.monotonic() + 60))

    def do(self, script):
        """The value of an expression, or of the promise that it is."""
        r = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in r, r["exceptionDetails"].get("exception", {}).get("description", r)
        return r["result"].get("value")

    def go(self, view):
        """Seconds as of open()."""
        start = self.busy()
        self.do(f"new Promise(r => {{ if (location.hash === '#{view}') return r(); addEventListener('hashchange', () => setTimeout(r, 0), {{once: true}}); location.hash = '#{view}'; }})")
        return self._shown() - start

    def key(self, name, text=None):
        codes = {"Enter": 13, "Tab": 9, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "+": 187, "-": 189}
        text = text or ("\r" if name == "Enter" else None)
        down = {"type": "keyDown", "key": name, "windowsVirtualKeyCode": codes[name]}
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=codes[name])

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path):
        import base64
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=False)["data"]))
