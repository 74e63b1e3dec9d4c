"""Chromium without a window, driven over a pipe with its DevTools protocol. Standard library only."""
import base64
import fcntl
import json
import os
import pathlib
import selectors
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))

from house.browser import program  # noqa: E402


class BrowserError(Exception):
    """What the page or the protocol complained about."""


class Browser:
    """One process; `page(path)` opens tabs. Close it, or use `with`."""

    def __init__(self, seconds=60):
        self.seconds = seconds
        self.folder = tempfile.mkdtemp(prefix="baton-chromium-")
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()

        def wire():  # it reads from 3 and writes to 4
            reading, writing = fcntl.fcntl(to_read, fcntl.F_DUPFD, 20), fcntl.fcntl(to_write, fcntl.F_DUPFD, 20)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
             "--font-render-hinting=none", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=wire, pass_fds=(3, 4),
            start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        os.set_blocking(self._in, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._in, selectors.EVENT_READ)
        self._buffer, self._last, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """Sends one command and waits for its answer; events that come meanwhile are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        until = time.monotonic() + self.seconds
        while True:
            answer = self._receive(until, method)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def _receive(self, until, waiting_for):
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                raise BrowserError(f"no answer to {waiting_for} within {self.seconds} s")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise BrowserError(f"Chromium ended (status {self.process.poll()}) before it answered {waiting_for}")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def page(self, path, *, fragment="", width=1440, height=900, scheme="light"):
        return Page(self, path, fragment, width, height, scheme)


class Page:
    """One tab. What it writes to its console as an error, and what it throws, is in `complaints()`."""

    def __init__(self, browser, path, fragment, width, height, scheme):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=f"file://{path}{fragment}")
        self.wait("document.documentElement?.dataset.ready")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.call("Page.close")

    def eval(self, script):
        """The value of an expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait(self, condition):
        until = time.monotonic() + self.browser.seconds
        while not self.eval(f"Boolean({condition})"):
            if time.monotonic() > until:
                raise BrowserError(f"never true: {condition}; complaints: {self.complaints()}")
            time.sleep(0.02)

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))")

    def click(self, x, y, count=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)
        self.settle()

    def click_on(self, selector):
        """In the middle of the first element, as a user would: once it stays where it is."""
        where = f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
            e.scrollIntoView({{block: "nearest"}}); const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()"""
        place, before = self.eval(where), None
        while place != before:
            self.settle()
            place, before = self.eval(where), place
        if place is None:
            raise BrowserError(f"no element {selector}")
        self.click(*place)

    def press(self, key, code=0, text=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def complaints(self):
        """Errors on the console, exceptions, and every request for anything but the file itself."""
        found = []
        self.eval("0")  # what was on its way
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, more = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(more["exceptionDetails"].get("exception", {}).get("description") or more["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled" and more["type"] in ("error", "warning", "assert"):
                found.append(str([each.get("value", each.get("description")) for each in more["args"]]))
            elif method == "Log.entryAdded" and more["entry"]["level"] == "error":
                found.append(more["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not more["request"]["url"].startswith("file:"):
                found.append("asked for " + more["request"]["url"][:200])
        return found

    def screenshot(self, path):
        self.settle()
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
