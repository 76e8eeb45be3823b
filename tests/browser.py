"""A real browser, driven over a pipe by its DevTools protocol: nothing but the standard library."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
_QUIET = (
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-extensions",
)


class Browser:
    """One tab; what it asks for and what it says on its console is kept."""

    def __init__(self, reading: int, writing: int) -> None:
        self._in, self._out = os.fdopen(reading, "rb", 0), os.fdopen(writing, "wb", 0)
        self._buffer, self._sent = b"", 0
        self.events: list[dict[str, Any]] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        attached = self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the tab, and wait for what it returns."""
        return self._send(method, self._session, **parameters)

    def open(self, page: Path | str) -> None:
        """Show a file or an address, and wait until it is loaded; only its own events are kept."""
        self.events.clear()
        self.send("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        while not any(each["method"] == "Page.loadEventFired" for each in self.events):
            self._take()

    def show(self, width: int, theme: str, media: str = "screen") -> None:
        """light or dark, at so many CSS pixels."""
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = 60) -> Any:
        """The value of an expression in the page, once it is true."""
        end = time.monotonic() + seconds
        while not (found := self.ask(script)):
            assert time.monotonic() < end, script
            time.sleep(0.05)
        return found

    def shot(self, file: Path) -> None:
        """A picture of the whole page."""
        taken = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(taken["data"]))

    def asked_for(self) -> list[str]:
        """The addresses of all requests since the page was opened."""
        sent = (each for each in self.events if each["method"] == "Network.requestWillBeSent")
        return [each["params"]["request"]["url"] for each in sent]

    def complaints(self) -> list[Any]:
        """What was written to the console, and what was thrown."""
        kinds = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [each["params"] for each in self.events if each["method"] in kinds]

    def _send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._take()
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                result = answer["result"]
                assert isinstance(result, dict)
                return result

    def _take(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = self._in.read(1 << 16)
            assert more, "the browser has ended"
            self._buffer += more
        raw, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(raw)
        if "method" in message:
            self.events.append(message)
        return message


@contextmanager
def browser() -> Iterator[Browser]:
    """Start one, and end it."""
    assert CHROMIUM is not None
    to_child, from_us = os.pipe()
    to_us, from_child = os.pipe()
    command = [CHROMIUM, *_FLAGS, *_QUIET]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # of children too
        # the protocol is spoken on the file descriptors 3 and 4
        shell = f'exec "$@" 3<&{to_child} 4>&{from_child}'
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command, f"--user-data-dir={profile}"],
            pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        try:
            yield Browser(to_us, from_us)
        finally:
            process.kill()
            process.wait()
