"""The environments by name: gymnasium's, envpool's, a user's, and our own (mpi_es/registration.py)."""

import copy
import difflib
import importlib.util
import inspect
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import gymnasium as gym

from mpi_es.config.user_objects import load, load_module, parsed
from mpi_es.envs.fresh_world import FreshWorld
from mpi_es.envs.lockstep import envpool, vector
from mpi_es.envs.lockstep.base import EnvBatch, close
from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.envs.step_limit import frame_limit, own_limit
from mpi_es.errors import UserError, expected, one_line
from mpi_es.extras import needs
from mpi_es.worlds.options import step_limit

Function = Callable[..., gym.Env[Any, Any]]


def open_batch(
    name: str, options: Sequence[str] = (), width: int = 1, function: Function | None = None
) -> EnvBatch:
    """Return up to `width` environments that are stepped together.

    Args:
        name: see make; or envpool:ID; or vector:ID and vector:package.module:make, a VectorEnv of gymnasium's
            registry or of a function make(num_envs=...).
        options: arguments of the environment, name=value.
        function: see make.
    """
    if name.startswith(envpool.PREFIX):
        return envpool.EnvPool(name.removeprefix(envpool.PREFIX), options)
    if name.startswith(vector.PREFIX):
        return vector.VectorEnvs(name, partial(_make_vector, name, options), width)
    return SeparateEnvs(partial(make, name, options, function=function))


