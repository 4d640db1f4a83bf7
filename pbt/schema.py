"""The schema of a population's run file, given its config, and how members get their states from it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mpi_es.errors import UserError, expected, one_line
from mpi_es.run_file.hdf5 import Unfit
from mpi_es.run_file.rules import (
    Rule,
    any_group,
    array,
    between,
    check_group,
    count,
    finite,
    number,
    numbers,
    require,
    texts,
)
from mpi_es.run_file.run_status import LATEST
from mpi_es.run_file.schema import (
    LIFE,
    check_evaluations,
    config_of,
    evaluation_rules,
    generation_of,
)
from pbt.config import Config
from pbt.members.base import Member
from pbt.packing import State


def check(content: dict[str, Any]) -> None:
    """Refuse content that no run of pbt.train writes."""
    if "members" not in content:
        return  # a run of mpi_es.train, which the caller refuses
    config = config_of(Config, content)
    done, n = generation_of(content), config.num_agents
    names = _names(content)
    # Both groups are empty before the first held-out evaluation.
    chosen = names if isinstance(agent := content["best"].get("state"), dict) and agent else []
    check_group(
        content,
        {
            "config": any_group,
            "progress": {"generation": count()},
            "hyperparameters": dict.fromkeys(names, finite("f8", n)),
            "members": {name_of(index): state for index in range(min(n, len(content["members"]) + 1))},
            "best": {
                "generation": count(done),
                "member": count(n - 1),
                "fitness": number(),
                "state": state,
                "hyperparameters": dict.fromkeys(chosen, number(-1e300, 1e300)),
            },
            "history": _history(done, n, names),
            "timing": {"total": between(0, LATEST, "f8", done)},
            "evaluations": {
                **evaluation_rules(content, done),
                "member": between(0, n - 1, "i8", len(content["evaluations"]["generation"])),
            },
            "libraries": texts,
            "life": LIFE,
        },
    )
    check_evaluations(content)


def _history(done: int, n: int, names: list[str]) -> dict[str, Any]:
    """Return the rules of /history; before the first generation all of it is empty."""
    if not done:
        nothing: Rule = lambda value: "" if isinstance(value, np.ndarray) and 0 in value.shape else "nothing"  # noqa: E731
        columns = dict.fromkeys(("score", "length", "source"), nothing)
        return {**columns, "hyperparameters": dict.fromkeys(names, nothing)}
    return {
        "score": _scores(done, n),
        "length": array("f8", done, n),
        "source": between(0, n - 1, "i8", done, n),
        "hyperparameters": dict.fromkeys(names, finite("f8", done, n)),
    }


def _scores(done: int, n: int) -> Rule:
    """Return the rule of scores: at least one is finite in each generation; NaN marks a diverged member."""
    shaped = array("f8", done, n)

    def rule(value: Any) -> str:
        if words := shaped(value):
            return words
        known = np.isfinite(value)
        fits = known.any(axis=1).all() and np.isnan(value[~known]).all()
        return "" if fits else "a finite score in each generation"

    return rule


def name_of(index: int) -> str:
    """Return the group of a member in the run file."""
    return f"{index:04d}"


def _names(content: dict[str, Any]) -> list[str]:
    """Return the names of the hyperparameters."""
    columns = content.get("hyperparameters")
    if not isinstance(columns, dict) or not isinstance(content["members"], dict):
        raise Unfit("/hyperparameters, /members: expected groups")
    require("/best", content.get("best"), any_group)
    return sorted(columns)


def state(value: Any) -> str:
    """Require the state of a member: arrays, numbers and texts."""
    kinds = np.ndarray | bool | int | float | str
    fits = isinstance(value, dict) and all(isinstance(one, kinds) for one in value.values())
    return "" if fits else "a group of arrays, numbers and texts"


def check_names(stored: dict[str, Any], names: Sequence[str]) -> None:
    """Refuse a file whose hyperparameters differ from those that the config tunes."""
    if set(stored["hyperparameters"]) != set(names):
        raise expected("/hyperparameters", " ".join(sorted(names)) or "none", [*stored["hyperparameters"]])


def set_state(member: Member, stored: State) -> None:
    """Set a member's state from a file, or refuse it with an error on one line."""
    try:
        _check_shapes(member, stored)
        member.set_state(stored)
    except UserError:
        raise
    except Exception as error:
        text = f"member {member.index}: expected a state of {member.config.member}"
        raise UserError(f"{text}, got another: {one_line(error)}") from error


def _check_shapes(member: Member, stored: State) -> None:
    """Refuse arrays whose shapes differ from the member's; those of sb3 grow, and torch checks them."""
    if member.config.member == "sb3" or ":" in member.config.member:
        return
    for name, own in member.get_state().items():
        require(f"/members/{name_of(member.index)}/{name}", stored.get(name), numbers(np.shape(own)))
