"""mpi-es completion bash|zsh|fish: print the script with which that shell completes commands on Tab.

The words are read from the commands' own tables, once, here: completing starts no Python.
"""

import importlib
import shlex
import sys
from collections.abc import Callable
from typing import Any

from mpi_es.__main__ import COMMANDS, Command, words_after
from mpi_es.config.parts import every
from mpi_es.errors import UserError, unknown

_HELP = "mpi-es completion bash|zsh|fish: print the script with which that shell completes commands on Tab."
_BASH = """\
# For this shell: source <(mpi-es completion bash); for all, put that line into ~/.bashrc.
_mpi_es() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} first=2
    local options='' presets='' words=''
    if ((COMP_CWORD > 1)) && [[ $command == pbt ]]; then
        command="pbt ${COMP_WORDS[2]-}" first=3
    fi
    if ((COMP_CWORD == 1)); then
        words=%(commands)s
    elif ((COMP_CWORD < first)); then
        words=%(pbt_commands)s
    else
        case $command in
%(cases)s
        esac
        if [[ $word == -* ]]; then
            words=$options
        elif ((COMP_CWORD == first)); then
            words=$presets
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
# Where nothing fits, files are completed.
complete -o default -F _mpi_es mpi-es
"""
_ZSH = """\
#compdef mpi-es
# For this shell, after compinit: source <(mpi-es completion zsh); for all, put that line into ~/.zshrc.
_mpi_es() {
    local command=$words[2] first=3
    local -a options presets
    if ((CURRENT == 2)); then
        compadd -- %(commands)s
        return
    fi
    if [[ $command == pbt ]]; then
        if ((CURRENT == 3)); then
            compadd -- %(pbt_commands)s
            return
        fi
        command="pbt $words[3]" first=4
    fi
    case $command in
%(cases)s
    esac
    if [[ $PREFIX == -* ]]; then
        compadd -- $options
    else
        ((CURRENT == first)) && compadd -- $presets
        _files
    fi
}
compdef _mpi_es mpi-es
"""
_FISH = """\
# For this shell: mpi-es completion fish | source; for all, into ~/.config/fish/completions/mpi-es.fish.
function __mpi_es_begins  # whether the words before the cursor begin with these
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end
function __mpi_es_is  # whether they are these
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"
end
complete -c mpi-es -n __mpi_es_is -f -a %(commands)s
complete -c mpi-es -n '__mpi_es_is pbt' -f -a %(pbt_commands)s
%(cases)s
"""


def options_of(command: Command) -> list[str]:
    """Return all options of a command; a flag as the one of its two names that changes the default."""
    words = ["--help", *command.more]
    if command.options:
        for one in every(_named(command.options)):
            words += [name.replace("--", "--no-", 1) if one.default is True else name for name in one.names]
    return words


def presets_of(command: Command) -> list[str]:
    """Return what a command's first argument may name."""
    return list(_named(command.presets)) if command.presets else []


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _bash_case(name: str, options: list[str], presets: list[str]) -> str:
    words = f"options={shlex.quote(' '.join(options))} presets={shlex.quote(' '.join(presets))}"
    return f"            {shlex.quote(name)}) {words} ;;"


def _zsh_case(name: str, options: list[str], presets: list[str]) -> str:
    return f"        ({shlex.quote(name)}) options=({' '.join(options)}) presets=({' '.join(presets)}) ;;"


def _fish_case(name: str, options: list[str], presets: list[str]) -> str:
    lines = [f"complete -c mpi-es -n '__mpi_es_is {name}' -a {shlex.quote(' '.join(presets))}"]
    begin = f"complete -c mpi-es -n '__mpi_es_begins {name}' -l"
    return "\n".join([*(lines if presets else []), *(f"{begin} {word.lstrip('-')}" for word in options)])


_Case = Callable[[str, list[str], list[str]], str]
SHELLS: dict[
    str, tuple[str, _Case, Callable[[str], str]]
] = {  # the script, a command's part, a list of words
    "bash": (_BASH, _bash_case, shlex.quote),
    "zsh": (_ZSH, _zsh_case, str),
    "fish": (_FISH, _fish_case, shlex.quote),
}


def script(shell: str) -> str:
    """Return the script of a shell."""
    if shell not in SHELLS:
        raise unknown("SHELL", shell, SHELLS)
    text, case, listed = SHELLS[shell]
    cases = [case(name, options_of(one), presets_of(one)) for name, one in COMMANDS.items()]
    return text % {
        "commands": listed(" ".join(words_after([]))),
        "pbt_commands": listed(" ".join(words_after(["pbt"]))),
        "cases": "\n".join(cases),
    }


def main(arguments: list[str]) -> int:
    """Print the script, and return the exit code."""
    if {"--help", "-h"} & set(arguments):
        print(_HELP)
        return 0
    try:
        print(script(" ".join(arguments)), end="")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
