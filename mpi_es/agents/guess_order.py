"""The order of the numbers in a file that does not tell it: the agent is driven with both."""

from dataclasses import replace
from typing import Any

import numpy as np

from mpi_es.agents.parameter_order import LAYOUTS, Shapes, to_torch
from mpi_es.arrays import Candidate, Vector
from mpi_es.config.run import Config
from mpi_es.envs import CAR_RACING
from mpi_es.errors import UserError, expected
from mpi_es.evaluation.build import make_evaluator, make_policy
from mpi_es.evaluation.rollout import Terms
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.strategies.base import Dense

_EXPORTS = "--from-layout of mpi_es.export"
_EPISODES = 4
# What a run may have that a drive has no use for.
_ALONE: dict[str, Any] = {"held_out_env_options": (), "strategy": "cma_es", "evaluation_timeout": 0.0}
# Mean returns. The published weights come to 900, in the wrong order to 6; of 1200 drawn ones, among them
# 400 as large as the published, the best came to 26.
_DRIVES, _LOST = 200.0, 50.0


def recognised(numbers: Candidate, shapes: Shapes, config: Config, option: str) -> str:
    """Return the layout with which an attention agent drives; refuse where neither or both do.

    Args:
        config: of the agent.
        option: that named the file.
    """
    if config.policy != "attention":
        rule = f"torch or paper for an npz file of --policy {config.policy}"
        raise expected(f"--layout ({_EXPORTS})", rule, config.layout)
    alone = replace(config, env=CAR_RACING["fast"], env_options=_kind(config), **_ALONE)
    if (dim := make_policy(alone).dim) != len(numbers):
        hint = f"an agent that drives has {dim}; give --layout ({_EXPORTS})"
        raise expected(option, "numbers whose order shows on CarRacing", len(numbers), hint)
    returns = _returns(np.stack([to_torch(numbers, shapes, layout) for layout in LAYOUTS]), alone)
    found = int(returns.argmax())
    if returns[found] < _DRIVES or returns[1 - found] > _LOST:
        scores = ", ".join(f"{score:.0f} in {name}'s" for name, score in zip(LAYOUTS, returns, strict=True))
        raise UserError(
            f"{option}: the order of the numbers does not show ({scores}); give --layout ({_EXPORTS})"
        )
    return LAYOUTS[found]


def _kind(config: Config) -> tuple[str, ...]:
    """Return the environment's options on which the number of actions depends."""
    return tuple(word for word in config.env_options if word.partition("=")[0] == "continuous")


def _returns(candidates: Candidate, config: Config) -> Vector:
    """Return the mean return of each candidate (2, dim)."""
    evaluator = make_evaluator(SerialComm(), config, StopFlag())
    seeds = np.tile(np.arange(_EPISODES), (len(candidates), 1))
    evaluation = evaluator.evaluate(Dense(candidates.astype(float)), seeds, Terms(early_stop=20))
    returns: Vector = evaluation.returns.mean(axis=1)
    return returns
