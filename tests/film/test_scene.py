import numpy as np
import pytest

from mpi_es.film.record import Step
from mpi_es.film.scene import compose, opacities, spotlight
from mpi_es.policies.base import Attention

LOOK = Attention(np.linspace(2, 1, 529, dtype=np.float32), np.arange(10), 7, 4)


def step(width, height, look=None, score=12.5):
    draw = np.random.default_rng(1)
    picture, observation = draw.integers(0, 256, (2, height, width, 3), np.uint8)
    return Step(3, picture, observation if look is None else observation[:96, :96], look, 0, 1.0, score)


@pytest.mark.parametrize(
    ("width", "height", "factor"), [(600, 400, 1), (160, 210, 3), (256, 256, 2), (601, 401, 1)]
)
def test_the_picture_is_above_the_score(width, height, factor):
    shown = step(width, height)
    frame = np.asarray(compose(shown, "title"))
    picture = shown.picture.repeat(factor, axis=0).repeat(factor, axis=1)
    assert np.array_equal(frame[: height * factor, : width * factor], picture)
    assert (frame.shape[0] % 2, frame.shape[1] % 2) == (0, 0)  # h264 needs it
    assert frame[height * factor :].max() > 200  # the score, in light letters


def test_what_the_network_sees_is_beside_the_picture():
    shown = step(600, 400, LOOK)
    frame = np.asarray(compose(shown, "title"))
    assert frame.shape == (576, 576 + 600, 3)
    assert np.array_equal(frame[:400, 576:], shown.picture)
    assert frame[3, 570].tolist() == shown.observation[0, 95].tolist()


def test_the_score_is_in_the_frame():
    one, other = (np.asarray(compose(step(600, 400, score=score), "title")) for score in (12.5, 13.5))
    different = np.nonzero((one != other).any(axis=2))
    assert (different[0].min() > 400, different[1].max() < 200) == (True, True)


FACTOR, SIZE = 4, 96


def attention(places, importance):
    values = np.zeros(529, np.float32)
    values[places] = importance
    return Attention(values, np.array(places), 7, 4)


def drawn(observation, places, importance):
    """Return what is drawn, an array (size, factor, size, factor, 3)."""
    image = spotlight(observation, attention(places, importance), FACTOR)
    assert image.size == (SIZE * FACTOR, SIZE * FACTOR)
    return np.asarray(image).reshape(SIZE, FACTOR, SIZE, FACTOR, 3)


def test_a_patch_is_as_opaque_as_it_is_important():
    pixels = drawn(np.zeros((SIZE, SIZE, 3), np.uint8), [0, 48], [8.0, 2.0])  # 48: row 2, column 2
    assert pixels[3, 2, 3, 2].tolist() == [217] * 3  # 0.85 of 255
    assert pixels[8 + 3, 2, 8 + 3, 2].tolist() == [54] * 3  # a quarter of that


def test_where_patches_overlap_the_more_important_one_shows():
    pixels = drawn(np.zeros((SIZE, SIZE, 3), np.uint8), [1, 0], [8.0, 4.0])
    assert pixels[3, 2, 5, 2].tolist() == [217] * 3  # in both
    assert pixels[3, 2, 1, 2].tolist() == [108] * 3  # in the first column's only


def test_patches_are_outlined_and_all_else_is_left():
    observation = np.random.default_rng(1).integers(0, 250, (SIZE, SIZE, 3), np.uint8)
    pixels = drawn(observation, [48], [1.0])
    edge = pixels[8:15, 0, 8, 0].tolist()  # the left edge, at row and column 2 * 4
    assert edge == [[255] * 3] * 7
    outside = np.delete(np.arange(SIZE), np.s_[8:15])
    expected = observation[outside][:, None, :, None].repeat(FACTOR, 1).repeat(FACTOR, 3)
    assert np.array_equal(pixels[outside], expected)


def test_the_first_patch_is_the_measure():
    assert opacities(attention([5, 3, 9], [6.0, 3.0, 1.5])).tolist() == pytest.approx([1, 0.5, 0.25])
