"""Completion for fish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.completion.words import Described, Option, Value

_HEAD = """\
# fish completion of steadyframe. For this shell: steadyframe completion fish | source
complete -c steadyframe -e
complete -c steadyframe -f
"""
_PLACES = {
    "file": "-F",
    "folder": "-a '(__fish_complete_directories)'",
    "command": "-a '(__fish_complete_command)'",
}


def script(root: Described, commands: Sequence[Described]) -> str:
    """The script."""
    return _HEAD + "".join(f"complete -c steadyframe {line}\n" for line in _lines(root, commands))


def _lines(root: Described, commands: Sequence[Described]) -> Iterator[str]:
    first = "-n __fish_use_subcommand"
    for option in root.options:
        yield f"{first} {_option(option)}"
    for command in commands:
        yield f"{first} -a {command.name} -d {_quoted(command.help)}"
        its = f"-n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            yield f"{its} {_option(option)}"
        if command.operand is not None:
            yield f"{its} {_value(command.operand)}"


def _option(option: Option) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    # fish knows of one value only; a second is completed as any file.
    value = option.values[0] if option.values else None
    # -x: a value, and no file for it.
    takes = () if value is None else ("-r" if value.place == "file" else "-x", _value(value))
    return " ".join((*names, *filter(None, takes), "-d", _quoted(option.help)))


def _value(value: Value) -> str:
    words = f"-a '{' '.join(value.words)}'" if value.words else ""
    return " ".join(filter(None, (words, _PLACES.get(value.place, ""))))


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
