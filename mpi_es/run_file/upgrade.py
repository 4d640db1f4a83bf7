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
        config = content.get("config")
        if isinstance(config, dict) and type(raced := config.get("racing")) is int:
            del config["racing"]
            content |= {_REMOVED: {"racing": raced}} if raced else {}
    _add_starts(content)
    _add_agreement(content)
    _add_learning_rate(content)
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
    elite = history.get("elite") if isinstance(history, dict) else None
    if isinstance(elite, np.ndarray) and "start" not in history:  # a run of mpi_es.train
        history["popsize"] = np.full_like(elite, content["config"]["population_size"])
        history["start"] = np.zeros_like(elite)


def _add_agreement(content: dict[str, Any]) -> None:
    """Add what came with --num-rollouts-max, before which the number of episodes was fixed."""
    history, progress, config = (content.get(name, {}) for name in ("history", "progress", "config"))
    elite = history.get("elite") if isinstance(history, dict) else None
    if isinstance(elite, np.ndarray) and "agreement" not in history:  # a run of mpi_es.train
        history["agreement"] = np.full(len(elite), np.nan)
    if not isinstance(progress, dict) or not isinstance(config, dict):
        return
    if "episode_cap" in progress and "num_rollouts" in config and "num_rollouts" not in progress:
        progress |= {"num_rollouts": config["num_rollouts"], "agreement": np.nan}


def _add_learning_rate(content: dict[str, Any]) -> None:
    """Add SNES's learning rate of the centre, which was 1 before it was an option."""
    config, state = content.get("config"), content.get("state")
    if isinstance(config, dict) and config.get("strategy") == "snes" and isinstance(state, dict):
        own = state.get("inner", state)  # of restarts
        if isinstance(own, dict) and "centre" in own:
            own.setdefault("learning_rate", 1.0)


def _rename(group: Any, names: dict[str, str]) -> None:
    for old, new in names.items():
        if isinstance(group, dict) and old in group:
            group[new] = group.pop(old)
