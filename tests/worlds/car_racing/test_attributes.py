import numpy as np
import pytest

from tests.worlds.car_racing.reference import drive, ours, reference
from tests.worlds.car_racing.versions import check_versions

BODY = ("angle", "angularVelocity")
WHEEL = ("omega", "phase", "steer", "gas", "brake")


def pair(style, seed, steps, **options):
    """Return our environment and gymnasium's after the same steps."""
    check_versions()
    mine, theirs = ours(*(f"{name}={value}" for name, value in options.items())), reference(**options)
    mine.reset(seed=seed)
    theirs.reset(seed=seed)
    for _, action in zip(range(steps), drive(style, theirs, seed), strict=False):
        mine.step(action)
        theirs.step(action)
    return mine, theirs


@pytest.mark.parametrize(("style", "steps"), [("road", 0), ("road", 60), ("spin", 60)])
def test_values_are_gymnasium_s_after_the_same_steps(style, steps):
    mine, theirs = pair(style, 5, steps)
    for name in ("t", "reward", "prev_reward", "tile_visited_count"):
        assert getattr(mine, name) == getattr(theirs, name)
        assert isinstance(getattr(mine, name), int | float)
    np.testing.assert_array_equal(mine.track, theirs.track)
    wheels = list(zip(mine.car.wheels, theirs.car.wheels, strict=True))
    for got, expected in [(mine.car.hull, theirs.car.hull), *wheels]:
        assert got.position == tuple(expected.position)
        assert got.linearVelocity == tuple(expected.linearVelocity)
        assert [getattr(got, name) for name in BODY] == [getattr(expected, name) for name in BODY]
    for got, expected in wheels:
        assert [getattr(got, name) for name in WHEEL] == [getattr(expected, name) for name in WHEEL]
        assert got.on_road == bool(expected.tiles)
    assert mine.car.hull.linearVelocity.length == pytest.approx(theirs.car.hull.linearVelocity.length)


@pytest.mark.parametrize("randomize", [False, True])
def test_polygons_and_their_colours_are_gymnasium_s(randomize):
    mine, theirs = pair("road", 6, 40, domain_randomize=randomize)
    got, expected = mine.road_poly, theirs.road_poly
    assert [corners for corners, _ in got] == [corners for corners, _ in expected]
    for (_, colour), (_, wanted) in zip(got, expected, strict=True):
        assert isinstance(colour, tuple) == isinstance(wanted, tuple)
        np.testing.assert_array_equal(colour, wanted)


def test_writing_is_refused():
    env = ours()
    env.reset(seed=1)
    for target, name in [
        *((env, name) for name in ("car", "t", "reward", "tile_visited_count", "track", "road_poly")),
        (env.car, "hull"),
        (env.car, "fuel_spent"),
        (env.car.hull, "position"),
        (env.car.wheels[0], "omega"),
        (env.car.hull.position, "x"),
    ]:
        with pytest.raises(AttributeError):
            setattr(target, name, 0)
    with pytest.raises(ValueError, match="read-only"):
        env.track[0, 0] = 1.0


def test_what_was_read_stays():
    env = ours()
    env.reset(seed=1)
    track, kept = env.track, env.track.copy()
    env.reset(seed=2)
    np.testing.assert_array_equal(track, kept)
