import re

import pytest

from mpi_es.config import command_line
from mpi_es.config.declared import groups
from mpi_es.config.help import WIDTH, topic_of
from mpi_es.config.parts import declared
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError
from pbt.config import Config as PopulationConfig
from pbt.presets import PRESETS as POPULATIONS

CONFIGS = {Config: PRESETS, PopulationConfig: POPULATIONS}
SCREEN = 40  # lines


def shown(capsys, *words, config=None, presets=PRESETS):
    """Return what --help prints."""
    with pytest.raises(SystemExit) as end:
        command_line.parse(
            words,
            config or configured(),
            presets,
            "program",
            "--resume RUN continues.",
            [("command", "meaning")],
            minutes={"hopper": 4},
        )
    assert end.value.code == 0
    return capsys.readouterr().out


def test_help_begins_with_usage_and_examples_and_fits_a_screen(capsys):
    out = shown(capsys, "--help")
    assert out.startswith("usage: program [PRESET] [options]\n")
    assert "  command\n      meaning\n" in out
    assert "--resume RUN continues." in out
    assert out.count("\n") < 2 * SCREEN


@pytest.mark.parametrize(
    ("cls", "topic"),
    [(cls, group.name) for cls in CONFIGS for group in groups(declared(cls).values())],
    ids=str,
)
def test_a_group_fits_a_screen(capsys, cls, topic):
    out = shown(capsys, "--help", topic, config=cls(), presets=CONFIGS[cls])
    assert out.count("\n") <= SCREEN
    assert max(map(len, out.splitlines())) <= WIDTH


def test_help_on_an_option_has_names_values_default_and_meaning(capsys):
    assert shown(capsys, "--help", "popsize") == shown(capsys, "--help", "population-size")
    out = shown(capsys, "--help", "population-size")
    assert out.startswith(
        "  --population-size, --n, --popsize  whole number ≥ 1  (default: 32)\n      Number of"
    )


def test_help_after_a_preset_has_its_values_too(capsys):
    out = shown(capsys, "carracing-fast", "--help", "strategy")
    assert "(default: 32; carracing-fast: 64)" in " ".join(out.split())
    assert "(default: cma_es; carracing-fast: snes)" in out
    assert "(default: 2000)" in out


@pytest.mark.parametrize("cls", CONFIGS)
def test_help_on_presets_is_a_line_for_each(capsys, cls):
    lines = shown(capsys, "--help", "presets", config=cls(), presets=CONFIGS[cls]).splitlines()
    assert [line.split()[0] for line in lines[lines.index("") + 1 :]] == list(CONFIGS[cls])
    assert max(map(len, lines)) <= WIDTH


def test_help_on_presets_has_what_they_train_and_need_and_the_minutes(capsys):
    out = shown(capsys, "--help", "presets")
    assert re.search("^cartpole +mlp on CartPole-v1, cma_es$", out, re.MULTILINE)
    assert re.search("^carracing-fast-exp5 +only the controller on CarRacing-v3, cma_es$", out, re.MULTILINE)
    assert re.search(r"^hopper +mlp on Hopper-v5, cma_es, \[envs\], 4 min$", out, re.MULTILINE)


def test_help_on_a_preset_has_its_options(capsys):
    lines = shown(capsys, "--help", "cartpole").splitlines()
    assert lines[0].startswith("cartpole = --env mpi_es/CartPole-v1 --hidden 16 --init-sigma 0.3")
    assert lines[-1] == "for strategies that have them: --learning-rate 0.1"


def test_help_on_all_has_every_option(capsys):
    out = shown(capsys, "--help", "all")
    assert all(f"  --{name.replace('_', '-')}" in out for name in declared(Config))


def test_help_on_what_is_nothing_proposes_what_is_near():
    with pytest.raises(UserError, match="got 'episode'; did you mean 'episodes'"):
        command_line.parse(["--help", "episode"], configured(), PRESETS, "program")


def test_the_topic_is_the_word_after_help():
    assert topic_of(["--seed", "1"]) is None
    assert topic_of(["--help", "--seed", "1"]) == ""
    assert topic_of(["cartpole", "-h", "run"]) == "run"


@pytest.mark.parametrize("cls", CONFIGS)
def test_every_option_is_in_one_group_whose_name_is_its_own(cls):
    found = groups(declared(cls).values())
    assert [one.name for group in found.values() for one in group] == list(declared(cls))
    names = {group.name for group in found}
    assert len(names) == len(found)
    assert not {"a", "the", "all", "presets", ""} & names
