import pytest

from mpi_es import envs
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation import build
from mpi_es.worlds.vector_env import WorldVectorEnv

HERE = "tests.worlds.user_worlds"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("OneValue", r"--env: expected a number and a bool from step, \(reward, over\), got 'float64'"),
        ("GlobalArray", r"refuses step: .*user_worlds.py, line \d+\); a global array is constant"),
        ("UnknownName", "refuses step: fresh has no 'speed'"),
        ("HalfCompiled", r"'interpreted'.* \(user_worlds.py, line \d+\); decorate it with numba.njit"),
    ],
)
def test_what_numba_refuses_is_told_in_one_line(name, words):
    env, _ = envs.make(f"{HERE}:{name}")
    rollout = build.make_rollout(configured(env=f"{HERE}:{name}", hidden=(4,)))
    vector = WorldVectorEnv(env.world, num_envs=2)
    for compiles in (lambda: env.reset(seed=0), rollout.compile, lambda: vector.reset(seed=0)):
        with pytest.raises(UserError, match=words) as raised:
            compiles()
        assert "\n" not in str(raised.value)


def test_so_is_what_it_refuses_in_tell():
    env, _ = envs.make(f"{HERE}:Mistelling")
    vector = WorldVectorEnv(env.world, num_envs=2)
    for compiles in (env.reset, vector.reset):
        with pytest.raises(UserError, match="refuses tell: fresh has no 'speed'"):
            compiles(seed=0)
