"""Read an agent that was trained before from a run, a run file, or an npz file of parameters."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate, Vector
from mpi_es.config.parts import changed, flat
from mpi_es.config.presets import preset
from mpi_es.config.run import Config
from mpi_es.errors import UserError, expected, one_line, warn
from mpi_es.evaluation.build import make_policy
from mpi_es.papers.parameter_order import LAYOUTS, to_torch
from mpi_es.policies.base import Policy, Shapes, within
from mpi_es.run_file import checkpoint, description, imports

Arrays = dict[str, NDArray[Any]]
# The agent of arXiv:2003.08165, whose weights others have published.
_PLACE = ("env", "env_options", "held_out_env_options")
_ATTENTION = ("query_dim", "bias", "patch_size", "stride", "top_k", "patch_order")
_CONTROLLER = ("output", "hidden", "controller", "num_frames")
_FIELDS = (*_PLACE, *_ATTENTION, *_CONTROLLER)
_PAPERS = {name: flat(preset("carracing"))[name] for name in _FIELDS}


@dataclass(frozen=True)
class Agent:
    """A network's parameters, with their config, policy and normalisation."""

    config: Config
    policy: Policy
    parameters: Candidate  # (dim,) in torch's order
    normalisation: Vector  # (2, size) of its observations; (2, 0) where they are not normalised
    described: bool = True  # its file holds all fields above

    def part(self, part: str) -> tuple[Shapes, Candidate]:
        """Return shapes and numbers of the parameters of one part of the module, of all for ""."""
        shapes = {name: shape for name, shape in self.policy.shapes.items() if within(name, part)}
        if not part:
            return shapes, self.parameters
        return shapes, self.parameters[self.policy.parts.get(part, slice(0))]


def load(name: str, config: Config, option: str, *, allow_imports: bool = True) -> Agent:
    """Return the agent of a run directory, a run file or an npz file.

    Args:
        config: of a bare file's agent, unless its size is that of the paper's agent.
        option: that named the file.
        allow_imports: of code that the file names.
    """
    path = Path(name)
    check_there(name, option)
    if path.is_dir() or path.suffix == ".h5":
        return _of_run(path, option, allow_imports)
    return _of_file(path, config, option, allow_imports)


def check_there(name: str, option: str) -> None:
    """Refuse a path at which there is nothing."""
    if not os.path.exists(name):  # pathlib's raises where a directory is closed
        raise expected(option, "a run or an npz file", name, "it does not exist or cannot be read")


def _of_run(path: Path, option: str, allow_imports: bool) -> Agent:
    """Return the best agent of a run."""
    content, warning = checkpoint.load(path) if path.is_dir() else (checkpoint.decode(path), "")
    if warning:
        warn(warning)
    checkpoint.check_agent(content, path)
    best = content["best"]
    if best["candidate"].size == 0:
        hint = "python -m mpi_es.export RUN --candidate last writes the last centre into a file"
        raise expected(option, "a run with a held-out evaluation", str(path), hint)
    config = description.config_of(Config, content["config"])
    imports.check(config, path, allowed=allow_imports, fields=imports.AGENT)
    policy = make_policy(config)
    check_size(best["candidate"], policy.dim, f"{option}: {path}")
    return Agent(config, policy, best["candidate"], best["normalisation"])


def check_size(candidate: NDArray[Any], dim: int, name: str) -> None:
    """Refuse the agent of a run file that has another number of parameters than its policy."""
    if len(candidate) != dim:
        raise expected(name, f"an agent of {dim} parameters, as many as its policy has", len(candidate))


def _of_file(path: Path, config: Config, option: str, allow_imports: bool) -> Agent:
    """Return the agent of an npz file: one of mpi_es.export, which describes it, or bare parameters."""
    arrays = _arrays(path, option)
    numbers = _numbers(arrays, path, option)
    if "config" in arrays:
        stored, layout, normalisation = _description(arrays, path, option)
        imports.check(stored, path, allowed=allow_imports, fields=imports.AGENT)
        config, policy = _owner(len(numbers), [stored], path, option)
        return Agent(config, policy, to_torch(numbers, policy.shapes, layout), normalisation)
    configs = [config, changed(config, **_PAPERS)] if config.policy.name == "attention" else [config]
    config, policy = _owner(len(numbers), configs, path, option)
    if config.obs_norm:
        rule = "a run or a file of mpi_es.export, which hold the normalisation of --obs-norm"
        raise expected(option, rule, str(path))
    layout = config.layout
    if layout == "auto":
        from mpi_es.papers.guess_order import recognised  # the simulator, which is slow to import

        layout = recognised(numbers, policy.shapes, config, option)
    ordered = to_torch(numbers, policy.shapes, layout)
    return Agent(config, policy, ordered, np.zeros((2, 0)), described=False)


def _arrays(path: Path, option: str) -> Arrays:
    """Return the arrays of an npz file, among them `params`."""
    rule = "an npz file with an array `params`"
    try:
        file, arrays = np.load(path), {}
        if isinstance(file, np.lib.npyio.NpzFile):  # else a bare array
            with file:
                arrays = dict(file)
    except Exception as error:  # of a damaged one numpy raises whatever zipfile, zlib and tokenize do
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


def _description(arrays: Arrays, path: Path, option: str) -> tuple[Config, str, Vector]:
    """Return config, layout and normalisation from a file of mpi_es.export."""
    try:
        config = description.config_of(Config, json.loads(str(arrays["config"])))
        layout, normalisation = str(arrays["layout"]), arrays["normalisation"].astype(np.float64)
        if layout not in LAYOUTS:
            raise expected("layout", " or ".join(LAYOUTS), layout)
    except (UserError, KeyError, TypeError, ValueError, AttributeError) as error:
        rule = "a file that mpi_es.export wrote, since it has a `config`"
        raise expected(option, rule, str(path), one_line(error)) from error
    return config, layout, normalisation


def _owner(size: int, configs: list[Config], path: Path, option: str) -> tuple[Config, Policy]:
    """Return the first config whose policy has `size` parameters, and this policy."""
    policies = [make_policy(config) for config in configs]
    for config, policy in zip(configs, policies, strict=True):
        if policy.dim == size:
            return config, policy
    sizes = " or ".join(dict.fromkeys(str(policy.dim) for policy in policies))
    hint = "other sizes need the preset or the options of the training"
    raise expected(option, f"{sizes} numbers in `params` of {path}", size, hint)
