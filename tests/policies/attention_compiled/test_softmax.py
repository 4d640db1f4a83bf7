import os
import subprocess
import sys

import numpy as np
import pytest

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import WIDE, load_wide, store
from mpi_es.policies.attention_compiled import softmax
from mpi_es.policies.attention_compiled.patches import PADDING
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
    for i in range(0, len(x), WIDE):
        store(out, i, exp2(load_wide(x, i)))


def test_powers_of_two_are_right_to_single_precision():
    x = np.concatenate([np.linspace(-126, 1, 80_000), np.linspace(-1e-6, 1e-6, 16)]).astype(np.float32)
    out = np.empty_like(x)
    powers_of_two(x, out)
    np.testing.assert_allclose(out, np.exp2(x.astype(np.float64)), rtol=2.5e-7)


def sums_of_columns(queries, keys):
    """Return what 40 kinds of patches get by their queries and keys (40, 4)."""
    scratch, repeats = softmax.allocate(40), np.zeros(40 + PADDING, np.float32)
    repeats[:40] = 1 + np.arange(40) % 3
    scratch.projected.reshape(-1, 8)[:40] = np.hstack([queries, keys])
    softmax.sum_columns(40, repeats, scratch)
    return scratch.importance[:40].copy(), repeats[:40]


@pytest.mark.parametrize("size", [10, 10.25, 64, 2.0**60])  # scores of 4 * 5**2, which is BOUND, and of more
def test_scores_of_any_size_are_shared_out(size):
    rng = np.random.default_rng(1)
    queries, keys = (np.float32(size / 2) * rng.choice([-1, 1], (40, 4)).astype("f") for _ in range(2))
    found, repeats = sums_of_columns(queries, keys)
    scores = queries.astype(np.float64) @ keys.T.astype(np.float64)
    powers = np.exp2(scores - scores.max(axis=1, keepdims=True))
    expected = (repeats / (powers @ repeats)) @ powers
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)


def test_scores_that_are_all_very_low_are_shared_out():
    keys = np.full((40, 4), 30, np.float32)
    keys[7] += 0.25
    found, repeats = sums_of_columns(-keys, keys)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found @ repeats, repeats.sum(), rtol=1e-5)


def test_what_is_no_number_leaves_the_next_picture_alone():
    rng = np.random.default_rng(2)
    queries, keys = rng.standard_normal((2, 40, 4)).astype(np.float32)
    expected, _ = sums_of_columns(queries, keys)
    scratch, repeats = softmax.allocate(40), np.zeros(40 + PADDING, np.float32)
    repeats[:40] = 1 + np.arange(40) % 3
    for value in (np.nan, np.inf):
        scratch.projected[:] = value
        softmax.sum_columns(40, repeats, scratch)
        scratch.projected.reshape(-1, 8)[:40] = np.hstack([queries, keys])
        softmax.sum_columns(40, repeats, scratch)
        assert np.array_equal(scratch.importance[:40], expected)


IN_LANES = """
import sys
import numpy as np
from llvmlite import binding
import mpi_es.jit.decorator
real, binding.get_host_cpu_features = binding.get_host_cpu_features, lambda: {"avx512f": sys.argv[1] == "16"}
from mpi_es.jit import simd
binding.get_host_cpu_features = real
assert str(simd.WIDE) == sys.argv[1]
from mpi_es.policies.attention_compiled import softmax
scratch, repeats = softmax.allocate(45), np.zeros(64, np.float32)
repeats[:45] = np.arange(1, 46)
for size in (0.5, 30):  # with and without the highest scores
    scratch.projected[:] = size * np.random.default_rng(3).standard_normal(len(scratch.projected))
    softmax.sum_columns(45, repeats, scratch)
    print(scratch.importance[:45].tobytes().hex())
"""


def test_vectors_of_8_and_of_16_give_the_same_bits(tmp_path):
    command = [sys.executable, "-c", IN_LANES]
    found = [
        subprocess.run(
            [*command, width],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / width)},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for width in ("8", "16")
    ]
    assert found[0] == found[1]
    assert len(set(found[0].split())) == 2
