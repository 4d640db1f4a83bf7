"""From the content of older run files to that of today's."""

from typing import Any

import numpy as np

from mpi_es.errors import UserError

_HISTORY = {"mean_fitness": "fitness_of_centre", "mean_rank": "rank_of_centre"}  # 1 -> 2
_AGENTS = {"scaling": "normalisation"}  # of /best and /last, 1 -> 2
_REMOVED = "removed"  # a group: the options of the run that there are no more, where they had an effect


def upgraded(content: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the content of a file of a format version in the names of today's."""
    if version == 1:
        _rename(content.get("history", {}), _HISTORY)
        for agent in ("best", "last"):
            _rename(content.get(agent, {}), _AGENTS)
        if raced := content.get("config", {}).pop("racing", 0):
            content[_REMOVED] = {"racing": raced}
    _add_starts(content)
    _add_agreement(content)
    return content


def upgraded_agent(content: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of an older file of mpi_es.export in the names of today's."""
    _rename(content, _AGENTS)
    return content


def check_resumable(content: dict[str, Any]) -> None:
    """Refuse to go on with a run that depends on an option that there is no more."""
    for name, value in content.get(_REMOVED, {}).items():
        raise UserError(
            f"run: expected one without --{name}, which was removed, got --{name} {value}; "
            "it can be evaluated and exported, not resumed"
        )


def _add_starts(content: dict[str, Any]) -> None:
    """Add the columns of /history that came with restarts, before which every run had one start."""
    history = content.get("history", {})
    if "elite" in history and "start" not in history:  # a run of mpi_es.train
        history["popsize"] = np.full_like(history["elite"], content["config"]["population_size"])
        history["start"] = np.zeros_like(history["elite"])


def _add_agreement(content: dict[str, Any]) -> None:
    """Add what came with --num-rollouts-max, before which the number of episodes was fixed."""
    history = content.get("history", {})
    if "elite" in history and "agreement" not in history:  # a run of mpi_es.train
        history["agreement"] = np.full(len(history["elite"]), np.nan)
    progress = content.get("progress", {})
    if "episode_cap" in progress and "num_rollouts" not in progress:
        progress["num_rollouts"] = content["config"]["num_rollouts"]
        progress["agreement"] = np.nan


def _rename(group: dict[str, Any], names: dict[str, str]) -> None:
    for old, new in names.items():
        if old in group:
            group[new] = group.pop(old)
