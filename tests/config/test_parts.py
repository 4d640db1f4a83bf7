import shlex

import pytest

from mpi_es.config import command_line
from mpi_es.config.parts import as_options, changed, declared, every, flat, given, stands_for, suited
from mpi_es.config.presets import PRESETS, preset
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError

OWN = "tests.strategies.user_strategies:BestQuarter"


def test_options_of_all_parts_lie_side_by_side():
    values = flat(configured(strategy="snes", policy="lstm"))
    assert (values["strategy"], values["policy"], values["hidden"]) == ("snes", "lstm", (16,))
    assert {"centre_learning_rate", "activation", "seed"} <= values.keys()
    assert not {"cma_variant", "top_k", "name"} & values.keys()
    assert suited(Config, values) == configured(strategy="snes", policy="lstm")


def test_an_option_of_another_part_is_refused_with_its_owners():
    rule = "expected to be left out with --strategy snes: it is an option of openai_es or pepg or snes"
    with pytest.raises(UserError, match=rule.replace("snes: it", "cma_es: it")):
        configured(lr_decay=0.5)
    with pytest.raises(UserError, match="--lr-decai: no option has this name"):
        configured(lr_decai=0.5)


def test_what_is_given_stays_where_another_strategy_has_it_too():
    config = configured(strategy="pepg", init_sigma=0.3, learning_rate=0.5)
    assert given(changed(config, strategy="snes")).items() >= {"strategy": "snes", "init_sigma": 0.3}.items()
    assert changed(config, strategy="openai_es").strategy.learning_rate == 0.5
    assert changed(config, policy="attention").policy.hidden == (16,)  # the agent's own default


def test_code_of_the_user_s_own_is_imported_only_where_it_may_be():
    assert suited(Config, {"strategy": "nowhere:Search"}, imports=False).strategy.name == "nowhere:Search"
    with pytest.raises(UserError, match="--strategy: expected a module that can be imported"):
        suited(Config, {"strategy": "nowhere:Search"})
    assert configured(strategy=OWN, noise_rank=3).strategy.noise_rank == 3


def test_every_option_is_declared_once_for_each_name():
    names = [one.name for one in every(Config)]
    assert len(names) == len(set(names))
    assert declared(Config).keys() < set(names)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_options_that_it_stands_for(name):
    words = shlex.split(stands_for(Config, PRESETS[name])[0])
    assert command_line.parse(words, configured(), {}, "test") == preset(name)


def test_a_preset_has_options_for_other_strategies_beside_its_own():
    words = stands_for(Config, {"strategy": "snes", "cma_variant": "separable", "seed": 2, "max_iter": 2000})
    assert words == ("--env CartPole-v1 --seed 2 --strategy snes", "--cma-variant separable")


def test_the_environment_is_written_even_with_its_default_but_not_for_a_function():
    assert as_options(configured()) == ["--env", "CartPole-v1"]
    assert as_options(configured(function="m:f")) == ["--function", "m:f"]
