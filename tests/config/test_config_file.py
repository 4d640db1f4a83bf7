import math
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pbt.config
import pbt.presets
from mpi_es.config import command_line, config_file
from mpi_es.config.parts import flat, suited
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_policy

SCALARS = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text())
KINDS = {"mpi_es": (Config, PRESETS), "pbt": (pbt.config.Config, pbt.presets.PRESETS)}
EVERY = [(kind, presets, name) for kind, presets in KINDS.values() for name in presets]


@given(st.one_of(SCALARS, st.lists(SCALARS).map(tuple)))
def test_a_value_is_read_as_it_was_written(value):
    read = tomllib.loads(f"key = {config_file.toml(value)}")["key"]
    assert (tuple(read) if isinstance(value, tuple) else read) == value
    assert type(read) is (list if isinstance(value, tuple) else type(value))


def test_the_numbers_that_are_none_are_written_too():
    assert math.isnan(tomllib.loads(f"key = {config_file.toml(math.nan)}")["key"])


@pytest.mark.parametrize(("kind", "presets", "name"), EVERY, ids=[name for *_, name in EVERY])
def test_a_config_is_read_as_it_was_written(kind, presets, name, tmp_path):
    path = tmp_path / "config.toml"
    config = suited(kind, presets[name])
    path.write_text(config_file.text(config, ["a head"]), encoding="utf-8")
    file = config_file.read(str(path), kind, presets)
    assert command_line.parse([], kind(), presets, "program", file=file) == config


OWN = """
from dataclasses import dataclass
from mpi_es.strategies.base import StrategyOptions
class Search:
    @dataclass(frozen=True)
    class Options(StrategyOptions):
        speed: float = 1.0
        '''How fast,
        in metres.'''
"""


def test_options_of_a_strategy_of_the_user_are_read_as_they_were_written(tmp_path, monkeypatch):
    (tmp_path / "own_search.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    config = configured(strategy="own_search:Search", speed=2.0)
    assert parsed(tmp_path, config_file.text(config)) == config


@pytest.mark.parametrize("kind", [Config, pbt.config.Config])
def test_without_its_comment_sign_each_line_is_an_option(kind, tmp_path):
    path = tmp_path / "config.toml"
    lines = config_file.text(kind()).splitlines()
    path.write_text("\n".join(line.removeprefix("#") for line in lines if not line.startswith("# ")))
    file = config_file.read(str(path), kind, {})
    assert file.values == flat(kind())


def parsed(tmp_path, text, words="", default=None, presets=PRESETS):
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    file, rest = command_line.take_file([*words.split(), "--config", str(path)], Config, presets)
    with command_line.naming_file(file, rest, Config):
        config = command_line.parse(rest, default or configured(), presets, "program", file=file)
        make_policy(config)
        return config


def test_the_command_line_wins_over_the_file_and_the_file_over_a_preset(tmp_path):
    text = 'preset = "lunarlander"\npopulation_size = 10\nnum-rollouts = 2\n'
    config = parsed(tmp_path, text, "--num-rollouts 3")
    assert config.env == "mpi_es/LunarLander-v3"
    assert (config.strategy.population_size, config.num_rollouts) == (10, 3)
    assert parsed(tmp_path, text, "cartpole").env == "mpi_es/CartPole-v1"


def test_keys_are_all_names_of_an_option(tmp_path):
    config = parsed(
        tmp_path,
        'env_id = "Pendulum-v1"\nstrategy="pepg"\npopsize = 8\nlr = 1\ntarget-fitness = "None"',
        "cartpole",
    )
    strategy = config.strategy
    assert (config.env, strategy.population_size, strategy.learning_rate) == ("Pendulum-v1", 8, 1.0)
    assert config.target_fitness is None
    assert type(strategy.learning_rate) is float


def test_options_are_checked_together_not_one_by_one(tmp_path):
    text = "variable-ep-len = true\ncap-growth = 2.0\nepisode-cap = 5"
    with pytest.raises(UserError, match="cap-growth: expected 1 with --variable-ep-len"):
        parsed(tmp_path, text)
    assert parsed(tmp_path, text, "--no-variable-ep-len").cap_growth == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("stratgy = 'pepg'", "my.toml: stratgy: no option has this name; did you mean strategy?"),
        ("[strategy]\nname = 'pepg'", "my.toml: strategy: expected text, got {'name': 'pepg'}"),
        ("population-size = '8'", "my.toml: population-size: expected whole number ≥ 1, got '8'"),
        ("population_size = true", "my.toml: population_size: expected whole number ≥ 1, got True"),
        ("population_size = 0", "my.toml: population_size: expected a number ≥ 1"),
        ("sigma = -0.5", "my.toml: sigma: expected a number > 0, got -0.5"),
        ("obs-norm = 1", "my.toml: obs-norm: expected true or false, got 1"),
        ("hidden = 16", "my.toml: hidden: expected whole numbers in brackets, or nothing, got 16"),
        ("hidden = [16.5]", "my.toml: hidden: expected whole numbers in brackets, or nothing, got [16.5]"),
        ("hidden = [0]", "my.toml: hidden: expected widths above 0"),
        ("top-k = 3", "my.toml: top-k: expected to be left out with --policy mlp: it is an"),
        ("dispatch = 'both'", "my.toml: dispatch: expected one of auto, dynamic, static, got 'both'"),
        ("policy = 'mpl'", "my.toml: policy: expected one of attention, gru, lstm, mlp"),
        (
            "popsize = 8\npopulation-size = 9",
            "population-size: expected once, but popsize is the same option",
        ),
        (
            "preset = 'cartpool'",
            f"my.toml: preset: expected one of {len(PRESETS)} names, got 'cartpool'; did you mean 'cartpole'",
        ),
        ("preset = 3", f"my.toml: preset: expected one of {len(PRESETS)} names, got '3'"),
        ("preset = []", f"my.toml: preset: expected one of {len(PRESETS)} names, got '[]'"),
        ("seed == 1", "my.toml is not a TOML file: "),
    ],
)
def test_a_mistake_is_one_line_with_file_and_key(text, complaint, tmp_path):
    with pytest.raises(UserError) as caught:
        parsed(tmp_path, text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_command_line_where_that_is_wrong(tmp_path):
    with pytest.raises(UserError, match=r"^--population-size: expected a number ≥ 1"):
        parsed(tmp_path, "population_size = 9", "--population-size 0")


def test_a_file_that_cannot_be_read_is_reported(tmp_path):
    with pytest.raises(UserError, match=r"--config: cannot read .*none.toml \(No such file or directory\)"):
        config_file.read(str(tmp_path / "none.toml"), Config, PRESETS)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"--config: .*bytes.toml is not a TOML file: .*utf-8"):
        config_file.read(str(tmp_path / "bytes.toml"), Config, PRESETS)


def test_a_preset_cannot_replace_the_options_of_a_resumed_run(tmp_path):
    (tmp_path / "my.toml").write_text('preset = "cartpole"')
    with pytest.raises(UserError, match=r"my\.toml: preset: expected to be left out"):
        command_line.take_file(["--config", f"{tmp_path}/my.toml", "--resume=run"], Config, PRESETS)
