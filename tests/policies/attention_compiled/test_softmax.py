import numpy as np
import pytest

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import load, store
from mpi_es.policies.attention_compiled.softmax import exp2
from tests.policies.attention_compiled.agent import FLAT, NOISE, RAMP, look, policy
from tests.policies.attention_reference import importance


def attention_part(vector):
    wq, bq, wk, bk = np.split(vector[:1184].astype(np.float64), [588, 592, 1180])
    return wq.reshape(4, 147), bq, wk.reshape(4, 147), bk


@pytest.mark.parametrize("picture", [FLAT, RAMP, NOISE], ids=["flat", "ramp", "noise"])
@pytest.mark.parametrize("scale", [1, 30])
def test_importance_of_degenerate_pictures_is_right(picture, scale):
    ours = policy()
    vector = scale * ours.initial(0)
    total, chosen = look(ours, vector, picture)
    np.testing.assert_allclose(
        total, importance(picture, *attention_part(vector)), rtol=3e-5, atol=1e-6 * scale
    )
    if picture is FLAT:
        assert chosen.tolist() == [*range(10)]


@compiled()
def powers_of_two(x, out):
    for i in range(0, len(x), 8):
        store(out, i, exp2(load(x, i)))


def test_powers_of_two_are_right_to_single_precision():
    x = np.concatenate([np.linspace(-126, 1, 80_000), np.linspace(-1e-6, 1e-6, 8)]).astype(np.float32)
    out = np.empty_like(x)
    powers_of_two(x, out)
    np.testing.assert_allclose(out, np.exp2(x.astype(np.float64)), rtol=2.5e-7)


def test_powers_of_two_of_what_is_very_low_or_no_number_are_next_to_nothing():
    x = np.array([-126, -127, -1e30, -np.inf, np.nan, 0, 1, 2], np.float32)
    out = np.empty_like(x)
    powers_of_two(x, out)
    np.testing.assert_allclose(out[:5], 2.0**-126, rtol=2e-7)
    np.testing.assert_allclose(out[5:], [1, 2, 4], rtol=2e-7)
