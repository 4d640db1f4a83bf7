import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FrameStackObservation

from mpi_es import envs
from tests.launching import assert_same
from tests.worlds.car_racing.reference import GENTLE
from tests.worlds.lockstep import Repeat

NAME = "mpi_es/CarRacing-v3"
SEEDS = [12, 13, 14]
CARS = len(SEEDS)
MODES = ["NextStep", "SameStep", "Disabled"]


def ours(**options):
    return gym.make_vec(NAME, num_envs=CARS, **options)


def alone(mode="NextStep", wrappers=(), **options):
    """Return gymnasium's vector of environments that are stepped one after the other."""
    vector = {"autoreset_mode": mode}
    one = options | {"vectorization_mode": "sync", "vector_kwargs": vector, "wrappers": wrappers}
    return gym.make_vec(NAME, num_envs=CARS, **one)


def drive(env, other, steps, action=GENTLE, noise=0.1):
    """Drive two vectors alike and compare all that they return; return the numbers of ends: over, cut."""
    rng = np.random.default_rng(1)
    ends = np.zeros(2, int)
    for _ in range(steps):
        actions = np.broadcast_to(action, (CARS, 3)).copy()
        if env.single_action_space.shape:
            actions[:, 0] += rng.uniform(-noise, noise, CARS).astype(np.float32)
        else:
            actions = rng.integers(5, size=CARS)
        got = env.step(actions)
        assert_same(got, other.step(actions))
        ends += got[2].sum(), got[3].sum()
        over = got[2] | got[3]
        if over.any() and env.metadata["autoreset_mode"].value == "Disabled":
            assert_same(
                env.reset(options={"reset_mask": over}), other.reset(options={"reset_mask": over.copy()})
            )
    return ends.tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_cars_are_those_of_the_environment_alone_for_every_number_of_threads(threads, mode):
    env = ours(threads=threads, autoreset_mode=mode, max_episode_steps=6)
    other = alone(mode, max_episode_steps=6)
    assert_same(env.reset(seed=SEEDS), other.reset(seed=SEEDS))
    assert drive(env, other, 9)[1] >= CARS
    env.close()


OFF_THE_MAP = np.array([[0.05, 0.5, 0.0]] * 2 + [GENTLE], np.float32)  # all but the last car


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("limit", "share", "action", "ends"), [(155, 0.95, OFF_THE_MAP, [2, 1]), (2, 0.0, GENTLE, [CARS, 0])]
)
def test_who_leaves_the_map_makes_a_lap_or_meets_the_limit_has_gymnasium_s_infos(
    mode, limit, share, action, ends
):
    """With a share of 0 a car has made its lap as soon as it is on the first tile."""
    options = {"max_episode_steps": limit, "lap_complete_percent": share}
    env, other = ours(autoreset_mode=mode, **options), alone(mode, **options)
    assert_same(env.reset(seed=SEEDS), other.reset(seed=SEEDS))
    steps = 1 if share == 0.0 else limit
    assert drive(env, other, steps, action, noise=0.0) == ends
    drive(env, other, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"domain_randomize": True, "lap_complete_percent": 0.5},
        {"continuous": False, "variant": "bars"},
        {"variant": "color", "grass_cost": 0.5},
        {"variant": "blob"},
        pytest.param({"picture": "exact"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_options_are_those_of_the_environment_alone(options):
    env, other = ours(max_episode_steps=5, **options), alone(max_episode_steps=5, **options)
    for given in ({"seed": 3}, {"options": {"randomize": False}}, {"seed": [7, None, 2**63 - 1]}):
        assert_same(env.reset(**given), other.reset(**given))
        drive(env, other, 7)
    assert (env.action_space, env.observation_space) == (other.action_space, other.observation_space)


@pytest.mark.parametrize("mode", MODES)
def test_frames_are_skipped_and_stacked_as_by_gymnasium_s_wrappers(mode):
    wrappers = (lambda env: Repeat(env, 3), lambda env: FrameStackObservation(env, 2))
    env = ours(frame_skip=3, frame_stack=2, autoreset_mode=mode, max_episode_steps=10)
    other = alone(mode, wrappers, max_episode_steps=10)
    assert_same(env.reset(seed=5), other.reset(seed=5))
    assert drive(env, other, 9)[1] >= 2 * CARS  # four actions make ten steps
    assert env.observation_space == other.observation_space


def test_attributes_are_those_of_the_environments_alone():
    env, other = ours(), alone()
    env.reset(seed=3), other.reset(seed=3)
    drive(env, other, 30)
    for name in ("t", "reward", "prev_reward", "tile_visited_count"):
        assert tuple(getattr(env, name).tolist()) == env.get_attr(name) == other.get_attr(name)
    cars = other.get_attr("car")
    assert [tuple(place) for place in env.car.hull.position.tolist()] == [car.hull.position for car in cars]
    assert env.car.wheels[2].omega.tolist() == [car.wheels[2].omega for car in cars]
    assert env.get_attr("road_poly")[1][0][0] == other.get_attr("road_poly")[1][0][0]
    with pytest.raises(AttributeError):
        env.t = 0
    with pytest.raises(ValueError, match="read-only"):
        env.t[0] = 0
    with pytest.raises(AttributeError, match="expected one of car, "):
        env.get_attr("world")


def test_pictures_for_people_are_gymnasium_s():
    env, one = ours(render_mode="rgb_array"), gym.make(NAME, render_mode="rgb_array")
    env.reset(seed=3), one.reset(seed=4)
    np.testing.assert_array_equal(env.render()[1], one.render())
    env.close()


def test_a_rollout_steps_it_in_lockstep():
    batch = envs.open_batch(f"vector:{NAME}", ("threads=2",), 3)
    places, observations = batch.begin([4, 5])
    one = gym.make(NAME)
    np.testing.assert_array_equal(one.reset(seed=5)[0], observations[1])
    _, rewards, _ = batch.step(places, np.array([GENTLE, GENTLE]))
    assert rewards[1] == one.step(GENTLE)[1]
    batch.close()
