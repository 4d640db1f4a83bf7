"""From a config to the parts of a run, on every rank."""

import socket
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es import policies
from mpi_es.arrays import Candidate, Vector
from mpi_es.config.run import Config
from mpi_es.config.user_objects import load
from mpi_es.errors import UserError, expected
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.function.call_directories import CallDirectories
from mpi_es.evaluation.function.problem import Function, Problem, problem, takes
from mpi_es.evaluation.function.rollout import FunctionRollout
from mpi_es.evaluation.rollout import EpisodeRules, Rollout
from mpi_es.evaluation.script_objects import NONE, ScriptObjects
from mpi_es.extras import needed_for
from mpi_es.jit.warm_up import prepare
from mpi_es.parallel.collective_errors import all_or_raise
from mpi_es.parallel.collectives import Comm, bcast_object
from mpi_es.parallel.rank_groups import RankGroups
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.parallel.watch import Heartbeat
from mpi_es.policies.base import Policy
from mpi_es.policies.partly_fixed import PartlyFixed
from mpi_es.strategies import rank_of_noise
from mpi_es.strategies.low_rank import Layout, LowRankNoise
from mpi_es.strategies.noise import ComputedNoise, SlicedNoise

# Episodes that a rank steps in lockstep; benchmarks/backends.py compares other numbers.
WIDTH, POOLED_WIDTH = 16, 64


def spaces_of(config: Config, objects: ScriptObjects = NONE) -> tuple[Any, Any]:
    """Return the spaces of observations and actions of the config's environment."""
    with needed_for(f"--env {config.env}"):
        from mpi_es import envs
    if objects.env is None:
        return envs.spaces(config.env, config.env_options)
    return envs.spaces_of(envs.open_batch(config.env, config.env_options, function=objects.env))


def make_policy(
    config: Config, spaces: tuple[Any, Any] | None = None, objects: ScriptObjects = NONE
) -> Policy:
    """Return the config's policy.

    Args:
        spaces: of its environment's observations and actions, if they are known.
        objects: of a script, to which the config's names refer.
    """
    observations, actions = spaces or spaces_of(config, objects)
    policy = policies.make(config, observations, actions, objects.policy)
    shape = observations.shape or ()
    if config.obs_norm and len(shape) != 1:
        raise expected("--obs-norm", "an environment that observes a vector", f"shape {shape}")
    if config.action_noise and not hasattr(actions, "low"):
        raise expected("--action-noise", "0 for discrete actions", config.action_noise)
    return policy


def training_rules(config: Config, cap: int, normalisation: Vector | None) -> EpisodeRules:
    """Return the rules of a generation's episodes.

    Args:
        cap: the current step limit; 0 is none.
        normalisation: the current one, of observations.
    """
    clip = (config.clip_rewards[0], config.clip_rewards[1]) if config.clip_rewards else None
    return EpisodeRules(
        cap,
        normalisation,
        config.action_noise,
        collect=config.normalises,
        early_stop=config.early_stop,
        clip=clip,
    )


def make_problem(config: Config) -> Problem:
    """Return the problem of a config that names a function."""
    if config.is_of_script:
        rule = "the start of the search, with --dim one number for all"
        hint = "to continue a run that a script started, run that script again"
        raise UserError(f"--x0: expected {rule}, got nothing; {hint}")
    x0, dim = np.array(config.x0), config.dim or len(config.x0)
    if len(x0) not in (1, dim):
        raise expected("--x0", f"one number, or {dim} as --dim says", config.x0)
    bounds = (config.bounds[0], config.bounds[1]) if config.bounds else None
    start = np.broadcast_to(x0, dim)
    return problem_of(config, load("--function", config.function), start, bounds)


def problem_of(config: Config, function: Function, x0: Any, bounds: Any, scale: Any = 1.0) -> Problem:
    """Return the problem of a function with the config's direction, integers and number of constraints."""
    return problem(
        function,
        x0,
        bounds,
        scale=scale,
        sigma=config.strategy.init_sigma,
        minimise=config.minimise,
        integers=config.integers,
        constraints=config.constraints,
    )


def make_rollout(
    config: Config,
    base: Candidate | None = None,
    objects: ScriptObjects = NONE,
    trained: Rollout | None = None,
) -> Rollout:
    """Return the rollout that runs episodes in this process.

    Args:
        base: a whole agent, which stays fixed except for the part that the config names.
        objects: of a script, to which the config's names refer.
        trained: the training rollout, whose spaces held-out episodes must have.
    """
    if config.function:
        made = objects.problem or make_problem(config)
        groups = RankGroups(config.ranks_per_call if takes(made.function, "comm") else 0)
        directories = CallDirectories(Path(config.directory), config.call_dirs)
        return FunctionRollout(
            made,
            failures_are_worst=config.on_failure == "worst",
            timeout=config.call_timeout,
            groups=groups,
            directories=directories if takes(made.function, "directory") else None,
        )
    with needed_for(f"--env {config.env}"):  # gymnasium and numba, which functions do not need
        from mpi_es import envs
        from mpi_es.evaluation.compiled.rollout import CompiledRollout, can_compile
        from mpi_es.evaluation.env_rollout import EnvRollout
    width = config.envs_per_rank or (POOLED_WIDTH if envs.is_vectorised(config.env) else WIDTH)
    with ExitStack() as on_failure:
        batch = on_failure.enter_context(
            closing(envs.open_batch(config.env, config.env_options, width, objects.env))
        )
        spaces = batch.observation_space, batch.action_space
        if trained and spaces != trained.spaces:
            raise expected("--held-out-env-options", f"the spaces {trained.spaces}", spaces)
        policy: Any = make_policy(config, spaces, objects)
        if base is not None:
            policy = PartlyFixed(policy, config.evolve, base)
        if config.compiled and can_compile(config, policy, batch):
            return CompiledRollout(config, policy, batch)  # it needs only the batch's world and spaces
        on_failure.pop_all()
        return EnvRollout(policy, batch, width, config.action_repeat)


