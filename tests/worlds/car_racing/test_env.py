import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from tests.worlds.car_racing.reference import GENTLE, ours, reference

LEFT = np.array([-0.3, 0.3, 0.0], np.float32)


def test_gymnasium_s_checker_has_nothing_to_say():
    ours()  # Box2D warns while it is imported, and does not survive that as an error
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Of gymnasium's own environment too it says that the actions are not symmetric.
        warnings.filterwarnings("ignore", ".*(symmetric|not within the range).*")
        check_env(gym.make("mpi_es/CarRacing-v3").unwrapped, skip_render_check=True)


@pytest.mark.parametrize(
    "options", [{}, {"domain_randomize": True}, {"continuous": False}, {"lap_complete_percent": 0.02}]
)
def test_the_same_options_give_gymnasium_s_episode(options):
    mine = ours("picture=exact", *(f"{name}={value}" for name, value in options.items()))
    theirs = reference(**options)
    for seed in (3, None):
        mine.reset(seed=3) if seed else None
        theirs.reset(seed=3) if seed else None
        (seen, _), (expected, _) = mine.reset(seed=seed), theirs.reset(seed=seed)
        np.testing.assert_array_equal(seen, expected)
        for t in range(40):
            action = GENTLE if mine.action_space.shape else t % 5
            got, wanted = mine.step(action), theirs.step(action)
            np.testing.assert_array_equal(got[0], wanted[0])
            assert got[1:] == wanted[1:]


def test_colours_are_kept_where_gymnasium_keeps_them():
    mine, theirs = ours("domain_randomize=True", "picture=exact"), reference(domain_randomize=True)
    for options in (None, {"randomize": False}, {"randomize": True}):
        seed = 7 if options is None else None
        seen, expected = mine.reset(seed=seed, options=options), theirs.reset(seed=seed, options=options)
        np.testing.assert_array_equal(seen[0], expected[0])


def test_colours_that_were_never_drawn_by_a_reset_are_drawn_at_the_beginning():
    grounds = set()
    for seed in (None, 3, 2**62 + 1):
        env = ours("domain_randomize=true")
        env.reset(seed=seed, options={"randomize": False})
        grounds.add(env.state.world.ground.tobytes())
    assert len(grounds) == 3


def test_without_a_seed_episodes_differ():
    env = ours()
    assert (env.reset()[0] != env.reset()[0]).any()


def test_an_observation_stays_when_the_next_is_drawn():
    env = ours()
    first, _ = env.reset(seed=1)
    kept = first.copy()
    env.step(GENTLE)
    np.testing.assert_array_equal(first, kept)


def test_wheels_beside_the_road_cost_what_is_said():
    mine, theirs = ours("grass_cost=0.25"), reference()
    mine.reset(seed=3)
    theirs.reset(seed=3)
    beside = set()
    for _ in range(150):
        (_, got, *_), (_, reward, *_) = mine.step(LEFT), theirs.step(LEFT)
        wheels = sum(not wheel.tiles for wheel in theirs.car.wheels)
        assert got == reward - 0.25 * wheels
        beside.add(wheels)
    assert {0, 4} < beside
