import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs
from mpi_es.envs.fresh_world import FreshWorld
from mpi_es.errors import UserError

HERE = "tests.envs.user_envs"


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("CartPole-v1", 500),
        ("BipedalWalker-v3", 1600),
        ("mpi_es/CyclicMDP-v0", 1000),
        ("LunarLander-v3", 1000),
    ],
)
def test_the_limit_is_returned_and_not_applied(name, limit):
    env, found = envs.make(name)
    assert found == limit
    while isinstance(env, gym.Wrapper):
        assert not isinstance(env, gym.wrappers.TimeLimit)
        env = env.env


@pytest.mark.parametrize(("steps", "limit"), [("400", 400), ("-1", 0), ("None", 200)])
def test_the_limit_of_the_user_stands_in_the_place_of_the_registered_one(steps, limit):
    env, found = envs.make("Pendulum-v1", [f"max_episode_steps={steps}"])
    assert found == limit
    assert not isinstance(env, gym.wrappers.TimeLimit)


def test_no_wrapper_costs_time():
    assert not isinstance(envs.make("CartPole-v1")[0], gym.Wrapper)


def test_the_registry_is_left_as_it_was():
    envs.make("CartPole-v1")
    assert gym.spec("CartPole-v1").max_episode_steps == 500
    assert gym.spec("CartPole-v1").order_enforce


def test_an_id_registered_by_a_module_keeps_its_wrappers():
    env, limit = envs.make(f"{HERE}:tests/Repeated-v0")
    env.reset(seed=0)
    assert limit == 77
    assert env.step(0)[1] == 0.5


def test_a_function_of_the_user_keeps_its_own_limit():
    env, limit = envs.make(f"{HERE}:make")
    env.reset(seed=0)
    assert limit == 5
    assert [env.step(t % 2)[3] for t in range(5)] == [False] * 4 + [True]


def test_pictures_for_a_video():
    env, _ = envs.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().dtype == np.uint8
    for name in ("make_rendered", "make_with_any"):
        assert envs.make(f"{HERE}:{name}", render_mode="rgb_array")[0].render_mode == "rgb_array"


def test_a_walker_of_the_user_keeps_no_world():
    assert isinstance(envs.make(f"{HERE}:Walker")[0], FreshWorld)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("CartPol-v1", [], "did you mean 'CartPole-v1'"),
        ("CyclicMDP-v0", [], "did you mean 'mpi_es/CyclicMDP-v0'"),
        ("CartPole", [], "the version is missing: use 'CartPole-v1'"),
        ("LunarLander-v2", [], "has no -v2: use 'LunarLander-v3'"),
        ("Ant-v2", [], "Ant-v2 cannot be made: .*gymnasium-robotics"),
        (f"{HERE}:mak", [], "did you mean 'make'"),
        (f"{HERE}:make_nothing", [], "expected a gymnasium.Env from .*, got 'int'"),
        (f"{HERE}:make_without_spaces", [], "an environment with observation_space from .*, got 'Env'"),
        (f"{HERE}:make_with", [], r"can be called as make\(\), got '.*:make_with\(size"),
        (f"{HERE}:not_a_function", [], "package.module:make, a function"),
        ("no_such_package:make", [], "a module that can be imported, got 'no_such_package'"),
        ("LunarLander-v3", ["gravity"], "--env-options: expected name=value, got 'gravity'"),
        ("LunarLander-v3", ["=3"], "--env-options: expected name=value, got '=3'"),
        ("LunarLander-v3", ["gravity=5"], "--env-options: LunarLander-v3 refuses them: .*gravity"),
        ("LunarLander-v3", ["gravitation=3"], "--env-options: LunarLander-v3 refuses them: .*gravitation"),
        (
            "LunarLander-v3",
            ["max_episode_steps=0"],
            "--env-options max_episode_steps: expected a whole number from 1, or -1, got 0",
        ),
        (f"{HERE}:Raising", [], "Raising cannot be made: RuntimeError: no space yet"),
        (f"{HERE}:choosy", ["gravity=3"], rf"^--env-options: {HERE}:choosy refuses them: .*not with"),
    ],
)
def test_a_mistake_is_told_in_one_line(name, options, words):
    with pytest.raises(UserError, match=words) as raised:
        envs.make(name, options)
    assert "\n" not in str(raised.value)


def test_options_of_an_environment():
    assert envs.make("LunarLander-v3", ["continuous=True", "gravity=-5"])[0].unwrapped.gravity == -5
    assert envs.make(f"{HERE}:make_rendered", ["render_mode=rgb_array"])[0].render_mode == "rgb_array"


def test_an_error_of_a_function_that_got_no_options_is_told_with_its_line():
    with pytest.raises(UserError, match=r"--env: .*:choosy cannot be made: .* \(user_envs.py:\d+\)"):
        envs.make(f"{HERE}:choosy")


def test_a_function_that_cannot_render_is_refused():
    with pytest.raises(UserError, match=r"make\(render_mode='rgb_array'\)"):
        envs.make(f"{HERE}:make", render_mode="rgb_array")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No module named 'jax'", name="jax"), "needs the package 'jax': pip install it"),
        (
            gym.error.DependencyNotInstalled('run `pip install "gymnasium[mujoco]"`'),
            r"pip install .gymnasium\[m",
        ),
    ],
)
def test_what_to_install_is_told(monkeypatch, error, words):
    def absent(**options):
        raise error

    spec = gym.envs.registration.EnvSpec("tests/Absent-v0", absent)
    monkeypatch.setitem(gym.registry, "tests/Absent-v0", spec)
    with pytest.raises(UserError, match=words):
        envs.make("tests/Absent-v0")


def test_atari_without_its_package(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'mpi_es\[envs\]'"):
        envs.make("ALE/Nonesuch-v5")  # ale_py may have registered others
