"""The start of a run: the first mean and the fixed parts, taken from agents that were trained before."""

from math import prod

import numpy as np

from mpi_es.agents.load import Agent, load
from mpi_es.agents.parameter_order import Shapes, shapes_of
from mpi_es.arrays import Candidate
from mpi_es.config.run import Config
from mpi_es.errors import expected, unknown
from mpi_es.policies.base import Policy, within


def first_centre(config: Config, policy: Policy, allow_imports: bool = True) -> Candidate | None:
    """Return the whole agent (policy.dim,) that is the first mean; None if it is drawn at random."""
    name = config.from_pretrained
    if not name:
        return None
    evolving = [""] if config.evolve == "all" else [config.evolve]
    agent = _plain(name, config, "--from-pretrained", allow_imports)
    return _taken(agent, policy, evolving, "--from-pretrained")


def fixed_agent(config: Config, policy: Policy, allow_imports: bool = True) -> Candidate | None:
    """Return a whole agent (policy.dim,) of which all parts but one stay fixed; None if all evolve."""
    if config.evolve == "all":
        return None
    if config.evolve not in policy.parts:
        if not policy.parts:
            raise expected("--evolve", f"all for --policy {config.policy}, which has no parts", config.evolve)
        raise unknown("--evolve", config.evolve, ["all", *policy.parts])
    name, fixed = config.base_from_pretrained, _other_parts(config.evolve, policy)
    if not fixed:
        raise expected("--evolve", "all, since no other part would stay fixed", config.evolve)
    if not name:
        raise expected("--base-from-pretrained", f"a run or an npz file with the {' and '.join(fixed)}", name)
    agent = _plain(name, config, "--base-from-pretrained", allow_imports)
    return _taken(agent, policy, fixed, "--base-from-pretrained")


def _plain(name: str, config: Config, option: str, allow_imports: bool) -> Agent:
    """Return an agent; refuse it if it or the run normalises observations."""
    if config.obs_norm:
        raise expected(
            "--obs-norm", f"to be off with {option}, whose agent was trained on other numbers", "on"
        )
    agent = load(name, config, option, allow_imports=allow_imports)
    if agent.normalisation.size:
        raise expected(option, "an agent trained without --obs-norm", f"one trained with it, {name}")
    return agent


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
    shapes, taken = shapes_of(policy), np.zeros(policy.dim, np.float32)
    for part in parts:
        theirs, numbers = agent.part(part)
        ours = Agent(agent.config, taken, shapes, agent.normalisation).part(part)[0]
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
