"""From the content of older run files to that of today's."""

from typing import Any

from mpi_es.errors import UserError

_HISTORY = {"mean_fitness": "fitness_of_centre", "mean_rank": "rank_of_centre"}  # 1 -> 2
_AGENTS = {"scaling": "normalisation"}  # of /best and /last, 1 -> 2


def upgraded(content: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the content of a file of a format version in the names of today's."""
    if version == 1:
        _rename(content.get("history", {}), _HISTORY)
        for agent in ("best", "last"):
            _rename(content.get(agent, {}), _AGENTS)
        if content.get("config", {}).pop("racing", 0):
            raise UserError("run: expected one without --racing, which mpi_es 0.2 no longer has")
    return content


def _rename(group: dict[str, Any], names: dict[str, str]) -> None:
    for old, new in names.items():
        if old in group:
            group[new] = group.pop(old)
