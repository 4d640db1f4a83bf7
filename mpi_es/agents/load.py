"""Read a trained agent from a run, a run file, or an npz file of parameters."""

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.agents.agent import Agent
from mpi_es.arrays import Candidate, Vector
from mpi_es.config.parts import changed, flat
from mpi_es.config.presets import preset
from mpi_es.config.run import Config
from mpi_es.errors import UserError, expected, one_line, warn
from mpi_es.evaluation.build import make_policy
from mpi_es.evaluation.script_objects import NONE, ScriptObjects
from mpi_es.papers.parameter_order import LAYOUTS, to_torch
from mpi_es.policies.base import Policy
from mpi_es.run_file import checkpoint, description, imports
from mpi_es.run_file.observations import COUNTS, ObservationStatistics

Arrays = dict[str, NDArray[Any]]
# The agent of arXiv:2003.08165, whose weights others have published.
_PLACE = ("env", "env_options", "held_out_env_options")
_ATTENTION = ("query_dim", "bias", "patch_size", "stride", "top_k", "patch_order")
_CONTROLLER = ("output", "hidden", "controller", "num_frames")
_FIELDS = (*_PLACE, *_ATTENTION, *_CONTROLLER)
_PAPERS = {name: flat(preset("carracing"))[name] for name in _FIELDS}


@dataclass(frozen=True)
class Place:
    """What the caller replaces in the config of a file's agent."""

    changes: dict[str, Any] = field(default_factory=dict)  # fields of the config
    objects: ScriptObjects = NONE  # of a script, to which names in the config refer
    allow_imports: bool = True  # whether to import code that the file names

    def agent(self, stored: Config, source: object, size: int) -> tuple[Config, Policy]:
        """Return the config and the policy of a file's agent, which has `size` parameters.

        Args:
            source: the file, for errors.
        """
        fields = [name for name in imports.AGENT if name not in self.changes]
        imports.check(stored, source, allowed=self.allow_imports, fields=fields)
        device = "cpu" if stored.device == "cpu" else "auto"  # this machine may not have the run's GPU
        config = replace(stored, device=device, **self.changes)
        policy = make_policy(config, objects=self.objects)
        if self.changes and policy.dim != size:
            rule = f"an environment whose policy has the {size} parameters of this one"
            raise expected("--env", rule, f"{config.env} with {policy.dim}")
        return config, policy


OWN = Place()


def load(name: str, config: Config | None, option: str, place: Place = OWN) -> Agent:
    """Return the agent of a run directory, a run file or an npz file.

    Args:
        config: for a file of bare parameters, unless their number is that of the paper's agent; None: refuse
            such a file.
        option: the one that named the file.
    """
    path = Path(name)
    check_there(name, option)
    if is_run(path):
        return _best_of_run(path, option, place)
    return _of_file(path, config, option, place)


def is_run(path: Path) -> bool:
    """Return whether a path names a run's directory or file; else it is an npz file."""
    return path.is_dir() or path.suffix == ".h5"


def check_there(name: str, option: str) -> None:
    """Refuse a path that does not exist."""
    if not os.path.exists(name):  # pathlib's exists raises if a directory cannot be read
        raise expected(option, "a run or an npz file", name, "it does not exist or cannot be read")


def _best_of_run(path: Path, option: str, place: Place) -> Agent:
    """Return the best agent of a run."""
    content = content_of(path)
    if content["best"]["candidate"].size == 0:
        hint = "python -m mpi_es.export RUN --candidate last writes the last centre into a file"
        raise expected(option, "a run with a held-out evaluation", str(path), hint)
    return of_run(content, "best", str(path), place)


def content_of(path: Path) -> dict[str, Any]:
    """Return the content of a run, from its directory or its file; refuse one without an agent."""
    if path.suffix == ".npz" and path.is_file():
        raise expected("RUN", "a run", str(path), "--from-pretrained takes an npz file")
    is_copy = path.is_file() and path.name != checkpoint.NAME
    content, warning = (checkpoint.decode(path), "") if is_copy else checkpoint.load(path)
    checkpoint.check_program("mpi_es.train", content, path)
    if function := content["config"].get("function"):
        hint = f"mpi_es.load_run({str(path)!r})['best']['candidate'] is its best x"
        raise UserError(f"run: this run optimised a function, {function}; a policy run is needed; {hint}")
    if warning:
        warn(warning)
    return content


def of_run(content: dict[str, Any], candidate: str, source: str, place: Place = OWN) -> Agent:
    """Return the best or the last agent in the content of a run's file.

    Args:
        candidate: best or last.
        source: the run, for errors.
    """
    chosen = content[candidate]
    parameters = chosen["candidate"]
    if not parameters.size:
        raise UserError(f"{source}: no held-out evaluation is done yet; use --candidate last")
    stored = description.config_of(Config, content["config"])
    config, policy = place.agent(stored, source, len(parameters))
    check_size(parameters, policy.dim, source)
    check_buffers(content.get("module", {}).get("buffers", ""), policy)
    normalisation, observed = chosen["normalisation"], chosen["observed"]
    return Agent(config, policy, parameters, normalisation, objects=place.objects, observed=observed)


