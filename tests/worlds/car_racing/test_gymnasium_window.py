import numpy as np
import pytest

from tests.worlds.car_racing.reference import GENTLE, ours, reference


def test_people_see_gymnasium_s_picture():
    mine, theirs = ours(render_mode="rgb_array"), reference(render_mode="rgb_array")
    mine.reset(seed=4)
    theirs.reset(seed=4)
    for _ in range(30):  # gently, or skid marks are left that ours does not show
        mine.step(GENTLE)
        theirs.step(GENTLE)
    np.testing.assert_array_equal(mine.render(), theirs.render())


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
