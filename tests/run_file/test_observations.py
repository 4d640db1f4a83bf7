import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpi_es.evaluation.normalisation import normalise, of_episodes
from mpi_es.run_file.observations import ObservationStatistics


def episodes(seed, lengths, mean=3.0, deviation=2.0):
    """Observations (length, 4) of some episodes."""
    draw = np.random.default_rng(seed)
    return [draw.normal(mean, deviation, (length, 4)) for length in lengths]


def rows_of(observed):
    """The rows of a rollout."""
    differences = [x - x[0] for x in observed]
    sums = [np.array([d.sum(axis=0), np.square(d).sum(axis=0)]) for d in differences]
    firsts = np.array([x[0] for x in observed])
    return of_episodes(np.array([len(x) for x in observed]), firsts, np.array(sums))


def test_scaling_is_mean_and_deviation_of_all_observations():
    observed = episodes(0, [300, 200, 500])
    mean, inverse = ObservationStatistics.of_size(4).updated(rows_of(observed)).normalisation
    np.testing.assert_allclose(mean, np.concatenate(observed).mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(1 / inverse, np.concatenate(observed).std(axis=0), rtol=1e-4)


@pytest.mark.parametrize("offset", [1e5, -1e7, 1e9])
def test_numbers_far_from_zero_are_normalised_as_those_near_zero(offset):
    observed = episodes(4, [50] * 40, deviation=1.0)
    far, near = ([x + shift for x in observed] for shift in (offset, 0.0))
    statistics = [ObservationStatistics.of_size(4).updated(rows_of(x)).normalisation for x in (far, near)]
    found, expected = (normalise(x[0], one) for x, one in zip((far, near), statistics, strict=True))
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert found.std() == pytest.approx(1, abs=0.1)


@given(st.permutations(range(6)))
def test_the_order_of_episodes_changes_rounding_only(order):
    rows = rows_of(episodes(1, [5, 1, 70, 3, 20, 9]))
    one, other = (ObservationStatistics.of_size(4).updated(x).normalisation for x in (rows, rows[order]))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_generation_by_generation_is_the_same_as_at_once():
    rows = rows_of(episodes(2, [10, 20, 30, 40]))
    first = ObservationStatistics(mean=rows[:, 1:5].mean(axis=0), squares=np.full(4, 1e-2))
    first.count += 1e-9  # so that its own mean stands
    steps = first.updated(rows[:2]).updated(rows[2:])
    once = first.updated(rows)
    assert steps.count == pytest.approx(once.count, rel=1e-12)
    np.testing.assert_allclose(steps.mean, once.mean, rtol=1e-12)
    np.testing.assert_allclose(steps.squares, once.squares, rtol=1e-12)


def test_before_anything_is_seen_observations_stay_as_they_are():
    normalisation = ObservationStatistics.of_size(3).normalisation
    np.testing.assert_array_equal(normalisation, [[0, 0, 0], [1, 1, 1]])
    seen = np.array([[0.5, -2, 4]], np.float32)
    np.testing.assert_array_equal(normalise(seen, normalisation), seen)


def test_a_known_normalisation_is_kept_and_follows_what_is_seen():
    before = np.array([[3, -1, 0, 1e3], [0.5, 2, 100, 1e-3]])
    known = ObservationStatistics.known(before, 1e6)
    np.testing.assert_allclose(known.normalisation, before, rtol=1e-12)
    mean, _ = known.updated(rows_of(episodes(3, [1000] * 1000))).normalisation  # as many, of mean 3
    np.testing.assert_allclose(mean, (before[0] + 3) / 2, rtol=1e-2)


def test_a_number_that_never_changes_is_not_blown_up():
    observed = [np.full((1000, 4), 7.0)]
    normalisation = ObservationStatistics.of_size(4).updated(rows_of(observed)).normalisation
    assert np.abs(normalise(np.full((1, 4), 7.0, np.float32), normalisation)).max() < 0.1
    assert normalisation[1].max() <= 100


def test_updating_leaves_the_old_statistics_alone():
    before = ObservationStatistics.of_size(4)
    before.updated(rows_of(episodes(3, [9])))
    assert before.count == ObservationStatistics().count
    assert not before.mean.any()
