"""The schema of a run file: its groups, arrays and attributes, with types and shapes given the config."""

from typing import Any, get_type_hints

import numpy as np

from mpi_es.config.fields import LARGEST
from mpi_es.errors import UserError
from mpi_es.run_file import description
from mpi_es.run_file.hdf5 import Unfit
from mpi_es.run_file.observations import ObservationStatistics
from mpi_es.run_file.records import Feasibility, Progress, Row, Solution, Timing
from mpi_es.run_file.rules import (
    Rule,
    Rules,
    any_group,
    array,
    between,
    check_group,
    count,
    described,
    finite,
    flag,
    nan,
    number,
    of_record,
    require,
    text,
    texts,
)
from mpi_es.run_file.run_status import LATEST, Life

LIFE = of_record(Life)


def check(content: dict[str, Any]) -> None:
    """Refuse content that no run writes; of a population, check only what mpi_es.status reads."""
    if "members" in content:
        check_progress(content)
        return
    from mpi_es.config.run import Config  # the command line's parser, which status does not need

    config = config_of(Config, content)
    done = generation_of(content)
    seen = _length(content, "progress", "observations", "mean") if config.normalises else 0
    dim = _length(content, "last", "candidate")
    candidate = finite("f8" if config.function else "f4", dim)
    normalisation = finite("f8", 2, seen)
    agent = of_record(Solution, candidate=candidate, normalisation=normalisation)
    best: Rules = {**agent, "generation": count(done)}
    if _length(content, "best", "candidate") == 0:  # before the first held-out evaluation
        best = {**best, "candidate": array("f4 f8", 0), "normalisation": array("f8", 2, 0)}
    of_constraints: Rules = {}
    if config.constraints:
        known = {"of_best": array("f8", config.constraints), "lagrangian": any_group}
        of_constraints = {"constraints": {**_columns(Feasibility, done), **known}}
    sums = finite("f8", seen)
    observations = of_record(ObservationStatistics, mean=sums, squares=sums)
    check_group(
        content,
        {
            "config": any_group,
            "state": any_group,
            "progress": of_record(Progress, observations=observations),
            "best": best,
            "last": {**agent, "generation": count(done, done), "fitness": nan},
            "history": {**_columns(Row, done), "generation": _numbers_from_1(done)},
            "timing": dict.fromkeys(get_type_hints(Timing), between(0, LATEST, "f8", done)),
            "evaluations": evaluation_rules(content, done),
            "libraries": texts,
            "life": LIFE,
            "problem": {**dict.fromkeys(("x0", "lower", "upper", "scale"), array("f8", dim)), "exact": flag},
            "module": {"buffers": text},
            "failure": {"x": array("f8", dim), "text": text},
            **of_constraints,
        },
        optional=("problem", "module", "failure"),
    )
    check_evaluations(content)


def _length(content: dict[str, Any], *path: str) -> int:
    """Return the length of an array (n,), on which other shapes depend."""
    value: Any = content
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise Unfit(f"/{'/'.join(path)}: expected an array (any), got {described(value)}")
    return len(value)


def config_of(cls: type, content: dict[str, Any]) -> Any:
    """Return the config in a file's content."""
    try:
        return description.config_of(cls, content.get("config"))
    except UserError as error:
        raise Unfit(f"/config: {error}") from error


def generation_of(content: dict[str, Any]) -> int:
    """Return how many generations are done."""
    progress = content.get("progress")
    value: Any = progress.get("generation") if isinstance(progress, dict) else None
    require("/progress/generation", value, count())
    return int(value)


def _columns(record: type, rows: int) -> dict[str, Rule]:
    """Return the rules of the columns of a table of records."""
    most = LARGEST // max(rows, 1)  # so that sums do not overflow
    kinds: dict[Any, Rule] = {int: between(0, most, "i8", rows), float: array("f8", rows)}
    return {name: kinds[hint] for name, hint in get_type_hints(record).items()}


def _numbers_from_1(rows: int) -> Rule:
    """Return the rule of a column with the numbers of the generations."""
    shaped = array("i8", rows)

    def rule(value: Any) -> str:
        if words := shaped(value):
            return words
        return "" if np.array_equal(value, np.arange(1, rows + 1)) else f"the numbers 1 to {rows}"

    return rule


def evaluation_rules(content: dict[str, Any], done: int) -> dict[str, Rule]:
    """Return the rules of /evaluations."""
    rows = _length(content, "evaluations", "generation")
    return {
        "generation": between(0, done, "i8", rows),
        "returns": array("f8", rows, None),
        "failures": between(0, 2**62, "i8", rows),
    }


def check_evaluations(content: dict[str, Any]) -> None:
    """Refuse held-out evaluations whose returns are not finite numbers, followed by NaN in shorter ones."""
    returns, failures = (content["evaluations"][name] for name in ("returns", "failures"))
    known = ~np.isnan(returns)
    ends = (known[:, 1:] <= known[:, :-1]).all() and np.isfinite(returns[known]).all()
    if not (ends and (known.any(axis=1) | (failures > 0)).all()):
        raise Unfit("/evaluations/returns: expected finite numbers, then NaN")


def check_progress(content: dict[str, Any]) -> None:
    """Refuse a run or a population whose status cannot be printed."""
    done = generation_of(content)
    for name in ("config", "best", "timing", "life"):
        require(f"/{name}", content.get(name), any_group)
    options: dict[str, Rule] = {"max_iter": count()}
    optional: dict[str, Rule] = {"minimise": flag, "function": text}
    check_group(
        {name: value for name, value in content["config"].items() if name in options | optional},
        options | optional,
        "/config",
        tuple(optional),
    )
    best = {"generation": count(done), "fitness": number()}
    check_group({name: content["best"].get(name) for name in best}, best, "/best")
    timing, seconds = content["timing"], between(0, LATEST, "f8", done)
    require("/timing/total", timing.get("total"), seconds)
    if "steps_per_second" in timing:  # a population has none
        require("/timing/steps_per_second", timing["steps_per_second"], seconds)
    check_group(content["life"], LIFE, "/life")
    if "constraints" in content:
        constraints = content["constraints"]
        require("/constraints", constraints, any_group)
        require("/constraints/of_best", constraints.get("of_best"), array("f8", None))