@cache  # making an environment may take seconds
def spaces(name: str, options: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """Return the spaces of an environment's observations and actions."""
    return spaces_of(open_batch(name, options))


def spaces_of(batch: EnvBatch) -> tuple[Any, Any]:
    """Return the spaces of observations and actions of a batch, and close it."""
    with closing(batch):
        return batch.observation_space, batch.action_space


def is_vectorised(name: str) -> bool:
    """Return whether all environments of a batch of this name are stepped by one call."""
    return name.startswith((envpool.PREFIX, vector.PREFIX))


def make(
    name: str,
    options: Sequence[str] = (),
    render_mode: str | None = None,
    function: Function | None = None,
) -> tuple[Any, int]:
    """Return the environment and its step limit, 0 for none.

    The environment of a gymnasium id has neither its limit, since the stepping code counts, nor the
    wrappers that check every call.

    Args:
        name: a gymnasium id, such as CartPole-v1; module:id, where importing the module registers the
            id; or package.module:make, a function that returns an environment. What follows the colon
            is the id if it is registered, else the function; its environment keeps its own limit.
        options: arguments of the environment, name=value.
        function: of a script, to which the name refers.
    """
    if is_vectorised(name):
        rule = "a single environment, not a vector"
        raise expected("--env", rule, name, f"use --env {name.partition(':')[2]} if gymnasium has it")
    chosen = parsed(options, "--env-options")
    drawn = {} if render_mode is None else {"render_mode": render_mode}
    found = _found(name) if function is None else function
    if found:
        env = _call(name, found, chosen, drawn)
        limit = own_limit(env)
    else:
        env, limit = _registered(name.rpartition(":")[2], chosen | drawn)
    for space in ("observation_space", "action_space"):
        with _making(name, chosen):
            is_missing = getattr(env, space, None) is None
        if is_missing:
            raise expected("--env", f"an environment with {space} from {name}", type(env.unwrapped).__name__)
    return _fresh(env), limit


def _fresh(env: Any) -> Any:
    """Return the environment, wrapped if its episodes would depend on earlier ones."""
    kinds = [f"{kind.__module__}:{kind.__name__}" for kind in type(env.unwrapped).__mro__]
    return FreshWorld(env) if "gymnasium.envs.box2d.bipedal_walker:BipedalWalker" in kinds else env


def _found(name: str) -> Any:
    """Return the function that a name refers to; None if it is an id, which its module registers."""
    module_name, colon, rest = name.rpartition(":")
    if not colon:
        _register_atari(rest)
        return None
    load_module("--env", module_name)
    return None if rest in gym.registry else load("--env", name)


@contextmanager
def held_out() -> Iterator[None]:
    """Around the call that makes the held-out environment: name --held-out-env-options in an error."""
    try:
        yield
    except UserError as error:
        raise UserError(str(error).replace("--env-options", "--held-out-env-options")) from error


def _registered(env_id: str, options: dict[str, Any]) -> tuple[Any, int]:
    if env_id not in gym.registry:
        raise _unknown(env_id)
    spec = copy.deepcopy(gym.registry[env_id])
    registered = spec.max_episode_steps or frame_limit(spec.kwargs | options)
    spec.max_episode_steps, spec.order_enforce, spec.disable_env_checker = None, False, True
    with _making(env_id, options):
        limit = step_limit(options.get("max_episode_steps"), registered)
        return gym.make(spec, **(options | {"max_episode_steps": None})), limit


def _register_atari(env_id: str) -> None:
    """Register Atari's ids, which gymnasium 1 does not know by itself, if this id may be one."""
    if env_id not in gym.registry and importlib.util.find_spec("ale_py"):
        gym.register_envs(importlib.import_module("ale_py"))


def _make_vector(name: str, options: Sequence[str], count: int) -> Any:
    """Return a VectorEnv of `count` environments."""
    rest, chosen = name.removeprefix(vector.PREFIX), parsed(options, "--env-options")
    if ":" in rest:
        made = _call(name, load("--env", rest), chosen | {"num_envs": count}, {}, gym.vector.VectorEnv)
    else:
        _register_atari(rest)
        if rest not in gym.registry:
            raise _unknown(rest)
        threads = {"num_threads": 1} if rest.startswith("ALE/") else {}  # a rank has one core
        with _making(name, chosen):
            made = gym.make_vec(rest, num_envs=count, **threads | chosen)
    if isinstance(made.unwrapped, gym.vector.SyncVectorEnv):
        made.unwrapped.envs[:] = map(_fresh, made.unwrapped.envs)
    return made


def _call(
    name: str, function: Any, options: dict[str, Any], drawn: dict[str, Any], kind: type = gym.Env
) -> Any:
    """Return the environment that the user's function makes.

    Args:
        drawn: a render_mode or nothing. A function that returns a world need not take it: WorldEnv does.
    """
    if not callable(function):
        raise expected("--env", "package.module:make, a function", name)
    signature, every = inspect.signature(function), options | drawn

    def call(arguments: dict[str, Any]) -> Any:
        if not _accepts(signature, arguments):
            words = ", ".join(f"{key}={value!r}" for key, value in every.items())
            rule = f"a function that can be called as make({words})"
            raise expected("--env", rule, f"{name}{signature}")
        with _making(name, options):
            return function(**arguments)

    is_env = isinstance(function, type) and issubclass(function, gym.Env)
    given = every if is_env or "render_mode" in signature.parameters else options
    env = call(given)
    may_be_world = hasattr(env, "fresh") or hasattr(env, "observe")  # perhaps an incomplete one
    if kind is gym.Env and not isinstance(env, gym.Env) and may_be_world:
        from mpi_es.worlds.env import WorldEnv  # numba, which takes its time

        return WorldEnv(env, **drawn)
    if not isinstance(env, kind):
        raise expected("--env", f"a gymnasium.{kind.__name__} from {name}", type(env).__name__)
    if given != every:  # it is no world, and may take a render_mode among **options
        close(env)
        env = call(every)
    return env


def _accepts(signature: inspect.Signature, options: dict[str, Any]) -> bool:
    try:
        signature.bind(**options)
    except TypeError:
        return False
    return True


@contextmanager
def _making(name: str, options: dict[str, Any]) -> Iterator[None]:
    """Around the call that makes an environment: raise a UserError if it fails or refuses its options."""
    try:
        yield
    except UserError as error:
        if str(error).partition(":")[0] not in options:
            raise
        raise UserError(f"--env-options {error}") from error
    except (ImportError, gym.error.Error) as error:
        hides = isinstance(error, gym.error.DependencyNotInstalled)  # which module is missing
        cause = error.__cause__ if hides and error.__cause__ else error
        raise UserError(f"--env: {name} cannot be made: {_missing(cause)}") from error
    except SystemExit as error:  # raised by the user's code
        raise UserError(f"--env: {name} ends the program: {one_line(error)}") from error
    except Exception as error:
        innermost = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{one_line(error)} ({Path(innermost.filename).name}:{innermost.lineno})"
        if options:
            raise UserError(f"--env-options: {name} refuses them: {text}") from error
        raise UserError(f"--env: {name} cannot be made: {text}") from error


def _unknown(env_id: str) -> UserError:
    """Return the error for an unknown id, with the nearest registered one: there are too many to list."""
    stem, version = re.fullmatch(r"(.*?)(-v\d+)?", env_id).groups()  # type: ignore[union-attr]
    others = [known for known in gym.registry if re.fullmatch(re.escape(stem) + r"-v\d+", known)]
    rule = "a gymnasium id or package.module:make"
    if others:
        newest = max(others, key=lambda known: int(known.rpartition("-v")[2]))
        reason = f"gymnasium {gym.__version__} has no {version}" if version else "the version is missing"
        return expected("--env", rule, env_id, f"{reason}: use {newest!r}")
    atari = re.match(r"ALE/|\w+(NoFrameskip|Deterministic|-ram)", env_id)
    if atari and not importlib.util.find_spec("ale_py"):
        return expected("--env", rule, env_id, "for Atari: pip install 'mpi_es[envs]'")
    near = difflib.get_close_matches(env_id, gym.registry, n=1)
    return expected("--env", rule, env_id, f"did you mean {near[0]!r}?" if near else "")


def _missing(error: BaseException) -> str:
    """Return the package to install, or else the error."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"it {needs(error.name)}"
    return one_line(error)
