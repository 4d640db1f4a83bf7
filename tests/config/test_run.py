import math
import os

import pytest

from mpi_es.config.fields import Of, changeable, marks, option
from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.policies import REGISTRY
from mpi_es.strategies import STRATEGIES


def test_what_changes_learning_cannot_be_changed():
    free = changeable(Config)
    assert {"max_iter", "eval_every", "num_eval_rollouts", "dispatch", "envs_per_rank"} <= free
    learnt = {"env", "policy", "hidden", "seed", "strategy", "population_size", "num_rollouts", "obs_norm"}
    assert not free & (learnt | {"episode_cap", "track_mean", "noise_table", "action_noise"})


def test_marks_name_strategies_and_policies_that_exist():
    named = {"strategy": set(), "policy": set()}
    for mark in (mark for of_field in marks(Config).values() for mark in of_field):
        if isinstance(mark, Of) and mark.name in named:
            named[mark.name] |= set(mark.values)
    assert named["strategy"] <= set(STRATEGIES)
    assert named["policy"] <= set(REGISTRY)


@pytest.mark.parametrize(
    "values", [{"sigma_min": 0.2}, {"lr_min": 0.02}, {"strategy": "snes", "lr_min": 2.0}]
)
def test_a_floor_above_the_start_is_refused(values):
    with pytest.raises(
        UserError,
        match=r"expected at most --(init-sigma 0.1|learning-rate 0.01|centre-learning-rate 1.0), got",
    ):
        Config(**values)


@pytest.mark.parametrize("bounds", [(1.0,), (1.0, -1.0), (0.0, math.nan), (-1.0, 0.0, 1.0)])
def test_rewards_are_clipped_to_a_lower_and_an_upper_bound(bounds):
    with pytest.raises(UserError, match=r"--clip-rewards: expected"):
        Config(clip_rewards=bounds)
    Config(clip_rewards=(-1.0, 1.0))


def test_a_name_that_no_file_can_hold_is_refused():
    with pytest.raises(UserError, match=r"--run-dir: expected UTF-8, got 'x\\udcff'"):
        Config(run_dir=os.fsdecode(b"x\xff"))
    Config(run_dir="Läufe/α\N{NO-BREAK SPACE}1")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("init_sigma", math.inf),
        ("learning_rate", math.nan),
        ("seed", 2**63),
        ("max_iter", 0),
        ("target_fitness", math.nan),
    ],
)
def test_numbers_that_no_run_can_have_are_refused(field, value):
    with pytest.raises(UserError, match=f"{option(field)}: expected a (finite )?number"):
        Config(**{field: value})


def test_the_directory_is_named_after_the_run_unless_it_is_given():
    assert Config(env="ALE/Pong-v5", seed=3).directory == "runs/ALE-Pong-v5-cma_es-3"
    assert Config(env="package.module:make").directory == "runs/package.module-make-cma_es-1143"
    assert Config(run_dir="here").directory == "here"
    assert Config(run_dir="here-{seed}", seed=7).directory == "here-7"
