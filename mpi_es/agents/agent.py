"""An agent: a policy with parameters, which acts, is evaluated, and is saved."""

import copy
import io
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mpi_es.agents.episode_seeds import check_episodes, chosen_seeds
from mpi_es.arrays import Candidate, Vector
from mpi_es.config.parts import flat
from mpi_es.config.run import Config
from mpi_es.errors import expected, in_words_of_scripts
from mpi_es.evaluation.build import make_evaluator, make_policy, spaces_of
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.messages import Evaluation
from mpi_es.evaluation.normalisation import normalise
from mpi_es.evaluation.rollout import EpisodeRules, unpacked
from mpi_es.evaluation.script_objects import NONE, ScriptObjects
from mpi_es.extras import needed_for
from mpi_es.papers.parameter_order import from_torch
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.policies.base import Memory, Policy, Shapes, Weights, within
from mpi_es.run_file.atomic_write import write_whole
from mpi_es.run_file.scores import Scores
from mpi_es.strategies import kind_of_noise
from mpi_es.strategies.base import alone


@dataclass(eq=False, repr=False)
class Agent:
    """A policy with parameters.

        agent.reset()
        observation, _ = env.reset()
        observation, reward, terminated, truncated, _ = env.step(agent(observation))

    Call it with one observation after another. It remembers, normalises and repeats actions as in its run.
    """

    config: Config  # of its run
    policy: Policy
    parameters: Candidate  # (dim,) in torch's order
    normalisation: Vector  # (2, size) of its observations; (2, 0) if they are not normalised
    described: bool = True  # its file holds all fields above
    objects: ScriptObjects = NONE  # to which names in its config refer
    observed: float = 0.0  # number of observations that the normalisation comes from

    def __post_init__(self) -> None:
        """Begin an episode."""
        self.parameters = self.parameters.view()
        self.parameters.flags.writeable = False  # the policy has them in another form, too
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a copy is made of; it begins an episode."""
        names = ("normalisation", "described", "objects", "observed")
        return _copied, (self.config, self.parameters, {name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        return f"Agent({self.config.policy.name} of {len(self.parameters)} parameters for {self.config.env})"

    def reset(self, seed: int = 0) -> None:
        """Begin an episode, and forget the previous one.

        Args:
            seed: for a module that draws random numbers.
        """
        self._memory: Memory = self.policy.start(seed, 0)
        self._action: Any = None
        self._repeats = 0  # remaining steps of the action

    def __call__(self, observation: Any) -> Any:
        """Return the action for an observation."""
        if self._repeats == 0:
            space = self.spaces[0]
            given = np.asarray(observation)
            if not np.can_cast(given.dtype, space.dtype, "same_kind"):
                raise expected("agent", f"an observation of {space.dtype}", given.dtype)
            row: NDArray[Any] = np.asarray(observation, space.dtype)
            if row.size != math.prod(space.shape or ()):
                raise expected("agent", f"one observation of the shape {space.shape}", row.shape)
            row = row.reshape(1, *(space.shape or ()))
            if self.normalisation.size:
                row = normalise(row, self.normalisation)
            with self.policy.apart():
                actions, self._memory = self.policy.act(self._weights, row, self._memory)
            self._action = actions[0].item() if actions.ndim == 1 else actions[0]
            self._repeats = self.config.action_repeat
        self._repeats -= 1
        return copy.copy(self._action)  # an environment may change it

    @cached_property
    def spaces(self) -> tuple[Any, Any]:
        """The spaces of its observations and actions."""
        return spaces_of(self.config, self.objects)

    @cached_property
    def _weights(self) -> Weights:
        return unpacked(self.policy, [self.policy.as_candidate(self.parameters)])

    def evaluate(self, episodes: int = 100, seeds: str | Sequence[int] = "fresh") -> Scores:
        """Return the scores of episodes played in this process, as `python -m mpi_es.evaluate` plays them.

        Args:
            seeds: "fresh" ones that the run never used, the "held-out" ones of its evaluations, or numbers,
                also as a text such as "0-99,200".
        """
        with in_words_of_scripts():
            if not isinstance(seeds, Iterable):
                raise expected("--seeds", "a text or a sequence of numbers", seeds)
            words = seeds if isinstance(seeds, str) else ",".join(map(str, seeds))
            check_episodes(episodes, words)
        with threadpool_limits(1), self.policy.apart():  # as in a run: the number of cores has no effect
            # A timeout would end this process.
            config = replace(deployed(self.config), evaluation_timeout=0.0)
            evaluator = make_evaluator(SerialComm(), config, StopFlag(), objects=self.objects)
            try:
                returns = self.play(evaluator, chosen_seeds(words, episodes, config.seed)).returns
            finally:
                evaluator.close_environments()
                evaluator.leave()
        return Scores(returns[0])

    def rules(self, evaluator: Evaluator) -> EpisodeRules:
        """Return the rules of the agent's held-out episodes."""
        normalisation = self.normalisation if self.normalisation.size else None
        size = evaluator.rollout.size
        if normalisation is not None and normalisation.shape[1] != size:
            rule = f"a normalisation of the {size} observed numbers"
            raise expected("agent", rule, normalisation.shape[1])
        return evaluator.held_out_rules(self.config.held_out_cap, normalisation)

    def play(self, evaluator: Evaluator, seeds: NDArray[np.int64]) -> Evaluation:
        """Return the evaluation of the agent on episodes with the seeds (n,). Rank 0 calls it."""
        return evaluator.evaluate(alone(self.parameters), seeds[None], self.rules(evaluator))

    def part(self, part: str) -> tuple[Shapes, Candidate]:
        """Return the shapes and values of the parameters of one part of the module; "" means all."""
        shapes = {name: shape for name, shape in self.policy.shapes.items() if within(name, part)}
        if not part:
            return shapes, self.parameters
        return shapes, self.parameters[self.policy.parts.get(part, slice(0))]

    def module(self) -> Any:
        """Return the network as a torch module in evaluation mode, which reads normalised observations."""
        with needed_for("Agent.module"):
            from mpi_es.policies.networks import with_parameters  # torch: a second and 200 MB

        return with_parameters(self.policy.module(), self.parameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the agent: in an .npz file, which mpi_es.load_agent reads, or as TorchScript in a .pt file."""
        ending = Path(path).suffix
        if ending not in (".npz", ".pt"):
            raise expected("Agent.save", "a file that ends in .npz or .pt", os.fspath(path))
        if ending == ".npz":
            self.write_weights(Path(path), "torch", "Agent.save")
        else:
            self.write_script(Path(path), "Agent.save")

    def write_weights(self, path: Path, layout: str, option: str) -> None:
        """Write the parameters, with all that mpi_es.load_agent needs to know.

        Args:
            layout: the order of the parameters, torch or paper.
            option: the one that named the file.
        """
        nowhere = replace(self.config, from_pretrained="", base_from_pretrained="", evolve="all", run_dir="")
        image = io.BytesIO()
        np.savez(
            image,
            params=from_torch(self.parameters, self.policy.shapes, layout),
            normalisation=self.normalisation,
            observed=np.array(self.observed),
            buffers=np.array(self.policy.buffers),
            layout=np.array(layout),
            config=np.array(json.dumps(flat(nowhere))),
        )
        write_whole(path, image.getvalue(), option)

    def write_script(self, path: Path, option: str) -> None:
        """Write the network as TorchScript, with the normalisation of its observations.

        Args:
            option: the one that named the file.
        """
        with needed_for(option):
            from mpi_es.agents import torchscript  # torch, which parameters alone do not need

        torchscript.write(path, self.policy, self.parameters, self.normalisation, self.spaces[0], option)


def deployed(config: Config) -> Config:
    """Return the config of the held-out episodes of a run's agent."""
    return replace(config.held_out, strategy=kind_of_noise(config.strategy))


def _copied(config: Config, parameters: Candidate, fields: dict[str, Any]) -> Agent:
    """Return an agent of these fields."""
    return Agent(config, make_policy(config, objects=fields["objects"]), parameters, **fields)
