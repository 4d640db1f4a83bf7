"""mpi_es.evolve_policy and load_agent: evolve, and later load, a policy in any script."""

import copy
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.agents import load
from mpi_es.agents.agent import Agent
from mpi_es.agents.load import Place
from mpi_es.errors import RolloutError, UserError, expected, in_words_of_scripts, one_line
from mpi_es.evaluation.build import make_policy
from mpi_es.evaluation.script_objects import ScriptObjects, named_env, named_policy
from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import Comm, bcast_object
from mpi_es.parallel.script_api import Ranks, on_all_ranks
from mpi_es.run import Run
from mpi_es.run_file.scores import Scores
from mpi_es.scripts.arguments import OTHER_NAMES, config_of
from mpi_es.scripts.running import (
    Callback,
    named_directory,
    plan_of,
    plan_on_ranks,
    ranks_of,
    run,
    table,
    where,
)
from mpi_es.text import number
from mpi_es.train import Plan, with_agents

# Fields of a config that no option of evolve_policy sets.
_HIDDEN = ("function", "x0", "dim", "bounds", "env", "policy", "strategy", "run_dir", "callback")
_OTHER_NAMES = OTHER_NAMES | {  # of mpi_es.evolve and of other libraries
    "goal": "target_fitness",
    "goal_times": "target_consecutive",
    "sigma": "init_sigma",
    "sigma0": "init_sigma",
}


@dataclass(frozen=True)
class PolicyResult:
    """The result of a run, the same on every rank."""

    agent: Agent  # the centre with the best held-out evaluation
    score: Scores  # of that evaluation, which selected the agent; agent.evaluate() plays fresh episodes
    history: dict[str, NDArray[Any]]  # columns (generations,), with the names in run.h5
    steps: int  # of the environment, in training
    episodes: int  # in training
    reason: str  # why the run ended
    run_dir: Path | None  # None where no files are written

    def __repr__(self) -> str:
        mean, low, high = map(number, (self.score.mean, *self.score.interval))
        return f"PolicyResult(score={mean} in [{low}, {high}], {self.agent!r}, {self.reason!r})"

    def to_pandas(self) -> Any:
        """Return the history as a pandas DataFrame, a row for each generation."""
        return table(self.history)


def evolve_policy(
    env: Any = None,
    policy: Any = None,
    strategy: str | None = None,
    *,
    preset: str = "",
    run_dir: str | Path | None = "",
    callback: Callback | None = None,
    comm: Any = None,
    **options: Any,
) -> PolicyResult:
    """Evolve a policy in an environment, on all ranks of an MPI job if there is one. Collective.

    Under `mpiexec -n N python script.py` every rank calls it with its own environment and policy; the other
    arguments are taken from rank 0. All ranks return the same result, which is also that of
    `python -m mpi_es.train` with these options. A signal saves the run and raises RunStopped, which ends the
    script with exit code 0.

    Args:
        env: a gymnasium id or another name that `--env` takes, or a function that returns an environment.
        policy: the name of a built-in policy; a torch module, whose weights are the start of the search; or a
            class of torch modules, called with the observation and action spaces. Default: the preset's, or
            mlp.
        strategy: its name; default: the preset's, or cma_es.
        preset: the name of tested settings; the other arguments override them.
        run_dir: directory of the run, which is continued if it exists; empty: a new one in runs/; None: write
            no files.
        callback: called on rank 0 with each Generation; if it returns True, the run ends.
        comm: an mpi4py communicator, whose ranks make the call; None: all ranks of the job.
        options: those of `python -m mpi_es.train`, such as population_size=64; env_options and
            policy_options may be dicts.
    """
    directory = named_directory(run_dir)

    def call(ranks: Ranks) -> PolicyResult:
        def own() -> tuple[dict[str, Any], ScriptObjects]:
            """Return the names of env, policy and strategy that are given, and this rank's objects."""
            if env is None and not preset:
                raise UserError("env: expected an environment, or a preset that has one, got nothing")
            names: dict[str, Any] = {} if strategy is None else {"strategy": strategy}
            make_env = module = None
            if env is not None:
                names["env"], make_env = named_env(env)
            if policy is not None:
                names["policy"], module = named_policy(policy)
            return names, ScriptObjects(env=make_env, policy=module)

        def prepare() -> Plan:
            names, objects = own()
            config = config_of(
                evolve_policy, names, {}, options, _HIDDEN, other_names=_OTHER_NAMES, preset=preset
            )
            return with_agents(plan_of(config, directory), objects)

        with in_words_of_scripts():
            plan, config = plan_on_ranks(ranks, prepare, directory)
            _, mine = all_or_raise(ranks.comm, own)
            mine = replace(mine, policy=_with_weights_of_root(ranks.comm, mine.policy))
            base = bcast_object(ranks.comm, plan.base if plan else None)
            with _restored_torch_generator():
                found = run(ranks, plan, config, mine, callback, _outcome, base=base, options=options)
            learnt, others = found
            agent = Agent(config, make_policy(config, objects=mine), **learnt, objects=mine)
            return PolicyResult(agent, **others)

    try:
        return on_all_ranks(call, ranks_of(comm, directory))
    except (RolloutError, UserError) as error:
        raise error.with_traceback(None) from None  # show the caller's line, none of our frames


