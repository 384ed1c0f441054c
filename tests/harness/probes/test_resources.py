"""The ledger of what a process holds, at moments that are hard to read."""

from __future__ import annotations

import subprocess

from harness.probes import resources


def children_of(process: subprocess.Popen[bytes]) -> list[tuple[str, str]]:
    listed = resources.snapshot()["children"]
    return [(c.name, c.detail) for c in listed if f"process {process.pid}:" in c.detail]


def test_child_that_begins_has_its_own_name_already() -> None:
    for _ in range(20):  # without the wait for its exec, more than half of them bear this one's
        with subprocess.Popen(["sleep", "60"]) as process:
            try:
                assert children_of(process) == [("sleep", f"process {process.pid}: sleep 60")]
            finally:
                process.kill()


def test_child_without_a_command_is_called_that() -> None:
    with subprocess.Popen([""], executable="/bin/cat", stdin=subprocess.PIPE) as process:
        assert children_of(process) == [("cat", f"process {process.pid}: without a command")]


def test_child_that_nobody_waited_for_has_ended() -> None:
    with subprocess.Popen(["true"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()
        while (seen := children_of(process)) == [("true", f"process {process.pid}: true")]:
            pass
        assert seen == [("true", f"process {process.pid}: ended, not waited for")]
