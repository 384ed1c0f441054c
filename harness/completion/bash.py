"""Completion for bash, without the bash-completion package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.completion.words import Described, Value

_HEAD = """\
# bash completion of steadyframe. For this shell: source <(steadyframe completion bash)
_steadyframe() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local two_before= command= words= place= word
    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} two_before=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
    # bash takes --option=value for three words.
    if [[ $current == = ]]; then
        current=
        [[ $before == -* ]] || return
    elif [[ $before == = ]]; then
        before=$two_before
        [[ $before == -* ]] || return
    fi
"""
_TAIL = """\
    mapfile -t COMPREPLY < <(
        compgen -W "$words" -- "$current"
        case $place in
            folder) compgen -d -- "$current" ;;
            file) compgen -f -- "$current" ;;
            command) compgen -c -f -- "$current" ;;
        esac
    )
    [[ -z $place || $place == command ]] || compopt -o filenames 2>/dev/null
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _steadyframe steadyframe
"""


def script(root: Described, commands: Sequence[Described]) -> str:
    """The script."""
    return "".join((_HEAD, *_values(commands), *_operands(root, commands), _TAIL))


def _values(commands: Sequence[Described]) -> Iterator[str]:
    """Where the word before the current one is an option that takes a value."""
    yield "    case $command:$before in\n"
    for command in commands:
        for option in command.options:
            for value in option.values[:1]:
                names = "|".join(f"{command.name}:{name}" for name in option.names)
                yield f"        {names}) {_set(value)} ;;\n"
    yield "        *) ! : ;;\n    esac || case $command:$two_before in\n"
    for command in commands:
        for option in command.options:
            for value in option.values[1:]:
                names = "|".join(f"{command.name}:{name}" for name in option.names)
                yield f"        {names}) {_set(value)} ;;\n"
    yield "        *) ! : ;;\n"


def _operands(root: Described, commands: Sequence[Described]) -> Iterator[str]:
    """Anywhere else: options, and what stands alone."""
    every = " ".join((*(command.name for command in commands), *_names(root)))
    yield f"    esac || case $command in\n        '') words='{every}' ;;\n"
    for command in commands:
        names, operand = " ".join(_names(command)), command.operand
        yield f"        {command.name})\n"
        if operand is None:
            yield f"            words='{names}'\n"
        elif operand.place == "command":
            yield f"            words='{names}'\n"
            yield '            for word in "${COMP_WORDS[@]:2:COMP_CWORD - 2}"; do\n'
            yield "                [[ $word != -- ]] || words= place=command\n            done\n"
        else:
            yield f"            if [[ $current == -* ]]; then words='{names}'\n"
            yield f"            else {_set(operand)}; fi\n"
        yield "            ;;\n"
    yield "    esac\n"


def _names(described: Described) -> list[str]:
    return [name for option in described.options for name in option.names]


def _set(value: Value) -> str:
    words = f"words='{' '.join(value.words)}'" if value.words else ""
    place = f"place={value.place}" if value.place else ""
    return " ".join(filter(None, (words, place))) or ":"
