import numpy as np
import pytest

from mpi_es.film.record import Step
from mpi_es.film.scene import compose
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
