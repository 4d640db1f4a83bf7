import numpy as np
import pytest

from tests.worlds.car_racing.picture.close.pictures import bare, drawn, errors, put


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("length", [1, 5])
def test_a_stretch_of_road_looks_as_gymnasium_s(length, angle):
    env = bare(0, length)
    put(env, np.mean(env.road_poly[0][0], axis=0) - 8.0, angle)
    empty = drawn(env)
    error = errors(env)
    env.road_poly, env.road = [], []
    assert error.mean() <= 0.1
    assert np.abs(drawn(env).astype(int) - empty)[:84].max() > 60


def test_kerbs_are_red_and_white_where_gymnasium_s_are():
    env = bare(0, 1000)
    kerbs = [i for i, (_, colour) in enumerate(env.road_poly) if isinstance(colour, tuple)]
    for kerb in kerbs[:6]:
        put(env, env.road_poly[kerb][0][0], 1.0)
        error = errors(env)
        assert error.mean() <= 0.1
        red = drawn(env)[:84].astype(int)
        assert ((red[..., 0] - red[..., 1] > 100).sum() > 10) or ((red.min(-1) > 180).sum() > 10)
