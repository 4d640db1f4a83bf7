import math
import os

import pytest

from mpi_es.config.fields import Of, option
from mpi_es.config.parts import changeable, every
from mpi_es.config.run import POLICIES, STRATEGIES, Config, configured
from mpi_es.errors import UserError


def test_what_changes_learning_cannot_be_changed():
    free = changeable(Config)
    assert {"max_iter", "eval_every", "num_eval_rollouts", "dispatch", "envs_per_rank"} <= free
    learnt = {"env", "policy", "hidden", "seed", "strategy", "population_size", "num_rollouts", "obs_norm"}
    assert not free & (learnt | {"episode_cap", "track_centre", "noise", "action_noise"})


def test_held_out_episodes_have_the_cap_unless_it_grows():
    assert configured(episode_cap=5).held_out_cap == 5
    assert configured(episode_cap=5, cap_growth=1.5).held_out_cap == 0


def test_marks_name_strategies_and_policies_that_exist():
    named = {"strategy": set(), "policy": set()}
    for mark in (mark for one in every(Config) for mark in one.marks):
        if isinstance(mark, Of) and mark.name in named:
            named[mark.name] |= set(mark.values)
    assert named["strategy"] <= set(STRATEGIES)
    assert named["policy"] <= set(POLICIES)


@pytest.mark.parametrize(
    "values",
    [
        {"strategy": "ga", "sigma_min": 0.2},
        {"strategy": "pepg", "lr_min": 0.02},
        {"strategy": "snes", "lr_min": 2.0},
    ],
)
def test_a_floor_above_the_start_is_refused(values):
    with pytest.raises(
        UserError,
        match=r"expected at most --(init-sigma 0.1|learning-rate 0.01|centre-learning-rate 1.0), got",
    ):
        configured(**values)


@pytest.mark.parametrize("bounds", [(1.0,), (1.0, -1.0), (0.0, math.nan), (-1.0, 0.0, 1.0)])
def test_rewards_are_clipped_to_a_lower_and_an_upper_bound(bounds):
    with pytest.raises(UserError, match=r"--clip-rewards: expected"):
        configured(clip_rewards=bounds)
    configured(clip_rewards=(-1.0, 1.0))


def test_a_name_that_no_file_can_hold_is_refused():
    with pytest.raises(UserError, match=r"--run-dir: expected UTF-8, got 'x\\udcff'"):
        configured(run_dir=os.fsdecode(b"x\xff"))
    configured(run_dir="Läufe/α\N{NO-BREAK SPACE}1")


@pytest.mark.parametrize(
    ("field", "value"),
    [("init_sigma", math.inf), ("seed", 2**63), ("max_iter", 0), ("target_fitness", math.nan)],
)
def test_numbers_that_no_run_can_have_are_refused(field, value):
    with pytest.raises(UserError, match=f"{option(field)}: expected a (finite )?number"):
        configured(**{field: value})


def test_the_directory_is_named_after_the_run_unless_it_is_given():
    assert configured(env="ALE/Pong-v5", seed=3).directory == "runs/ALE-Pong-v5-cma_es-3"
    assert configured(env="package.module:make").directory == "runs/package.module-make-cma_es-1143"
    assert configured(run_dir="here").directory == "here"
    assert configured(run_dir="here-{seed}", seed=7).directory == "here-7"
