import cma
import numpy as np
import pytest

from mpi_es.strategies import stopping

WIDE = np.full(4, 0.1)


def recorded(generations):
    """The record of a start whose generations had these fitnesses (popsize,)."""
    record = stopping.new_record()
    for fitness in generations:
        record = stopping.extended(record, np.asarray(fitness, np.float64))
    return record


def reason(record, deviations=WIDE):
    return stopping.why_over(record, 8, deviations, WIDE)


def noisy(generations, slope):
    """Fitnesses of eight candidates that rise by `slope` a generation, with noise of deviation 1."""
    rng = np.random.default_rng(1)
    return slope * np.arange(generations)[:, np.newaxis] + rng.standard_normal((generations, 8))


def test_a_start_that_progresses_goes_on():
    assert reason(recorded(noisy(800, 0.1))) == ""


def test_one_that_does_not_is_over_after_some_generations():
    assert reason(recorded(noisy(501, -0.01))) == "no progress"
    assert reason(recorded(noisy(500, -0.01))) == ""


def test_progress_of_the_median_alone_is_progress():
    assert reason(recorded([[0.0, 1e-3 * g, 1.0 - 1e-3 * g] for g in range(800)])) == ""


def test_a_recent_record_is_progress():
    fitness = noisy(600, -0.01)
    fitness[-99, 0] = 99  # the window is 100 + 100 * 4^1.5 / 8 = 200
    assert reason(recorded(fitness)) == ""
    fitness[-99, 0], fitness[-101, 0] = 0, 99
    assert reason(recorded(fitness)) == "no progress"


@pytest.mark.parametrize("dim", [4, 20, 40])
def test_it_is_pycmas_rule(dim):
    popsize = 4 + int(3 * np.log(dim))
    es = cma.CMAEvolutionStrategy(np.zeros(dim), 1.0, {"verbose": -9, "popsize": popsize, "seed": 1})
    record, ends = stopping.new_record(), {}
    for generation in range(2500):
        losses = abs(generation - 400.3) / 400 + np.arange(popsize)
        es.tell(es.ask(), losses.tolist())
        record = stopping.extended(record, -losses)
        if "tolstagnation" in es.stop():
            ends.setdefault("pycma", generation)
        if stopping.stagnates(record, popsize, dim):
            ends.setdefault("ours", generation)
    assert ends["ours"] == pytest.approx(ends["pycma"], abs=10)  # pycma looks at every fifth generation


def test_more_parameters_than_candidates_are_given_more_generations():
    record = recorded(noisy(3501, -0.01))
    assert not stopping.stagnates(recorded(noisy(3500, -0.01)), 8, 200)  # 200 * (5 + 100 / 8)
    assert stopping.stagnates(record, 8, 200)


def test_flat_fitness_ends_a_start_after_some_generations():
    assert reason(recorded(np.zeros((24, 8)))) == ""  # 10 + 30 * 4 / 8 are needed
    assert reason(recorded(np.zeros((25, 8)))) == "fitness is flat"
    assert reason(recorded(np.full((25, 8), 1e6))) == "fitness is flat"
    assert reason(recorded(np.full((25, 8), -np.inf))) == ""  # which has no range


@pytest.mark.parametrize(
    ("deviations", "why"),
    [
        (np.array([0.1, 0.1, 0.1, 101.0]), "a deviation has grown 1000 times"),
        (np.full(4, 1e-13), "the deviations have vanished"),
        (np.array([1e-13, 1e-13, 1e-13, 0.1]), ""),
    ],
)
def test_steps_that_grow_or_vanish_end_a_start(deviations, why):
    assert reason(recorded(noisy(3, 0.1)), deviations) == why


def test_a_record_keeps_the_highest_mean_and_no_more_than_it_needs(monkeypatch):
    monkeypatch.setattr(stopping, "LONGEST", 5)
    record = recorded([[0, 4], [0, 8], [0, 2], *([[0, 1]] * 9)])
    assert (record["generations"], record["highest_mean"], len(record["best"])) == (12, 4.0, 5)
