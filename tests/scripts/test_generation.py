import numpy as np

import mpi_es

QUIET = {"population_size": 6, "max_iter": 2, "run_dir": None, "console": "silent"}


def test_values_are_the_functions_own_and_a_policy_s_are_mean_returns():
    seen = []
    mpi_es.minimise(lambda x: float(x @ x), [3.0, 4.0], callback=seen.append, **QUIET)
    assert seen[0].values.min() == seen[0].value == seen[0].x @ seen[0].x > 0
    result = mpi_es.evolve_policy("CartPole-v1", callback=seen.append, hidden=(2,), eval_every=1, **QUIET)
    assert seen[-1].values.max() == result.history["best"][-1]
    assert seen[-1].x.dtype == seen[-1].centre.dtype == np.float64


def test_a_callback_may_keep_and_change_what_it_gets():
    def spoil(generation):
        generation.centre[:] = np.nan
        generation.values[:] = np.nan

    one, other = (
        mpi_es.evolve_policy("CartPole-v1", callback=callback, hidden=(2,), **QUIET)
        for callback in (spoil, None)
    )
    assert one.agent.parameters.tobytes() == other.agent.parameters.tobytes()


def test_a_callback_may_change_the_constraints_that_it_gets():
    def spoil(generation):
        generation.constraints[:] = 77.0

    one, other = (
        mpi_es.minimise(lambda x: (x @ x, [1 - x[0]]), [3.0, 3.0], constraints=1, callback=callback, **QUIET)
        for callback in (spoil, None)
    )
    assert one.constraints == other.constraints < 1
