from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpi_es.errors import UserError
from pbt.explore import Hyperparameter, check_choices, check_in_effect, explore, tuned

LINEAR = Hyperparameter("clip", 0.1, 0.4)
LOG = Hyperparameter("rate", 1e-5, 1e-2, "log")
GAMMA = Hyperparameter("gamma", 0.8, 0.999, "complement")
EPOCHS = Hyperparameter("epochs", 1, 20, integer=True)
BATCH = Hyperparameter("batch", choices=(32, 64, 128))
ALL = [LINEAR, LOG, GAMMA, EPOCHS, BATCH]


def moves(one, value, count=40):
    return {one.perturb(value, np.random.default_rng(seed)) for seed in range(count)}


def test_a_perturbation_multiplies_by_the_papers_factors():
    assert moves(LINEAR, 0.2) == {0.2 * 0.8, 0.2 * 1.2}


def test_a_perturbation_stays_within_the_bounds():
    assert moves(LINEAR, 0.4) == {0.4 * 0.8, 0.4}


def test_a_discount_moves_by_its_horizon():
    assert sorted(moves(GAMMA, 0.95)) == pytest.approx([1 - 0.05 * 1.2, 1 - 0.05 * 0.8])


@pytest.mark.parametrize(("value", "reached"), [(10, {8, 12}), (2, {1, 3}), (1, {1, 2}), (20, {16, 20})])
def test_an_integer_moves_by_one_at_least(value, reached):
    assert moves(EPOCHS, value) == reached


@pytest.mark.parametrize(("value", "reached"), [(64, {32, 128}), (32, {32, 64}), (128, {64, 128})])
def test_a_choice_moves_to_a_neighbour(value, reached):
    assert moves(BATCH, value) == reached


def holds(one, value):
    """Return whether a value is in the range."""
    return value in one.choices if one.choices else one.low <= value <= one.high


def samples(one, count=4000):
    rng = np.random.default_rng(1)
    return np.array([one.sample(rng) for _ in range(count)])


def test_samples_are_uniform_on_the_declared_scale():
    assert samples(LINEAR).mean() == pytest.approx(0.25, abs=0.005)
    assert np.log10(samples(LOG)).mean() == pytest.approx(-3.5, abs=0.05)
    assert np.log10(1 - samples(GAMMA)).mean() == pytest.approx(np.log10(0.2 * 0.001) / 2, abs=0.05)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
@given(place=st.floats(0, 1))
def test_a_value_is_found_again_at_its_place(one, place):
    value = one.at(place)
    assert holds(one, value)
    assert 0 <= one.place(value) <= 1
    assert one.at(one.place(value)) == pytest.approx(value, rel=1e-9)


def test_a_value_outside_its_range_is_at_the_end():
    assert (LOG.place(0), LINEAR.place(0), LINEAR.place(7), GAMMA.place(1)) == pytest.approx((0, 0, 1, 0))


def test_every_integer_comes_as_often_as_the_others():
    counts = np.bincount(samples(EPOCHS).astype(int), minlength=21)[1:]
    assert (counts > 140).all()
    assert (counts < 260).all()


@given(seed=st.integers(0, 999), resample=st.floats(0, 1), rounds=st.integers(1, 6))
def test_exploration_never_leaves_the_bounds(seed, resample, rounds):
    rng = np.random.default_rng(seed)
    values = np.array([one.sample(rng) for one in ALL])
    for _ in range(rounds):
        values = explore(ALL, values, rng, resample)
    assert all(holds(one, value) for one, value in zip(ALL, values, strict=True))


def test_a_quarter_is_resampled():
    rng = np.random.default_rng(0)
    moved = [explore([LINEAR], np.array([0.2]), rng, 0.25)[0] for _ in range(2000)]
    fresh = [value for value in moved if value not in (0.2 * 0.8, 0.2 * 1.2)]
    assert len(fresh) / 2000 == pytest.approx(0.25, abs=0.03)


def test_tune_selects_hyperparameters_and_their_ranges():
    chosen = tuned(ALL, ["rate=1e-4:1e-3", "epochs"], "PPO")
    assert chosen == [Hyperparameter("rate", 1e-4, 1e-3, "log"), EPOCHS]
    assert tuned(ALL, [], "PPO") == ALL
    assert tuned(ALL, ["none"], "PPO") == []


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("gama", r"--tune, of PPO: expected one of .*, got 'gama'; did you mean 'gamma'\?"),
        ("gamma=1", "--tune: expected name or name=low:high, got 'gamma=1'"),
        ("rate=0:1", r"rate: expected a range above 0 for a log scale, got \(0.0, 1.0\)"),
        ("clip=2:1", r"clip: expected a finite range low <= high"),
        ("gamma=0.5:1", r"gamma: expected a range below 1 for a complement scale"),
        ("clip=-0.1:1", r"--tune: expected clip from 0 on, got 'clip=-0.1:1'"),
        ("epochs=0:9", r"--tune: expected epochs from 1 on"),
        ("batch=1:2", r"--tune: expected batch without a range, since it has choices"),
    ],
)
def test_a_wrong_tune_option_raises(word, complaint):
    with pytest.raises(UserError, match=complaint):
        tuned(ALL, [word], "PPO")


def test_names_are_declared_once():
    with pytest.raises(UserError, match="hyperparameters of PPO: expected each name once"):
        tuned([GAMMA, GAMMA], [], "PPO")


def test_names_are_not_those_of_other_numbers_of_members():
    with pytest.raises(UserError, match=r"hyperparameters of PPO: expected other names, got \['score'\]"):
        tuned([GAMMA, replace(GAMMA, name="score")], [], "PPO")


def test_a_name_is_tuned_once():
    with pytest.raises(UserError, match="--tune: expected each name once, got 'gamma'"):
        tuned(ALL, ["gamma", "gamma"], "PPO")


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ({"low": 1.5, "high": 3, "integer": True}, "n: expected a range between whole numbers"),
        ({"choices": ("tanh", "relu")}, r"n: expected choices that are numbers"),
        ({"name": "", "choices": (1, 2)}, r"hyperparameter: expected a name without '/', .*, got ''"),
    ],
)
def test_a_wrong_hyperparameter_raises(declared, complaint):
    with pytest.raises(UserError, match=complaint):
        Hyperparameter(**{"name": "n"} | declared)


def test_another_value_than_the_one_that_was_set_is_refused():
    check_in_effect({"clip": 0.9}, {"clip": 0.9, "untuned": 3})
    with pytest.raises(UserError, match=r"clip: expected 0.2 in the learner, as the population .* got 0.3"):
        check_in_effect({"clip": 0.2}, {"clip": 0.3})


def test_a_value_that_is_no_choice_is_refused():
    space = [LINEAR, Hyperparameter("n", choices=(32, 64))]
    check_choices(space, np.array([[9.0, 32], [0.2, 64]]))
    with pytest.raises(UserError, match=r"n: expected one of \(32, 64\), got 48"):
        check_choices(space, np.array([[0.2, 32], [0.2, 48]]))
