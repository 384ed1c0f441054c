"""A headless Chromium to look at pages with, spoken to over its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PATIENCE_S = 60.0


class Browser:
    """One tab. `errors` are exceptions and console errors, `requests` the addresses asked for."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer = b""
        self._number = 0
        self._loaded = False
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session = None

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """One command to the tab, and its answer."""
        return self._call(method, values)

    def show(
        self, width: int, height: int = 900, *, dark: bool = False, paper: bool = False
    ) -> None:
        """The window in CSS pixels, what its reader prefers, and whether it is to be printed."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme], media="print" if paper else "")

    def open(self, page: Path) -> float:
        """Load a page from its file; seconds until its scripts have run."""
        self._loaded = False
        started = time.monotonic()
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait_for_load()
        return time.monotonic() - started

    def wait_for_load(self) -> None:
        """Until the page that was asked for has run its scripts."""
        while not self._loaded:
            self._take(self._read())
        self._loaded = False
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def click(self, selector: str) -> None:
        """Click on the first element that matches, and wait for the page that it leads to."""
        self._loaded = False
        self.ask(f"document.querySelector({json.dumps(selector)}).click()")
        self.wait_for_load()

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
            userGesture=True,
        )  # fmt: skip
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """The whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def _call(self, method: str, values: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": values}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
            self._take(answer)

    def _take(self, event: dict[str, Any]) -> None:
        values = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Runtime.exceptionThrown":
                self.errors.append(str(values["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if values["type"] in ("error", "warning", "assert"):
                self.errors.append(str(values["args"]))
            case "Log.entryAdded" if values["entry"]["level"] in ("error", "warning"):
                self.errors.append(values["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(values["request"]["url"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], PATIENCE_S)
            assert readable, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser is gone"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, ended with the context."""
    assert CHROMIUM is not None
    for_it, to_it = os.pipe()
    from_it, by_it = os.pipe()
    options = (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    )  # fmt: skip

    # It reads from descriptor 3 and writes to 4: a shell can place them, whatever ours are.
    placed = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
    child = subprocess.Popen(
        ["bash", "-c", placed, "bash", str(for_it), str(by_it), CHROMIUM, *options],
        pass_fds=(for_it, by_it),
        stderr=subprocess.DEVNULL,
    )
    os.close(for_it)
    os.close(by_it)
    try:
        yield Browser(to_it, from_it)
    finally:
        with suppress(OSError):  # it may be gone already
            os.write(to_it, b'{"id": 0, "method": "Browser.close"}\0')
        try:
            child.wait(PATIENCE_S)
        finally:
            child.kill()
        os.close(to_it)
        os.close(from_it)
