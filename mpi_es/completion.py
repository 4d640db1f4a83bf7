"""mpi-es completion bash|zsh|fish: print a script that completes commands on Tab in that shell.

The words are read here, once, from the commands' own tables; completion itself starts no Python.
"""

import shlex
import sys

from mpi_es.__main__ import COMMANDS, words_after
from mpi_es.config.fields import off
from mpi_es.config.parts import every, parts_of
from mpi_es.config.user_objects import load
from mpi_es.errors import UserError, unknown

_HELP = "mpi-es completion bash|zsh|fish: print a script that completes commands on Tab in that shell."
_BASH = """\
# For this shell: source <(mpi-es completion bash); for all shells, add that line to ~/.bashrc.
_mpi_es() {
    local words='' word=${COMP_WORDS[COMP_CWORD]}
    case "${COMP_WORDS[*]:1:$((COMP_CWORD - 1))}/${word:0:1}" in
CASES
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
# Without a match, complete file names.
complete -o default -F _mpi_es mpi-es
"""
_ZSH = """\
# For this shell, after compinit: source <(mpi-es completion zsh); for all shells, add that line to ~/.zshrc.
autoload -Uz bashcompinit && bashcompinit
"""
_FISH = """\
# For this shell: mpi-es completion fish | source; for all, write it to
# ~/.config/fish/completions/mpi-es.fish.
function __mpi_es
    set -l before (commandline -opc)
    set -l first (string sub -l 1 -- (commandline -ct))
    switch "$before[2..]/$first"
CASES
        case '*'
            __fish_complete_path (commandline -ct)
    end
end
complete -c mpi-es -f -a '(__mpi_es)'
"""
SHELLS = {"bash": _BASH, "zsh": _ZSH + _BASH.partition("\n")[2], "fish": _FISH}


def offers() -> dict[str, list[str]]:
    """Return the completions of a line, by pattern; the first pattern that matches counts.

    A pattern matches the words before the last one, a slash, and the first letter of the last one.
    """
    found: dict[str, list[str]] = {}
    for name, command in COMMANDS.items():
        flags = ["--help", *command.more]
        if command.options:
            kind = load("COMMAND", command.options)
            named = {flag: tuple(part.places) for flag, part in parts_of(kind).items()}
            for one in every(kind):
                # Of a flag, only the name that changes the default.
                flags += map(off, one.names) if one.default is True else one.names
                if choices := named.get(one.name, one.choices):
                    found |= {f"{name} *{each}/*": list(choices) for each in one.names}
        found[f"{name}*/-"] = flags
        if command.presets:
            found[f"{name}/*"] = list(load("COMMAND", command.presets))
    return found | {"pbt/*": words_after(["pbt"]), "/*": words_after([])}


def script(shell: str) -> str:
    """Return the completion script of a shell."""
    if shell not in SHELLS:
        raise unknown("SHELL", shell, SHELLS)
    lines = []
    for pattern, words in offers().items():
        if shell == "fish":
            lines.append(
                f"        case '{pattern}'\n            string split ' ' -- {shlex.quote(' '.join(words))}"
            )
        else:
            lines.append(
                f"        {pattern.replace(' ', chr(92) + ' ')}) words={shlex.quote(' '.join(words))} ;;"
            )
    return SHELLS[shell].replace("CASES", "\n".join(lines))


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
