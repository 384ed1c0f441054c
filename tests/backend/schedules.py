"""The reference backend with one of its two threads held up; opened in a child by test_schedule.

A thread that sleeps would pass for one that has nothing to do: they are kept busy, without the
interpreter lock, so that the other one goes on meanwhile.
"""

import zlib

from backend.inference import Inference
from backend.reference import TorchBackend

_MEGABYTES = bytes(16 << 20)
"""several milliseconds of work: more than the rest of a burst of small frames takes"""
_serve, _submit = Inference.serve, TorchBackend._submit


def open_frames_first(**options):
    """No inference begins before all frames that find a request are submitted."""
    Inference.serve = _serve_late
    return TorchBackend(**options)


def open_results_first(**options):
    """Each frame's inference is over before the next frame is submitted."""
    TorchBackend._submit = _submit_and_wait
    return TorchBackend(**options)


def _serve_late(inference, request, *, propagate):
    zlib.crc32(_MEGABYTES)
    _serve(inference, request, propagate=propagate)


def _submit_and_wait(backend, request):
    _submit(backend, request)
    backend.flush()