def make_rollouts(
    config: Config, base: Candidate | None = None, objects: ScriptObjects = NONE
) -> tuple[Rollout, Rollout]:
    """Return the rollouts for training and for held-out episodes in this process, often one and the same.

    Args:
        base, objects: as in make_rollout.
    """
    rollout = make_rollout(config, base, objects)
    if config.function or not config.held_out_env_options:
        return rollout, rollout
    from mpi_es import envs

    with ExitStack() as on_failure, envs.held_out():
        on_failure.callback(rollout.close)
        held_out = make_rollout(config.held_out, base, objects, trained=rollout)
        on_failure.pop_all()
    return rollout, held_out


def make_evaluator(
    comm: Comm,
    config: Config,
    stop_flag: StopFlag,
    base: Candidate | None = None,
    *,
    survives: bool = False,
    objects: ScriptObjects = NONE,
) -> Evaluator:
    """Return this rank's evaluator, or raise on every rank the error of one. Collective.

    Args:
        base, objects: as in make_rollout.
        survives: whether the other ranks continue when one dies.
    """
    rollout, held_out_rollout = all_or_raise(comm, lambda: make_rollouts(config, base, objects))
    with ExitStack() as on_failure:
        rollouts = dict.fromkeys((rollout, held_out_rollout))
        for one in rollouts:
            on_failure.callback(one.close)
        if not config.function:
            _check_ranks_agree(comm, config, rollout)
        for one in rollouts:
            prepare(comm, one.compile)
        dynamic = is_dynamic(config, rollout)
        evaluator = Evaluator(
            comm,
            rollout,
            _noise(config, rollout),
            stop_flag,
            dynamic=dynamic,
            dedicated_root=dedicated(config, comm.size // max(1, rollout.groups.size), dynamic=dynamic),
            heartbeat=Heartbeat(config.evaluation_timeout) if config.evaluation_timeout else None,
            survives=survives,
            held_out_rollout=held_out_rollout,
        )
        evaluator.divide()  # raises now if MPI cannot do it
        on_failure.pop_all()
        return evaluator


def _check_ranks_agree(comm: Comm, config: Config, rollout: Rollout) -> None:
    """Refuse ranks whose spaces or policies differ, for instance by their versions. Collective."""
    observations, actions = rollout.spaces
    own = f"observations {observations}, actions {actions}, {rollout.policy.dim} parameters"
    first = bcast_object(comm, own)

    def check() -> None:
        if own != first:
            got = f"{own} on rank {comm.rank}, on {socket.gethostname()}"
            raise UserError(f"--env {config.env}: expected rank 0's {first}, got {got}")

    all_or_raise(comm, check)


def dedicated(config: Config, size: int, *, dynamic: bool) -> bool:
    """Return whether rank 0 only dispatches, and evaluates nothing.

    Args:
        size: the number of ranks, or of groups of ranks, that would ask it for work.
        dynamic: whether they ask.
    """
    if config.dedicated_root != "auto":
        return config.dedicated_root == "yes"
    # With episodes of 50 ms, answering 128 ranks takes rank 0 an eighth to a quarter of its time
    # (docs/scaling.md). The ranks that wait for it then cost more than its own episodes gain; with 32 ranks
    # they cost less.
    return dynamic and size >= 128


def is_dynamic(config: Config, rollout: Rollout) -> bool:
    """Return whether ranks get episodes as they become free."""
    if config.dispatch != "auto":
        return config.dispatch == "dynamic"
    # Handed out in parts, a rank's share would need several pools of envpool, each with a call per step, or
    # several batches, each with mostly empty lanes at its end.
    return not rollout.steps_together


def _noise(config: Config, rollout: Rollout) -> SlicedNoise:
    """Return the noise of a seeded strategy."""
    policy, rank = rollout.policy, 0 if config.function else rank_of_noise(config.strategy)
    if not rank:
        return ComputedNoise(config.seed, policy.dim)
    layout = Layout(policy.shapes.values(), rank)
    drawn = ComputedNoise(config.seed, layout.size)
    return LowRankNoise(drawn, layout, keeps_factors=policy.layout is not None)
