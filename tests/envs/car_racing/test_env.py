import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mpi_es import envs
from mpi_es.envs.car_racing import variants
from mpi_es.errors import UserError
from tests.envs.car_racing.reference import reference

GENTLE = np.array([0.1, 0.2, 0.0], np.float32)
LEFT = np.array([-0.3, 0.3, 0.0], np.float32)


def ours(*options, render_mode=None):
    return envs.make("mpi_es/CarRacing-v3", options, render_mode)[0]


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
            action = GENTLE if mine.continuous else t % 5
            got, wanted = mine.step(action), theirs.step(action)
            np.testing.assert_array_equal(got[0], wanted[0])
            assert got[1:] == wanted[1:]


def test_colours_are_kept_where_gymnasium_keeps_them():
    mine, theirs = ours("domain_randomize=True", "picture=exact"), reference(domain_randomize=True)
    for options in (None, {"randomize": False}, {"randomize": True}):
        seed = 7 if options is None else None
        seen, expected = mine.reset(seed=seed, options=options), theirs.reset(seed=seed, options=options)
        np.testing.assert_array_equal(seen[0], expected[0])


def test_people_see_gymnasium_s_picture():
    mine, theirs = ours(render_mode="rgb_array"), reference(render_mode="rgb_array")
    mine.reset(seed=4)
    theirs.reset(seed=4)
    for _ in range(30):  # gently, or skid marks are left that ours does not show
        mine.step(GENTLE)
        theirs.step(GENTLE)
    np.testing.assert_array_equal(mine.render(), theirs.render())


def test_colours_that_were_never_drawn_by_a_reset_are_drawn_at_the_beginning():
    grounds = set()
    for seed in (None, 3, 2**62 + 1):
        env = ours("domain_randomize=true")
        env.reset(seed=seed, options={"randomize": False})
        grounds.add(env.simulation.world.ground.tobytes())
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


@pytest.mark.parametrize("option", ["picture=blurred", "variant=rain"])
def test_an_unknown_picture_or_variant_is_told(option):
    with pytest.raises(UserError, match=rf"expected .*(close|plain).*{option[-4:]}"):
        ours(option)


@pytest.mark.parametrize(
    "option",
    ["continuous=2", "domain_randomize='no'", "lap_complete_percent=most", "grass_cost=none", "gravity=3"],
)
def test_an_option_of_another_kind_is_told(option):
    with pytest.raises(UserError, match=rf"--env-options.*{option.split('=')[0]}"):
        ours(option)


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


def test_options_may_be_written_in_lower_case():
    assert not ours("continuous=false").continuous


@pytest.mark.parametrize("variant", variants.NAMES[1:])
def test_a_variant_changes_the_picture_and_nothing_else(variant):
    plain, other = ours(), ours(f"variant={variant}")
    seen, shown = plain.reset(seed=5)[0], other.reset(seed=5)[0]
    for _ in range(60):
        assert (seen[:84] != shown[:84]).any()
        np.testing.assert_array_equal(seen[84:], shown[84:])
        (seen, reward, *_), (shown, same, *_) = plain.step(GENTLE), other.step(GENTLE)
        assert reward == same


def shrunk(env):
    """gymnasium's observation of what lies on its surface now, and of the plain one before."""
    return env._create_image_array(env.surf, (96, 96)).astype(int)


@pytest.mark.parametrize("variant", ["bars", "blob"])
def test_bars_and_blob_lie_where_they_would_in_gymnasium_s_window(variant):
    pygame = pytest.importorskip("pygame")
    mine, theirs = ours("picture=exact", f"variant={variant}"), reference()
    mine.reset(seed=2)
    theirs.reset(seed=2)
    for _ in range(60):
        seen = mine.step(GENTLE)[0].astype(int)
        theirs.step(GENTLE)
    if variant == "bars":
        rectangles, colour = [(0, 0, 75, 700), (925, 0, 75, 700)], (0, 0, 0)
    else:  # the paper's place in the car's frame, 16.2 pixels to the metre
        corner, size = (500 + 16.2 * 21, 600 - 16.2 * 15.6), 16.2 * 8
        rectangles, colour = [(*corner, size, size)], (204, 0, 0)
    for rectangle in rectangles:
        pygame.draw.rect(theirs.surf, colour, rectangle)
    difference = np.abs(seen - shrunk(theirs))[:84]
    assert difference.mean() < 0.5
    assert difference.max() < 60  # a rectangle of pygame's lies on whole pixels


@pytest.mark.parametrize(
    ("variant", "left", "top", "right", "bottom"), [("bars", 0, 0, 600, 350), ("blob", 504, 173, 582, 239)]
)
def test_bars_and_blob_are_in_the_picture_for_people_too(variant, left, top, right, bottom):
    shown = []
    for options in ((), (f"variant={variant}",)):
        env = ours(*options, render_mode="rgb_array")
        env.reset(seed=2)
        for _ in range(60):
            env.step(GENTLE)
        shown.append(env.render().astype(int))
    rows, columns = (np.abs(shown[1] - shown[0]) > 8).any(axis=2).nonzero()
    assert (columns.min(), columns.max() + 1) == pytest.approx((left, right), abs=2)
    assert (rows.min(), rows.max() + 1) == pytest.approx((top, bottom), abs=2)
    if variant == "bars":
        assert not ((columns > 45) & (columns < 554)).any()


def test_colours_shift_by_at_most_a_fifth():
    env, roads = ours("variant=color"), set()
    for seed in range(8):
        env.reset(seed=seed)
        road, ground, grass = env.simulation.world.ground.astype(int)
        assert len(set(road - 102)) == 1
        assert abs(road[0] - 102) <= 51
        assert set(np.abs(ground - [102, 204, 102]) <= 51) == {True}
        assert grass.tolist() == [102, 230, 102]
        roads.add(int(road[0]))
    assert len(roads) > 4
