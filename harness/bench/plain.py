"""Drive a backend with nothing measured: what peers run under."""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from backend.protocol import Backend
from harness import adapt
from harness.adapters import FunctionBackend, is_module
from harness.names import METHODS
from harness.plan import plan_steps
from harness.source import FrameSource, synthetic_source
from harness.spoiled import spoiled_source
from harness.workload import Workload


class Plain:
    """A backend and its frames, which are prepared beforehand; a cycle is open to close."""

    def __init__(
        self,
        target: str,
        text: str,
        options: Mapping[str, Any] | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """`options` are the factory's. `whole` adds to each cycle what `verify` does besides: an
        instance that is fed bad frames between good ones, and one that is closed in full flight."""
        workload = Workload.parse(text)
        factory = adapt.load(target)
        formats = getattr(factory, "formats", None) or ("rgb24",)
        self._open = _opener(factory, options or {})
        self._whole = whole
        self._source = synthetic_source(workload, str(formats[0]), 0)
        self._spoiled = spoiled_source(self._source.frame(0), 0)
        steps = plan_steps(workload, 0, str(formats[0]))
        self._bursts = [range(step.first, step.last + 1) for step in steps]

    def cycle(self) -> None:
        """Open to close: each burst of frames submitted, and the results taken that are there."""
        backend = self.open()
        self._good(backend)
        backend.close()
        del backend
        if self._whole:
            self._bad_cycle()
            self._early_close()

    def open(self) -> Backend:
        """An instance of the backend."""
        return self._open()

    def feed(self, backend: Backend) -> None:
        """The frames of a cycle, to an instance that stays open."""
        self._good(backend)
        if self._whole:
            self._bad(backend)

    def _good(self, backend: Backend) -> None:
        for burst in self._bursts:
            _submit(backend, self._source, burst)
            _drain(backend)
        backend.flush()
        _drain(backend)

    def _bad(self, backend: Backend) -> None:
        """What a bad frame raises is nobody's business here, nor is what comes after it."""
        for number in range(len(self._spoiled)):
            with contextlib.suppress(Exception):
                backend.execute(self._spoiled.frame(number))
            with contextlib.suppress(Exception):
                _drain(backend)
        for end in (backend.flush, lambda: _drain(backend)):
            with contextlib.suppress(Exception):
                end()

    def _bad_cycle(self) -> None:
        backend = self.open()
        self._bad(backend)
        with contextlib.suppress(Exception):
            backend.close()

    def _early_close(self) -> None:
        backend = self.open()
        nireq = getattr(backend, "nireq", 1)
        least = nireq if isinstance(nireq, int) else 1
        burst = max(least, *(len(burst) for burst in self._bursts))
        _submit(backend, self._source, range(min(burst, len(self._source))))
        backend.close()


def _opener(factory: Callable[..., Any], options: Mapping[str, Any]) -> Callable[[], Backend]:
    """What opens the backend. To look at a signature leaves garbage, which is none of the
    backend's and which some tools would name: of what is plain beforehand, none is looked at."""
    if isinstance(factory, type) and not is_module(factory):
        if all(callable(getattr(factory, method, None)) for method in METHODS):
            return lambda: factory(**options)
        return lambda: FunctionBackend(factory(**options))
    if inspect.isfunction(factory) and list(inspect.signature(factory).parameters) == ["frame"]:
        return lambda: FunctionBackend(factory)
    return lambda: adapt.open_backend(factory, options)


def _submit(backend: Backend, source: FrameSource, numbers: range) -> None:
    for number in numbers:
        backend.execute(source.frame(number))


def _drain(backend: Backend) -> None:
    while backend.get_result() is not None:
        pass


def main(target: str, text: str, cycles: int, options: str = "{}", *also: str) -> float:
    """All cycles of a workload, and the seconds of that; `whole` may follow the factory's options,
    which are JSON."""
    plain = Plain(target, text, json.loads(options), whole="whole" in also)
    started = time.perf_counter()
    for _ in range(cycles):
        plain.cycle()
    return time.perf_counter() - started


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