def check_size(candidate: NDArray[Any], dim: int, name: str) -> None:
    """Refuse an agent whose number of parameters is not that of its policy."""
    if len(candidate) != dim:
        raise expected(name, f"an agent of {dim} parameters, as many as its policy has", len(candidate))


def check_buffers(known: str, policy: Policy) -> None:
    """Refuse a module whose buffers, which no file holds, are not those of an agent's file.

    Args:
        known: the digest in the file; empty if it has none.
    """
    if known and known != policy.buffers:
        rule = "the buffers of the agent's module"
        raise UserError(f"--policy: expected {rule}, got others; draw random ones from a seed")


def _of_file(path: Path, bare: Config | None, option: str, place: Place) -> Agent:
    """Return the agent of an npz file: one of ours, which describes it, or bare parameters."""
    arrays = _arrays(path, option)
    numbers = _numbers(arrays, path, option)
    if "config" in arrays:
        stored, layout, normalisation, observed = _description(arrays, path, option)
        config, policy = _owner([place.agent(stored, path, len(numbers))], len(numbers), path, option)
        check_buffers(str(arrays.get("buffers", "")), policy)
        ordered = to_torch(numbers, policy.shapes, layout)
        return Agent(config, policy, ordered, normalisation, objects=place.objects, observed=observed)
    if bare is None:
        rule = "a run, or a file of Agent.save or mpi_es.export, which describes its agent"
        raise expected(option, rule, str(path))
    configs = [bare, changed(bare, **_PAPERS)] if bare.policy.name == "attention" else [bare]
    made = [(config, make_policy(config)) for config in configs]
    config, policy = _owner(made, len(numbers), path, option)
    if config.obs_norm:
        rule = "a run or a file of mpi_es.export, which hold the normalisation of --obs-norm"
        raise expected(option, rule, str(path))
    ordered = to_torch(numbers, policy.shapes, config.layout)
    if place.changes:
        config, policy = place.agent(config, path, len(ordered))
    return Agent(config, policy, ordered, np.zeros((2, 0)), described=False)


def _arrays(path: Path, option: str) -> Arrays:
    """Return the arrays of an npz file, among them `params`."""
    rule = "an npz file with an array `params`"
    try:
        file, arrays = np.load(path), {}
        if isinstance(file, np.lib.npyio.NpzFile):  # else a bare array
            with file:
                arrays = dict(file)
    except Exception as error:  # for a damaged file numpy raises whatever zipfile, zlib and tokenize do
        raise UserError(f"{option}: expected {rule}, got {str(path)!r}, which cannot be read") from error
    if "params" not in arrays:
        raise expected(option, rule, str(path), f"its arrays: {', '.join(arrays) or 'none'}")
    return arrays


def _numbers(arrays: Arrays, path: Path, option: str) -> Candidate:
    params = arrays["params"]
    if params.ndim != 1 or params.dtype.kind != "f":
        raise expected(
            option, f"a row of floating-point numbers in `params` of {path}", f"{params.dtype} {params.shape}"
        )
    with np.errstate(over="ignore"):
        numbers: Candidate = params.astype(np.float32)
    if wrong := np.count_nonzero(~np.isfinite(numbers)):
        raise expected(option, f"finite numbers in `params` of {path}", f"{wrong} that are not")
    return numbers


def _description(arrays: Arrays, path: Path, option: str) -> tuple[Config, str, Vector, float]:
    """Return config, layout, normalisation and number of observations from a file of mpi_es.export."""
    try:
        config = description.config_of(Config, json.loads(str(arrays["config"])))
        layout, normalisation = str(arrays["layout"]), arrays["normalisation"].astype(np.float64)
        observed = float(arrays["observed"])
        if layout not in LAYOUTS:
            raise expected("layout", " or ".join(LAYOUTS), layout)
        if normalisation.ndim != 2 or len(normalisation) != 2 or not np.isfinite(normalisation).all():
            raise expected("normalisation", "finite numbers (2, size)", normalisation.shape)
        if bool(normalisation.size) != config.obs_norm:
            raise expected("normalisation", f"that of --obs-norm {config.obs_norm}", normalisation.shape)
        if normalisation.size and not COUNTS.holds(observed):
            raise expected("observed", f"a number {COUNTS}", observed)
        with np.errstate(divide="ignore", over="ignore"):
            squares = ObservationStatistics.known(normalisation, observed).squares
        if not (np.isfinite(squares) & (normalisation[1] > 0)).all():
            raise expected("normalisation", "reciprocals of deviations", normalisation[1].tolist())
    except (UserError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        rule = "a file that mpi_es.export wrote, since it has a `config`"
        raise expected(option, rule, str(path), one_line(error)) from error
    return config, layout, normalisation, observed


def _owner(made: list[tuple[Config, Policy]], size: int, path: Path, option: str) -> tuple[Config, Policy]:
    """Return the first config whose policy has `size` parameters, and that policy."""
    for config, policy in made:
        if policy.dim == size:
            return config, policy
    sizes = " or ".join(dict.fromkeys(str(policy.dim) for _, policy in made))
    hint = "other sizes need the preset or the options of the training"
    raise expected(option, f"{sizes} numbers in `params` of {path}", size, hint)
