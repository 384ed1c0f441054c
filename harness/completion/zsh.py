"""Completion for zsh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.completion.words import Described, Option, Value

_HEAD = """\
#compdef steadyframe
# zsh completion of steadyframe. For this shell, after compinit:
#   source <(steadyframe completion zsh)
# For all: steadyframe completion zsh > FOLDER/_steadyframe, with a folder of $fpath.
"""
_TAIL = """\
    esac
}
if [[ $funcstack[1] == _steadyframe ]]; then
    _steadyframe "$@"
else
    compdef _steadyframe steadyframe
fi
"""
_PLACES = {"file": "_files", "folder": "_files -/", "command": " _normal"}


def script(root: Described, commands: Sequence[Described]) -> str:
    """The script."""
    return "".join((_HEAD, *_targets(commands), *_before(root, commands), *_after(commands), _TAIL))


def _targets(commands: Sequence[Described]) -> Iterator[str]:
    """A function for each operand that is either a word or a file."""
    for command in commands:
        if (operand := command.operand) and operand.words and operand.place:
            yield f"_steadyframe_{command.name}() {{\n    _alternative "
            yield f"'words:{operand.name}:({' '.join(operand.words)})' "
            yield f"'places:{operand.place}:{_PLACES[operand.place]}'\n}}\n"


def _before(root: Described, commands: Sequence[Described]) -> Iterator[str]:
    yield "_steadyframe() {\n    local context state state_descr line\n    typeset -A opt_args\n"
    yield "    local -a commands=(\n"
    yield from (f"        {_quoted(f'{each.name}:{each.help}')}\n" for each in commands)
    yield "    )\n    _arguments -C \\\n"
    yield from (f"        {spec} \\\n" for option in root.options for spec in _specs(option))
    yield "        '1:command:->command' '*::argument:->argument'\n"
    yield "    case $state in\n        command) _describe command commands; return ;;\n"
    yield "        argument) ;;\n        *) return ;;\n    esac\n"


def _after(commands: Sequence[Described]) -> Iterator[str]:
    yield "    case $words[1] in\n"
    for command in commands:
        specs = [spec for option in command.options for spec in _specs(option)]
        if (operand := command.operand) is not None:
            both = operand.words and operand.place
            action = f"_steadyframe_{command.name}" if both else _action(operand)
            position = "*:" if operand.place == "command" else "1"
            specs.append(_quoted(f"{position}:{operand.name}:{action}"))
        yield f"        {command.name}) _arguments -S \\\n"
        yield " \\\n".join(f"            {spec}" for spec in specs) + " ;;\n"


def _specs(option: Option) -> Iterator[str]:
    values = "".join(f":{value.name}:{_action(value)}" for value in option.values)
    about = "".join(f"\\{c}" if c in "[]:\\" else c for c in option.help)
    for name in option.names:
        one = "=" if len(option.values) == 1 and name.startswith("--") else ""
        yield _quoted(f"{'*' * option.repeatable}{name}{one}[{about}]{values}")


def _action(value: Value) -> str:
    return f"({' '.join(value.words)})" if value.words else _PLACES.get(value.place, " ")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
