"""Chromium without a window, driven through the DevTools protocol over two pipes: no port, no package."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # it needs rights that root in a container does not have
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
SECONDS = 120


class BrowserError(Exception):
    """A call of the browser failed, or a page threw an exception."""


class Browser:
    """A running browser with one page. Calls wait for their answers; events are kept in `events`."""

    def __init__(self, program: str, profile: str) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to descriptor 4.
        redirected = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        command = ["bash", "-c", redirected, "bash", program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        silent = subprocess.DEVNULL
        # A sanitizer that is loaded into this process must not be loaded into the browser.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        self.process = subprocess.Popen(
            command, env=environment, pass_fds=(to_browser, from_browser), stdin=silent, stdout=silent, stderr=silent
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers, self._received = itertools.count(1), b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        # The page has the focus, wherever the Tab key has led.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol; return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._send(json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            answer = self._receive(end)
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._out, data) :]

    def _receive(self, end: float) -> Any:
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise BrowserError(f"no answer within {SECONDS} seconds")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise BrowserError("the browser has ended")
            self._received += data
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until its tokenizers are unpacked."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        self.wait_for("globalThis.toksmith !== undefined")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript, or of its promise."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return found["result"].get("value")

    def wait_for(self, condition: str, seconds: float = 60) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise BrowserError(f"waited {seconds} seconds for {condition}")
            time.sleep(0.01)

    def type(self, text: str) -> None:
        """Type a text into what has the focus, and wait for the next frames."""
        self.call("Input.insertText", text=text)
        self.frames()

    def press(self, key: str, code: int, modifiers: int = 0) -> None:
        """Press and release a key, by its name and its Windows key code."""
        text = {"Enter": "\r", " ": " "}.get(key)
        down = {"text": text} if text else {}
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)
        self.frames()

    def frames(self) -> None:
        """Wait until two frames were drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def size(self, width: int, height: int, scale: float = 1, mobile: bool = False) -> None:
        """Make the page as large as a screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def media(self, scheme: str) -> None:
        """Ask for the "light" or the "dark" scheme, as a system does."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """Save what is seen as a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for."""
        self.frames()
        found = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in found]

    def complaints(self) -> list[str]:
        """Return what the page threw, logged or was refused."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"]["text"])
            elif event["method"] == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
        return found

    def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(BrowserError, OSError):
            self._session = None
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        os.close(self._out)


def program() -> str | None:
    """Return the path of an installed browser: what the variable CHROMIUM says, or the first of the usual names."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def started(path: str) -> Iterator[Browser]:
    """Start the browser at a path, and end it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(path, profile)
        try:
            yield browser
        finally:
            browser.close()
