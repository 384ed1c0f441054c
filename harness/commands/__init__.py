"""The commands, one in each file.

Nothing heavy is imported at the top of any: `--help`, and every mistake in the arguments, must
answer at once, and also where nothing else is installed.
"""

from __future__ import annotations

from harness.commands import (
    completion,
    doctor,
    gate,
    init,
    inject,
    listing,
    report,
    selftest,
    verify,
    watch,
)
from harness.commands.command import Command

COMMANDS: dict[str, Command] = {
    "verify": verify.COMMAND,
    "gate": gate.COMMAND,
    "report": report.COMMAND,
    "inject": inject.COMMAND,
    "selftest": selftest.COMMAND,
    "list": listing.COMMAND,
    "watch": watch.COMMAND,
    "init": init.COMMAND,
    "doctor": doctor.COMMAND,
    "completion": completion.COMMAND,
}
