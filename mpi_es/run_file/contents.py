"""What a run file holds: which groups, arrays and attributes, of which type and shape given the config.

A rule is a function that returns what it expects, in words, of a value that does not obey it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import numpy as np

from mpi_es.config.fields import LARGEST
from mpi_es.errors import UserError
from mpi_es.run_file import description
from mpi_es.run_file.description import is_count, is_number
from mpi_es.run_file.hdf5 import Unfit
from mpi_es.run_file.records import Row, Timing

Rule = Callable[[Any], str]
Rules = Mapping[str, "Rule | Rules"]
LATEST = 1e12  # seconds, some 30,000 years: no run takes longer, and no clock shows a later time
_NOT_NEGATIVE = ("total", "ask", "evaluate", "tell", "save", "idle")  # of /timing


# Rules


def count(high: int = LARGEST) -> Rule:
    """Return the rule of a whole number from 0 to `high`."""
    rule = "a whole number of 0 or more" if high == LARGEST else f"a whole number from 0 to {high}"
    return lambda value: "" if is_count(value, high) else rule


def number(low: float = -math.inf, high: float = math.inf) -> Rule:
    """Return the rule of a number between two others."""
    return lambda value: "" if is_number(value, low, high) else f"a number in [{low:g}, {high:g}]"


def nan(value: Any) -> str:
    """Require the NaN of a fitness that is not known."""
    return "" if isinstance(value, float) and math.isnan(value) else "NaN"


def text(value: Any) -> str:
    """Require a text."""
    return "" if isinstance(value, str) else "a text"


def flag(value: Any) -> str:
    """Require a truth value."""
    return "" if isinstance(value, bool) else "true or false"


def array(kinds: str, *shape: int | None) -> Rule:
    """Return the rule of an array.

    Args:
        kinds: its possible types, such as "f4 f8".
        shape: None for any length.
    """
    types = [np.dtype(kind) for kind in kinds.split()]
    words = f"{' or '.join(map(str, types))} ({', '.join('any' if n is None else str(n) for n in shape)})"

    def rule(value: Any) -> str:
        fits = isinstance(value, np.ndarray) and value.dtype in types and len(value.shape) == len(shape)
        same = fits and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
        return "" if same else words

    return rule


def finite(kinds: str, *shape: int | None) -> Rule:
    """Return the rule of an array whose numbers are finite."""
    shaped = array(kinds, *shape)

    def rule(value: Any) -> str:
        return shaped(value) or ("" if np.isfinite(value).all() else "finite numbers")

    return rule


def between(low: float, high: float, kinds: str, *shape: int | None) -> Rule:
    """Return the rule of an array whose numbers are in an interval."""
    shaped = array(kinds, *shape)

    def rule(value: Any) -> str:
        if expected := shaped(value):
            return expected
        return "" if ((value >= low) & (value <= high)).all() else f"numbers in [{low:g}, {high:g}]"

    return rule


def check_group(group: Any, rules: Rules, path: str = "", optional: Sequence[str] = ()) -> None:
    """Refuse a group whose content does not obey its rules, or is more than they name."""
    if not isinstance(group, dict):
        raise Unfit(f"{path or '/'}: expected a group, got {shown(group)}")
    if extra := sorted(set(group) - set(rules)):
        raise Unfit(f"{path}/{_printable(extra[0])}: expected nothing of this name")
    for name, rule in rules.items():
        place = f"{path}/{name}"
        if name not in group:
            if name in optional:
                continue
            raise Unfit(
                f"{place}: expected {'a group' if isinstance(rule, Mapping) else 'a value'}, got none"
            )
        if isinstance(rule, Mapping):
            check_group(group[name], rule, place)
        elif expected := rule(group[name]):
            raise Unfit(f"{place}: expected {expected}, got {shown(group[name])}")


def any_group(value: Any) -> str:
    """Require a group, whatever is in it."""
    return "" if isinstance(value, dict) else "a group"


def texts(value: Any) -> str:
    """Require a group of texts."""
    fits = isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    return "" if fits else "a group of texts"


def shown(value: Any) -> str:
    """Return a value of a file as it is printed, on one line."""
    if isinstance(value, dict):
        return "a group"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return _printable(repr(value))


def _printable(name: str) -> str:
    return ascii(name)[1:-1][:100] if not name.isprintable() or len(name) > 100 else name


# A run of mpi_es.train


def check(content: dict[str, Any]) -> None:
    """Refuse a content that no run writes; of a population only what mpi_es.status reads is looked at."""
    if "members" in content:
        check_progress(content)
        return
    from mpi_es.config.run import Config  # the command line's parser, which status does not need

    config = config_of(Config, content)
    done = generation_of(content)
    seen = _length(content, "progress", "observations", "mean") if config.obs_norm else 0
    dim = _length(content, "last", "candidate")
    real = "f8" if config.function else "f4"
    agent = {"generation": count(done), "normalisation": finite("f8", 2, seen)}
    best, rules = _best(content, agent, real, dim), history_rules(done)
    check_group(
        content,
        {
            "config": any_group,
            "state": any_group,
            "progress": {
                "generation": count(),
                "episode_cap": count(),
                "num_rollouts": _episodes(config),
                "agreement": lambda value: nan(value) and number(-1, 1)(value),
                "observations": {
                    "count": number(1e-3, 1e300),
                    "mean": finite("f8", seen),
                    "squares": finite("f8", seen),
                },
            },
            "best": best,
            "last": {**agent, "fitness": nan, "candidate": finite(real, dim)},
            "history": rules,
            "timing": timing_rules(done),
            "evaluations": evaluation_rules(content, done),
            "libraries": texts,
            "life": LIFE,
            "problem": {name: array("f8", dim) for name in ("x0", "lower", "upper")},
        },
        optional=("life", "problem"),
    )
    if content["last"]["generation"] != done:
        raise Unfit("/last/generation: expected that of /progress")
    check_evaluations(content)


def _episodes(config: Any) -> Rule:
    """Return the rule of the number of episodes of each candidate in the next generation."""
    low, high = config.num_rollouts, config.num_rollouts_max or config.num_rollouts
    return lambda value: (
        "" if is_count(value, high) and value >= low else f"a whole number from {low} to {high}"
    )


def _best(content: dict[str, Any], agent: Rules, real: str, dim: int) -> Rules:
    """Return the rules of /best: an agent, or before the first held-out evaluation an empty one."""
    if _length(content, "best", "candidate") == 0:
        nobody = {"candidate": array("f4 f8", 0), "normalisation": array("f8", 2, 0)}
        return {**agent, **nobody, "fitness": number()}
    return {**agent, "candidate": finite(real, dim), "fitness": number()}


def _length(content: dict[str, Any], *path: str) -> int:
    """Return the length of an array (n,), which others are measured by."""
    value: Any = content
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if not isinstance(value, np.ndarray) or len(value.shape) != 1:
        raise Unfit(f"/{'/'.join(path)}: expected an array (any), got {shown(value)}")
    return len(value)


def config_of(cls: type, content: dict[str, Any]) -> Any:
    """Return the config of a content."""
    try:
        return description.config_of(cls, content.get("config"))
    except UserError as error:
        raise Unfit(f"/config: {error}") from error


def generation_of(content: dict[str, Any]) -> int:
    """Return how many generations are done."""
    progress = content.get("progress")
    value = progress.get("generation") if isinstance(progress, dict) else None
    if not is_count(value):
        raise Unfit(f"/progress/generation: expected a whole number of 0 or more, got {shown(value)}")
    return int(value)  # type: ignore[arg-type]


def history_rules(rows: int) -> dict[str, Rule]:
    """Return the rules of the columns of /history."""
    hints = get_type_hints(Row)
    most = LARGEST // max(rows, 1)  # so that sums are right
    columns: dict[str, Rule] = {}
    for field in fields(Row):
        columns[field.name] = between(0, most, "i8", rows) if hints[field.name] is int else array("f8", rows)
    return {**columns, "generation": _numbers_from_1(rows)}


def _numbers_from_1(rows: int) -> Rule:
    """Return the rule of a column with the numbers of the generations."""
    shaped = array("i8", rows)

    def rule(value: Any) -> str:
        if expected := shaped(value):
            return expected
        return "" if np.array_equal(value, np.arange(1, rows + 1)) else f"the numbers 1 to {rows}"

    return rule


def timing_rules(rows: int) -> dict[str, Rule]:
    """Return the rules of the columns of /timing."""
    rules = {field.name: finite("f8", rows) for field in fields(Timing)}
    return rules | {name: between(0, LATEST, "f8", rows) for name in _NOT_NEGATIVE}


def evaluation_rules(content: dict[str, Any], done: int) -> dict[str, Rule]:
    """Return the rules of /evaluations."""
    rows = _length(content, "evaluations", "generation")
    return {"generation": between(0, done, "i8", rows), "returns": array("f8", rows, None)}


def check_evaluations(content: dict[str, Any]) -> None:
    """Refuse held-out evaluations whose returns are not finite numbers, and then NaN in a shorter one."""
    returns = content["evaluations"]["returns"]
    known = ~np.isnan(returns)
    if len(returns) and not (returns.shape[1] and known[:, 0].all() and np.isfinite(returns[known]).all()):
        raise Unfit("/evaluations/returns: expected finite numbers, then NaN")


LIFE: Rules = {
    "saved": number(0, LATEST),
    "host": text,
    "job": text,
    "reason": text,
    "finished": flag,
}


# What mpi_es.status reads


def check_progress(content: dict[str, Any]) -> None:
    """Refuse a run or a population whose status cannot be printed."""
    done = generation_of(content)
    parts: dict[str, Any] = {}
    for name in ("config", "best", "timing"):
        parts[name] = content.get(name)
        if not isinstance(parts[name], dict):
            raise Unfit(f"/{name}: expected a group, got {shown(parts[name])}")
    options: dict[str, Rule] = {"max_iter": count(), "checkpoint_every": count()}
    optional: dict[str, Rule] = {"minimise": flag, "function": text}
    check_group(
        {name: value for name, value in parts["config"].items() if name in options | optional},
        options | optional,
        "/config",
        tuple(optional),
    )
    best = {"generation": count(done), "fitness": number()}
    check_group({name: parts["best"].get(name) for name in best}, best, "/best")
    if "members" in content:
        check_group(parts["timing"], {"seconds": between(0, LATEST, "f8", done)}, "/timing")
    else:
        check_group(parts["timing"], timing_rules(done), "/timing")
    if "life" in content:
        check_group(content["life"], LIFE, "/life")
