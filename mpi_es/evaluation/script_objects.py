"""The objects that a script passes, of which a config has only the names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mpi_es.config.user_objects import is_of_script, name_of
from mpi_es.errors import expected
from mpi_es.evaluation.function.problem import Problem
from mpi_es.extras import needed_for
from mpi_es.policies import has_kernel

MakeEnv = Callable[..., Any]  # returns an environment


@dataclass(frozen=True)
class ScriptObjects:
    """The objects of a script; None if the config's name is enough. Each rank has its own."""

    problem: Problem | None = None  # the function, and where to search it
    env: MakeEnv | None = None
    policy: Any = None  # a torch module, its class, or a class with a kernel


NONE = ScriptObjects()


def named_env(env: Any) -> tuple[str, MakeEnv | None]:
    """Return the name of an environment, and the function that makes it if the name is not enough."""
    if isinstance(env, str):
        return env, None
    if not callable(env):
        raise expected("--env", "a name, or a function that returns an environment", env)
    name = name_of(env)
    return name, env if is_of_script(name) else None


def named_policy(policy: Any) -> tuple[str, Any]:
    """Return the name of a policy, and the torch module or class if the name is not enough."""
    if isinstance(policy, str):
        return policy, None
    if has_kernel(policy):
        name = name_of(policy)
        return name, policy if is_of_script(name) else None
    with needed_for("--policy"):
        from torch import nn  # which whoever has a module has imported

    if not (isinstance(policy, nn.Module) or (isinstance(policy, type) and issubclass(policy, nn.Module))):
        raise expected(
            "--policy", "a name, a torch module, a class of torch modules or a class with a kernel", policy
        )
    name = name_of(policy)
    return name, policy if isinstance(policy, nn.Module) or is_of_script(name) else None
