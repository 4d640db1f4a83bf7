import pytest

from tests.worlds.car_racing.picture.close.pictures import bare, drawn, errors, put


@pytest.mark.parametrize("place", [(3.0, -40.0), (330.0, 12.0), (-320.0, 325.0)])
@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
def test_grass_and_the_edge_of_the_map_lie_where_gymnasium_draws_them(place, angle):
    env = bare()
    put(env, place, angle)
    error = errors(env)
    assert error.mean() <= 0.1
    assert (error.max(-1) > 16).mean() <= 0.001  # of one picture, 8 pixels


def test_beyond_the_map_all_is_black():
    env = bare()
    put(env, (380.0, 380.0), -0.8)
    assert not drawn(env)[:50].any()
