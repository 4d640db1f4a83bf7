"""Ranks continue together, or raise the same exception."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import Comm, bcast_object, gather_objects, share_rows

T = TypeVar("T")


def on_root(comm: Comm, decision: Callable[[], Any]) -> Any:
    """Return on every rank what rank 0 returns, or raise on every rank what it raises. Collective."""
    outcome: tuple[Any, BaseException | None] = (None, None)
    if comm.rank == 0:
        try:
            outcome = (decision(), None)
        except (UserError, RolloutError, SystemExit) as error:
            complaint = type(error)(*error.args)
            vars(complaint).update(vars(error))  # the x of a RolloutError
            outcome = (None, complaint)
    value, complaint = bcast_object(comm, outcome)
    if complaint is not None:
        raise complaint
    return value


def plan_on_root(comm: Comm, decision: Callable[[], Any]) -> tuple[Any, Any]:
    """Return rank 0's plan, which stays there (None elsewhere), and on every rank its config. Collective."""
    plans: list[Any] = [None]

    def config() -> bytes:
        plans[0] = decision()
        return pickle.dumps(plans[0].config)

    text = on_root(comm, config)
    # It may have the options of a user's class, which each rank imports.
    shared = all_or_raise(comm, lambda: plans[0].config if comm.rank == 0 else pickle.loads(text))
    return plans[0], shared


def all_or_raise(comm: Comm, attempt: Callable[[], T], kinds: Sequence[type[Exception]] = (UserError,)) -> T:
    """Return this rank's result of `attempt`, or raise on all ranks what any of them raised. Collective.

    Args:
        kinds: the exceptions that are shared, from the mildest to the worst. All ranks raise the worst kind
            that any of them raised, with the text of the first rank that raised it.
    """
    if comm.size == 1:
        return attempt()
    outcome, text, value = 0, "", None  # 0: the attempt succeeded; n: it raised the n-th kind
    try:
        value = attempt()
    except tuple(kinds) as error:
        outcome = max(place for place, kind in enumerate(kinds, 1) if isinstance(error, kind))
        text = str(error)
    worst = int(share_rows(comm, np.array([[outcome]]), [1] * comm.size).max())
    if worst:
        texts = gather_objects(comm, text if outcome == worst else "") or []
        raise kinds[worst - 1](bcast_object(comm, next(filter(None, texts), "")))
    return cast(T, value)
