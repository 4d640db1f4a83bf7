import numpy as np
import pytest

from mpi_es.worlds.car_racing import variants
from tests.worlds.car_racing.reference import GENTLE, ours, reference


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


def test_colours_shift_by_at_most_a_fifth():
    env, roads = ours("variant=color"), set()
    for seed in range(8):
        env.reset(seed=seed)
        road, ground, grass = env.state.world.ground.astype(int)
        assert len(set(road - 102)) == 1
        assert abs(road[0] - 102) <= 51
        assert set(np.abs(ground - [102, 204, 102]) <= 51) == {True}
        assert grass.tolist() == [102, 230, 102]
        roads.add(int(road[0]))
    assert len(roads) > 4
