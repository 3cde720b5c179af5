"""A headless Chromium, spoken to by its DevTools protocol over two pipes: no driver and no library is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium():
    """The program named by SOLSTICE_CHROMIUM, or the first that is installed; None where there is none."""
    named = os.environ.get("SOLSTICE_CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page of a browser; use as a context. `problems` collects what its console and its network report."""

    def __init__(self, program, profile, deadline=60.0):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        flags = [
            "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--remote-debugging-pipe", f"--user-data-dir={profile}",
        ]  # fmt: skip
        flags += ["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses root otherwise
        # It reads commands from descriptor 3 and answers on 4.
        script = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self._log = open(os.path.join(profile, "chromium.log"), "wb")
        self._process = subprocess.Popen(
            ["bash", "-c", script, program, *flags],
            pass_fds=(to_browser, from_browser),
            stdout=self._log,
            stderr=self._log,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session, self._deadline = b"", 0, None, deadline
        self.problems, self.requests, self._loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=30)
        os.close(self._in)
        os.close(self._out)
        self._log.close()

    def _next(self, until):
        """The next message, or None after the time `until`."""
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise RuntimeError("Chromium ended; see chromium.log in its profile")
            self._buffer += chunk
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(values["exceptionDetails"].get("exception", {}).get("description", "exception"))
        if method == "Runtime.consoleAPICalled":
            self.problems.append(f"console.{values['type']}: {[a.get('value') for a in values['args']]}")
        if method == "Log.entryAdded":
            self.problems.append(f"{values['entry']['level']}: {values['entry']['text']}")
        if method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {values['message']}")
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        if method == "Page.loadEventFired":
            self._loaded = True

    def call(self, method, **values):
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self._deadline
        while (answer := self._next(until)) is not None:
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)
        raise RuntimeError(f"{method}: no answer in {self._deadline:.0f} s")

    def open(self, path, width=1360, height=900, scheme="light"):
        self.look(width, height, scheme)
        self._loaded = False
        self.call("Page.navigate", url=path.as_uri())
        until = time.monotonic() + self._deadline
        while not self._loaded:
            message = self._next(until)
            if message is None:
                raise RuntimeError(f"{path} did not load in {self._deadline:.0f} s")
            self._note(message)

    def look(self, width, height, scheme):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression):
        """What a JavaScript expression is."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def click(self, selector):
        """A real click in the middle of the first element that matches."""
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: "
            f"'center', inline: 'start'}});"
            " const r = e.getBoundingClientRect(); return [Math.max(r.left, 0) + Math.min(r.width, 60) / 2, r.top "
            "+ r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))

    def screenshot(self, path, whole=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
