"""The start of a run: the first centre and the fixed parts, taken from trained agents."""

from collections.abc import Iterable
from dataclasses import replace
from math import prod

import numpy as np

from mpi_es.agents.agent import Agent
from mpi_es.agents.load import Place, load
from mpi_es.arrays import Candidate
from mpi_es.config.fields import option as flag
from mpi_es.config.parts import flat
from mpi_es.config.run import Config
from mpi_es.errors import expected, unknown, warn
from mpi_es.policies.base import Policy, Shapes, within

_OF_FIXED = ("action_repeat", "activation", "stride")  # with which fixed parameters may act otherwise


def first_agent(config: Config, policy: Policy, allow_imports: bool = True) -> Agent | None:
    """Return the agent, whole (policy.dim,), at which the search begins; None if it is drawn at random."""
    option = "--from-pretrained"
    if not config.from_pretrained:
        return None
    agent = load(config.from_pretrained, config, option, Place(allow_imports=allow_imports))
    if bool(agent.normalisation.size) != config.obs_norm:
        theirs = "off" if config.obs_norm else "on"
        raise expected("--obs-norm", f"{theirs}, as the agent of {option} was trained", config.obs_norm)
    evolving = "" if config.evolve == "all" else config.evolve
    parameters = _taken(agent, policy, [evolving], option)
    names = ("action_repeat", *(name for name in vars(config.policy) if not name.startswith("init_")))
    _warn_of_differences(agent, config, names, option)
    return replace(agent, parameters=parameters, policy=policy)


def _warn_of_differences(agent: Agent, ours: Config, names: Iterable[str], option: str) -> None:
    """Warn if parameters that fit act otherwise here than in their agent, as with another activation."""
    before, now = flat(agent.config) if agent.described else {}, flat(ours)
    for name in names:
        if name in before.keys() & now.keys() and before[name] != now[name]:
            trained = f"the agent of {option} was trained with {before[name]}"
            warn(f"{flag(name)}: {trained}, this run has {now[name]}")


def fixed_agent(config: Config, policy: Policy, allow_imports: bool = True) -> Candidate | None:
    """Return the parameters (policy.dim,) that hold the fixed parts; None if all parts evolve."""
    if config.evolve == "all":
        return None
    if config.evolve not in policy.parts:
        raise unknown("--evolve", config.evolve, ["all", *policy.parts])
    name, fixed = config.base_from_pretrained, _other_parts(config.evolve, policy)
    if not fixed:
        raise expected("--evolve", "all, since no other part would stay fixed", config.evolve)
    if not name:
        raise expected("--base-from-pretrained", f"a run or an npz file with the {' and '.join(fixed)}", name)
    option = "--base-from-pretrained"
    if config.obs_norm:
        rule = f"off with {option}, since the fixed part was trained on other inputs"
        raise expected("--obs-norm", rule, "on")
    agent = load(name, config, option, Place(allow_imports=allow_imports))
    if agent.normalisation.size:
        raise expected(option, "an agent trained without --obs-norm", f"one trained with it, {name}")
    _warn_of_differences(agent, config, _OF_FIXED, option)
    return _taken(agent, policy, fixed, option)


def _other_parts(evolving: str, policy: Policy) -> list[str]:
    """Return the largest parts that do not overlap with the one that evolves."""
    others: list[str] = []
    for part in policy.parts:
        related = within(part, evolving) or within(evolving, part)
        if not related and not any(within(part, whole) for whole in others):
            others.append(part)
    return others


def _taken(agent: Agent, policy: Policy, parts: list[str], option: str) -> Candidate:
    """Return an agent's parts as parameters (policy.dim,), zeros elsewhere; refuse parts that do not fit."""
    taken = np.zeros(policy.dim, np.float32)
    for part in parts:
        theirs, numbers = agent.part(part)
        ours = {name: shape for name, shape in policy.shapes.items() if within(name, part)}
        if theirs != ours:
            rule = f"{part or 'an agent'} of {sum(map(prod, ours.values()))} numbers"
            raise expected(option, rule, len(numbers), _difference(ours, theirs))
        taken[policy.parts[part] if part else slice(None)] = numbers
    return taken


def _difference(ours: Shapes, theirs: Shapes) -> str:
    """Return the first parameter that is missing or has another shape."""
    name = next(name for name in ours | theirs if ours.get(name) != theirs.get(name))
    wanted, got = (str(shapes.get(name, "none")) for shapes in (ours, theirs))
    return f"{name}: {wanted} here, {got} there"
