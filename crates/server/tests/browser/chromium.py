"""A small client of a real Chromium, over its remote debugging pipe: no packages, no port."""

import json
import os
import select
import subprocess
import tempfile
import time


class Chromium:
    """A browser without a window, and one page of it."""

    def __init__(self, program):
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self._profile = tempfile.TemporaryDirectory(prefix="equipoise-browser-")
        arguments = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                     "--disable-background-networking", "--disable-component-update", "--no-first-run",
                     "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self._profile.name}", "about:blank"]

        def hand_over():
            # The browser reads from descriptor 3 and writes to 4; first out of the way of each other.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self._process = subprocess.Popen(arguments, preexec_fn=hand_over, close_fds=False,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._last, self._buffer, self._waiting, self._session = 0, b"", [], None
        self.requests, self.complaints = [], []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"]:
            self._call(f"{domain}.enable")

    def close(self):
        """End the browser."""
        try:
            self._session = None
            self._send("Browser.close", {})
            self._process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
        self._profile.cleanup()

    def _send(self, method, parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._last

    def _receive(self):
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], 30)[0]:
                raise RuntimeError(f"the browser says nothing; waiting for {self._what}")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self._buffer += piece
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message)
        return message

    def _note(self, message):
        """Keep which addresses were asked for, and whatever the browser complains about."""
        method, said = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f'{said["entry"]["text"]} ({said["entry"].get("url", "")})')
        elif method:
            self._waiting.append(method)

    def _call(self, method, parameters=None):
        self._what = method
        number = self._send(method, parameters or {})
        while True:
            message = self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f'{method}: {message["error"]["message"]}')
                return message["result"]

    def _loaded(self):
        self._what = "a page to load"
        while "Page.loadEventFired" not in self._waiting:
            self._receive()
        self._settled()
        self._waiting.clear()

    def _settled(self):
        """Until the page that is there now is loaded: what was heard may have been of the one before."""
        end = time.monotonic() + 30
        while not self.run("document.readyState === 'complete' && performance.timing.loadEventEnd > 0"):
            if time.monotonic() > end:
                raise AssertionError(f"{self.where()} is not loaded")
            time.sleep(0.02)

    def open(self, address):
        """Go there, and wait until it is loaded."""
        self._waiting.clear()
        self._call("Page.navigate", {"url": address})
        self._loaded()

    def run(self, script):
        """The value of an expression on the page."""
        result = self._call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["text"] + " in " + script)
        return result["result"].get("value")

    def press(self, selector):
        """Press what leads to another page, and wait until that is loaded."""
        self._waiting.clear()
        found = self.run(f"(() => {{ const it = document.querySelector({json.dumps(selector)}); "
                         "if (!it) return false; it.click(); return true; })()")
        if not found:
            raise AssertionError(f"there is no {selector} on {self.where()}")
        self._loaded()

    def key(self, key, code):
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code})

    def enter(self):
        """Press the key that sends a form, and wait until the next page is loaded."""
        self._waiting.clear()
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", {"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"})
        self._loaded()

    def where(self):
        """The address of the page."""
        return self.run("location.href")

    def text(self):
        """What the page says."""
        return self.run("document.body.innerText")

    def until(self, script, seconds=10):
        """Wait until this is true."""
        end = time.monotonic() + seconds
        # Between two pages there is nothing to look at.
        while not self.run(f"document.body !== null && ({script})"):
            if time.monotonic() > end:
                raise AssertionError(f"never true on {self.where()}: {script}\n{self.text()}")
            time.sleep(0.05)
        self._settled()

    def without_script(self, off):
        """Let pages run scripts, or not."""
        self._call("Emulation.setScriptExecutionDisabled", {"value": off})

    def nodes(self):
        """The accessibility tree: (role, name) of what is not ignored."""
        tree = self._call("Accessibility.getFullAXTree")["nodes"]
        value = lambda node, part: node.get(part, {}).get("value", "")
        return [(value(node, "role"), value(node, "name")) for node in tree if not node.get("ignored")]

    def wide(self, width):
        """Give the window this width, until a picture is taken."""
        self._call("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})

    def picture(self, path, scheme, width=1000, most=None):
        """A picture of the whole page, or of so much of it as is seen at first, light or dark."""
        import base64
        self._call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self._call("Emulation.setDeviceMetricsOverride", {"width": width, "height": most or 800, "deviceScaleFactor": 1, "mobile": False})
        shot = self._call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": most is None})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
