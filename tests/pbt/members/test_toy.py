"""The paper's figure 2, in numbers."""

from dataclasses import replace

import numpy as np
import pytest

from pbt.presets import preset
from tests.pbt.runs import run

TOY = preset("toy")
SETTINGS = {
    "pbt": TOY,
    "explore only": replace(TOY, copy="nothing"),
    "exploit only": replace(TOY, explore="none"),
    "grid search": replace(TOY, selection="none"),
}


def best_at_the_end(setting, seed):
    return run(replace(SETTINGS[setting], seed=seed)).record.lineage.stacked("score")[-1].max()


@pytest.mark.parametrize(
    ("setting", "low", "high"),
    [
        ("pbt", 1.1999, 1.2),
        ("explore only", 1.1977, 1.1999),
        ("exploit only", 1.1997, 1.2),
        ("grid search", 0.38, 0.40),
    ],
)
def test_the_best_score_at_step_200_is_that_of_the_papers_figure(setting, low, high):
    reached = [best_at_the_end(setting, seed) for seed in range(10)]
    assert low <= min(reached)
    assert max(reached) <= high


def test_exploration_leaves_the_winner_alone_and_changes_the_loser():
    lineage = run(replace(TOY, seed=1)).record.lineage
    values, source = lineage.stacked("hyperparameters"), lineage.stacked("source")
    for generation in range(len(source) - 1):
        moved = (values[generation + 1] != values[generation]).any(axis=1)
        assert moved.tolist() == (source[generation] != np.arange(2)).tolist()


def test_the_loser_copies_theta_and_keeps_its_own_weights():
    done = run(replace(TOY, max_iter=1, explore="none"))
    one, other = done.population.members.values()
    assert one.theta.tolist() == other.theta.tolist()
    assert (one.hyperparameters, other.hyperparameters) == ({"h0": 1, "h1": 0}, {"h0": 0, "h1": 0.1})
