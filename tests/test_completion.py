"""Completing commands, presets and options on Tab, as each shell that is there does it."""

import re
import shutil

import pytest

from mpi_es.completion import SHELLS, main, script
from mpi_es.config.parts import every
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config
from mpi_es.errors import UserError
from tests.launching import call

ASK = """
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_mpi_es
printf '%s\\n' "${COMPREPLY[@]}"
"""


def answers(*words):
    """Return what bash offers for the last of a command line's words."""
    done = call("bash", "-c", script("bash") + ASK, "bash", "mpi-es", *words, check=True)
    assert done.stderr == ""
    return done.stdout.split()


OFFERED = pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["tr"], ["train"]),
        (["pbt", "re"], ["report", "replay"]),
        (["train", "cartp"], ["cartpole"]),
        (["train", "cartpole", "--pop"], ["--popsize", "--popsize-max", "--population-size"]),
        (["train", "--no-tr"], ["--no-track-centre"]),
        (["train", "--resu"], ["--resume"]),
        (["pbt", "train", "big"], ["bigfish", "bigfish-bfloat16"]),
        (["pbt", "train", "toy", "--gen"], ["--generations"]),
        (["pbt", "replay", "--e"], ["--episodes"]),
        (["evaluate", "--vid"], ["--video"]),
        (["status", "--fin"], ["--finished"]),
        (["completion", "f"], ["fish"]),
        (["train", "cartpole", "--dispatch", "s"], ["static"]),
        (["train", "--seed", "1", "--strategy", "op"], ["openai_es"]),
        (["train", "cartpole", "cart"], []),  # files, by the shell itself
        (["nothing", "--a"], []),
    ],
    ids=" ".join,
)


@OFFERED
def test_bash_offers(words, offered):
    assert sorted(answers(*words)) == sorted(offered)


@OFFERED
@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_offers(words, offered, tmp_path):
    asked = f"{script('fish')}\ncomplete -C '{' '.join(['mpi-es', *words])}'"
    done = call("fish", "--no-config", "-c", asked, cwd=tmp_path, check=True)
    assert sorted(done.stdout.split()) == sorted(offered)


def test_bash_offers_all_commands_and_presets():
    commands = ["train", "evaluate", "report", "export", "status", "doctor", "pbt", "completion"]
    assert answers("") == commands
    assert answers("train", "") == list(PRESETS)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_the_script(shell):
    words = set(re.findall(r"[\w-]+", script(shell)))
    for option in every(Config):
        for name in option.names:
            wanted = name.replace("--", "--no-", 1) if option.default is True else name
            assert wanted in words


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_reads_its_script(shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = call(shell, "-n", input=script(shell))
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell_is_refused(capsys):
    assert main(["bsh"]) == 2
    assert capsys.readouterr().err == (
        "error: SHELL: expected one of bash, fish, zsh, got 'bsh'; did you mean 'bash'?\n"
    )
    with pytest.raises(UserError, match="got ''"):
        script("")
