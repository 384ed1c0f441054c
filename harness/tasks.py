"""The threads of this process as the kernel lists them, and what it says of each."""

from __future__ import annotations

import ctypes
import os

FOLDER = "/proc/self/task"

# os.listdir takes 32 KiB from malloc for a moment. While it has them, a thread of the backend's
# that reads the heap (harness.instruments.lines) would take them for its own line's.
_getdents = ctypes.CDLL(None, use_errno=True).getdents64
_getdents.restype = ctypes.c_ssize_t
_getdents.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_ENTRIES = bytearray(32768)
_ENTRIES_AT = ctypes.addressof(ctypes.c_char.from_buffer(_ENTRIES))
_LENGTH_AT = 16
"""where a directory entry of the kernel's has its length; then follow its type and its name"""
_NAME_AT = 19


def tasks() -> list[bytes]:
    """The numbers of all threads of this process."""
    names = []
    folder = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while (filled := _getdents(folder, _ENTRIES_AT, len(_ENTRIES))) > 0:
            at = 0
            while at < filled:
                name = ctypes.string_at(_ENTRIES_AT + at + _NAME_AT)
                if not name.startswith(b"."):
                    names.append(name)
                at += int.from_bytes(_ENTRIES[at + _LENGTH_AT : at + _LENGTH_AT + 2], "little")
    finally:
        os.close(folder)
    return names


def state(task: bytes) -> bytes:
    """The kernel's letter for what a thread does; nothing once it has ended."""
    text = read(task, b"stat")
    # The name, in parentheses, may itself hold spaces and parentheses.
    return text[text.rindex(b")") + 2 :][:1] if text else b""


def read(task: bytes, name: bytes) -> bytes:
    """A short file of a thread's; nothing if the thread has ended since it was listed."""
    try:
        descriptor = os.open(b"/proc/self/task/%b/%b" % (task, name), os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        return os.read(descriptor, 512)
    except ProcessLookupError:
        return b""
    finally:
        os.close(descriptor)
