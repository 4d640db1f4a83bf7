import numpy as np
import pytest
import torch

from mpi_es.errors import UserError
from mpi_es.scripts.arguments import config_of, refuse_without_effect


def evolve(callback=None, **options):
    """Only its signature matters."""


def config(options=(), evolved=(), **more):
    return config_of(evolve, dict(evolved), {}, dict(options), ("env", "run_dir"), **more)


def test_options_come_on_top_of_the_preset():
    made = config({"seed": np.int64(4)}, {"policy": "gru"}, preset="cartpole")
    assert (made.seed, made.policy.name, made.env) == (4, "gru", "mpi_es/CartPole-v1")
    assert config(preset="swimmer").run_dir == "runs/swimmer-{seed}"
    assert made.target_fitness == config(preset="cartpole").target_fitness is not None


def test_values_of_python_are_those_of_files():
    made = config({"env_options": {"g": 9.5, "name": "up", "n": "3"}, "hidden": (3, 4)})
    assert made.env_options == ("g=9.5", "name=up", "n='3'")
    assert made.policy.hidden == (3, 4)
    assert config({"target_fitness": torch.tensor(2.5)}).target_fitness == 2.5
    assert config({"env_options": ("g=9.5",)}).env_options == ("g=9.5",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env_options": {"a": np.zeros(2)}}, r"--env-options: expected names with plain values, got 'a=arr"),
        ({"env_options": {"a b": 1}}, "--env-options: expected names with plain values"),
        ({"hidden": "wide"}, "--hidden: expected whole numbers"),
        ({"popsize": 3}, "evolve: expected population_size, got 'popsize'"),
        ({"run_dir": "x"}, "evolve: expected one of .* names, got 'run_dir'"),
        ({"call_back": None}, "evolve: expected one of .* names, got 'call_back'; did you mean 'callback'"),
        (
            {"target_consecutive": 3},
            "target_consecutive: expected to be left out, .* without --target-fitness",
        ),
        ({"episode_seeds": "paired"}, "--episode-seeds: expected independent or common with cma_es"),
    ],
)
def test_what_is_wrong_is_named(options, message):
    with pytest.raises(UserError, match=message):
        config(options)


def test_names_must_be_text():
    with pytest.raises(UserError, match=r"--strategy: expected text, got 3"):
        config({}, {"strategy": 3})
    with pytest.raises(UserError, match=r"preset: expected one of .*; did you mean 'cartpole'"):
        config(preset="cartpol")


def test_an_option_without_effect_is_refused_with_the_reason():
    refuse_without_effect(["seed"], {"hidden": "without a policy"})
    with pytest.raises(UserError, match=r"hidden: expected to be left out, as it has no effect without"):
        refuse_without_effect(["hidden"], {"hidden": "without a policy"})