def load_agent(source: str | os.PathLike[str], env: Any = None, policy: Any = None) -> Agent:
    """Return the agent from a run's directory, its run.h5, or a file that Agent.save wrote.

    Args:
        env: an environment other than the run's, or the script's function that made the run's.
        policy: the script's torch module or class that the run evolved.
    """
    try:
        with in_words_of_scripts():
            changes: dict[str, Any] = {}
            made = None
            if env is not None:
                changes["env"], made = named_env(env)
            if isinstance(env, str):
                # Those belong to the run's environment.
                changes |= {"env_options": (), "held_out_env_options": ()}
            if isinstance(policy, str):
                raise expected("--policy", "a torch module or its class", policy)
            name = "" if policy is None else named_policy(policy)[0]
            place = Place(changes, ScriptObjects(env=made, policy=policy))
            agent = load.load(os.fspath(source), None, "load_agent", place)
            if name and ":" not in agent.config.policy.name:
                raise expected("--policy", f"none, since the agent's is {agent.config.policy.name}", name)
            return agent
    except UserError as error:
        raise error.with_traceback(None) from None


def _restored_torch_generator() -> AbstractContextManager[None]:
    """Restore the state of torch's generator, which a run seeds for modules that draw, at the end."""
    torch: Any = sys.modules.get("torch")
    kept: AbstractContextManager[None] = torch.random.fork_rng(devices=[]) if torch else nullcontext()
    return kept


def _with_weights_of_root(comm: Comm, policy: Any) -> Any:
    """Return a copy of a torch module with rank 0's weights and buffers; a class unchanged. Collective.

    A script may draw them at random, so that they differ between ranks.
    """
    is_made = policy is not None and not isinstance(policy, type)
    # A state_dict lacks the buffers that are not persistent.
    drawn = bcast_object(comm, (policy.state_dict(), dict(policy.named_buffers())) if is_made else None)
    if drawn is None or not is_made:
        return policy

    def copied() -> Any:
        module = copy.deepcopy(policy)
        try:
            module.load_state_dict(drawn[0])
            for name, buffer in module.named_buffers():
                buffer.copy_(drawn[1][name])
        except (RuntimeError, KeyError) as error:
            raise UserError(f"policy: expected the same module on each rank; {one_line(error)}") from error
        return module

    return all_or_raise(comm, copied)


def _outcome(run: Run, reason: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a run's agent has learnt, and the other fields of the result."""
    best, history = run.best, run.history
    chosen = next(one for one in history.evaluations if one.generation == best.generation)
    others = {
        "score": Scores(chosen.returns),
        "history": history.rows.content(),
        "steps": history.steps,
        "episodes": history.episodes,
        "reason": reason,
        "run_dir": where(run),
    }
    learnt = {
        "parameters": np.array(best.candidate, np.float32),
        "normalisation": best.normalisation,
        "observed": best.observed,
    }
    return learnt, others
