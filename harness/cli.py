"""The command `steadyframe`: arguments in, an exit code out, no logic of its own."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Sequence

from harness.arguments import make_parser, read
from harness.commands import COMMANDS
from harness.commands.exits import INTERRUPTED, OUR_BUG, USAGE
from harness.errors import SETUP, UsageError, shadowed
from harness.report.console import complain, give_up_stdout, prepare_streams, say

_DEPENDENCIES = (
    "av",
    "jinja2",
    "markupsafe",
    "memray",
    "msgspec",
    "numpy",
    "psutil",
    "rich",
    "torch",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    prepare_streams()
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        say("")  # flushes what else was printed
        return code
    except UsageError as error:
        complain(str(error))
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except OSError as error:
        # Of what is written, only the standard streams have no name.
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
            give_up_stdout()
            complain(f"cannot write to standard output ({error.strerror})")
            return USAGE
        traceback.print_exc()
        return OUR_BUG
    except Exception:
        traceback.print_exc()
        return OUR_BUG


def _dispatch(argv: Sequence[str]) -> int:
    options = read(make_parser(), argv)
    try:
        return COMMANDS[options.name].run(options)
    except ModuleNotFoundError as error:
        if error.name in _DEPENDENCIES:
            raise UsageError(f"{error.name} is not installed: {SETUP}") from error
        if hint := shadowed(error.name):
            raise UsageError(hint) from error
        raise
