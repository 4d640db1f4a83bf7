"""The order of the parameters in a file that does not name it: found by driving the agent with each order."""

from dataclasses import replace
from typing import Any

import numpy as np

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.run import Config, default
from mpi_es.errors import UserError, expected
from mpi_es.evaluation.build import make_evaluator, make_policy
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.papers.parameter_order import LAYOUTS, to_torch
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.policies.base import Shapes
from mpi_es.strategies.base import Dense

_EXPORTS = "--from-layout of mpi_es.export"
_EPISODES = 4
# Options of a run that a drive does not need.
_UNUSED: dict[str, Any] = {"held_out_env_options": (), "evaluation_timeout": 0.0}
# Mean returns. The published weights score 900, and 6 in the wrong order. The best of 1200 random agents,
# 400 of them with weights as large as the published ones, scored 26.
_DRIVES, _LOST = 200.0, 50.0


def recognised(numbers: Candidate, shapes: Shapes, config: Config, option: str) -> str:
    """Return the layout with which an attention agent drives;
    refuse the file if it drives with neither or both.

    Args:
        config: of the agent.
        option: the one that named the file.
    """
    if config.policy.name != "attention":
        rule = f"torch or paper for an npz file of --policy {config.policy.name}"
        raise expected(f"--layout ({_EXPORTS})", rule, config.layout)
    # Of the environment's options, only the one that changes the number of actions.
    kept = tuple(word for word in config.env_options if word.partition("=")[0] == "continuous")
    alone = replace(
        config,
        env="mpi_es/CarRacing-v3",
        env_options=kept,
        strategy=default("strategy", "cma_es"),
        **_UNUSED,
    )
    if (dim := make_policy(alone).dim) != len(numbers):
        hint = f"an agent for it has {dim}; give --layout ({_EXPORTS})"
        raise expected(option, "parameters whose order driving on CarRacing can show", len(numbers), hint)
    returns = _returns(np.stack([to_torch(numbers, shapes, layout) for layout in LAYOUTS]), alone)
    found = int(returns.argmax())
    if returns[found] < _DRIVES or returns[1 - found] > _LOST:
        scores = ", ".join(f"{score:.0f} in {name}'s" for name, score in zip(LAYOUTS, returns, strict=True))
        raise UserError(
            f"{option}: no order of the parameters clearly drives ({scores}); give --layout ({_EXPORTS})"
        )
    return LAYOUTS[found]


def _returns(candidates: Candidate, config: Config) -> Vector:
    """Return the mean return of each candidate (2, dim)."""
    evaluator = make_evaluator(SerialComm(), config, StopFlag())
    seeds = np.tile(np.arange(_EPISODES), (len(candidates), 1))
    evaluation = evaluator.evaluate(Dense(candidates.astype(float)), seeds, EpisodeRules(early_stop=20))
    evaluator.close_environments()
    returns: Vector = evaluation.returns.mean(axis=1)
    return returns
