"""Reports on disk: whole or not at all, and known to be writable before anything is measured."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from harness.errors import UsageError


def check_writable(path: Path) -> None:
    """Raise a UsageError if a report could not be written to `path`.

    A run may take minutes: it must not end with a result that has nowhere to go.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder: name a file in it")
        if path.exists() and not os.access(path, os.W_OK):
            raise UsageError(f"{path} is write-protected: choose another file")
        if _is_replaceable(path):
            partial = _partial(path)
            partial.touch()
            partial.unlink()
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error


def write(path: Path, text: str) -> None:
    """Write `text` to `path` so that a reader finds the old file or the new one, never a part."""
    try:
        if not _is_replaceable(path):
            path.write_text(text, encoding="utf-8")
            return
        partial = _partial(path)
        try:
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, path.resolve())
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes that ask for the same folder waiting, while the context is open."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        # A file system without locks has its files replaced whole all the same.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def append(path: Path, text: str) -> None:
    """Add `text` to the end of `path`, for a file that others add to as well."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _unwritable(path, error) from error


def _is_replaceable(path: Path) -> bool:
    """Whether `path` is, or will be, a plain file: a pipe or a device must be written in place."""
    return path.is_file() or not path.exists()


def _partial(path: Path) -> Path:
    """A file beside the real one, links followed: a rename is atomic in one file system only."""
    real = path.resolve()
    return real.with_name(f".{real.name}.{os.getpid()}.partial")


def _unwritable(path: Path, error: OSError | ValueError) -> UsageError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UsageError(f"cannot write {path} ({reason}): choose another file or make its folder")
