import math

import crfmnes.alg
import numpy as np
import pytest
from cma.restricted_gaussian_sampler import GaussVDSampler

from mpi_es import seeds
from mpi_es.errors import UserError
from mpi_es.seeds import Stream
from mpi_es.strategies import cr_fm_nes
from mpi_es.strategies.cr_fm_nes import CRFMNES
from tests.strategies.making import evolve, made


def ellipsoid(rows):
    return -(np.logspace(0, 6, rows.shape[1]) * np.square(rows)).sum(axis=1)


def cigar(rows):
    """One long axis, which lies along no parameter."""
    along = rows.sum(axis=1) / math.sqrt(rows.shape[1])
    across = rows - along[:, np.newaxis] / math.sqrt(rows.shape[1])
    return -(1e3 * np.square(across).sum(axis=1) + along**2)


def rosenbrock(rows):
    return -(100 * np.square(rows[:, 1:] - rows[:, :-1] ** 2) + np.square(1 - rows[:, :-1])).sum(axis=1)


@pytest.mark.parametrize("length", [0.1, 1.0, 5.0])
def test_its_natural_gradients_are_those_of_vd_cma_in_pycma(length):
    rng = np.random.default_rng(3)
    y, v, weights = rng.standard_normal((6, 7)), rng.standard_normal(7), rng.random(6)
    v *= length / np.linalg.norm(v)
    u, v2 = v / length, length**2
    p_and_q = GaussVDSampler._pvec_and_qvec(u, v2, y, weights)
    constants = GaussVDSampler._alpha_avec_bsca_invavnn(u**2, v2)
    of_v, of_d = GaussVDSampler._ngv_ngd(np.ones(7), u, u**2, length, v2, *constants, *p_and_q)
    d, times_length = cr_fm_nes._natural_gradients(y, v)
    np.testing.assert_allclose(weights @ d, of_d, rtol=1e-9)
    np.testing.assert_allclose(weights @ times_length / length, of_v, rtol=1e-9)


def test_the_axes_have_the_covariance_that_they_stand_for():
    v = np.array([1.0, -2.0, 0.5])
    root = cr_fm_nes._stretched(np.eye(3), v, 1)
    np.testing.assert_allclose(root @ root.T, np.eye(3) + np.outer(v, v))
    np.testing.assert_allclose(cr_fm_nes._stretched(root, v, -1), np.eye(3), atol=1e-15)


def test_after_each_generation_sigma_alone_is_the_volume():
    strategy = made(CRFMNES, np.ones(6), 0.5, 8, seed=1)
    for _ in range(20):
        evolve(strategy, ellipsoid, 1)
        d, v = np.diag(strategy.state.d), strategy.state.v
        assert np.linalg.det(d @ (np.eye(6) + np.outer(v, v)) @ d) == pytest.approx(1)


def test_the_weight_of_distance_solves_its_equation():
    for dim in (1, 20, 10**6):
        h = cr_fm_nes._distance_weight(dim)
        assert (1 + h**2) * math.exp(h**2 / 2) / 0.24 - 10 - dim == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("function", "generations"), [(ellipsoid, 600), (cigar, 500), (rosenbrock, 1000)])
def test_it_solves(function, generations):
    assert evolve(made(CRFMNES, np.linspace(0.2, 0.8, 10), 0.3, 12, seed=2), function, generations) > -1e-8


@pytest.mark.parametrize("seed", range(4))
def test_it_does_not_explode_where_sigma_was_too_small(seed):
    def sphere(rows):
        return -np.square(rows).sum(axis=1)

    assert evolve(made(CRFMNES, np.full(20, 3.0), 0.001, 12, seed), sphere, 300) > -1e-6


def test_a_slope_without_an_end_is_left_by_infinity_not_by_an_exception():
    strategy = made(CRFMNES, np.zeros(6), 0.5, 8, seed=1)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(3000):
            evolve(strategy, lambda rows: rows.sum(axis=1), 1)
            if not np.isfinite(strategy.centre).all():
                break
    assert strategy.state.sigma > 1e100


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("popsize", [4, 40])
def test_few_parameters_are_survived(dim, popsize):
    strategy = made(CRFMNES, np.full(dim, 3.0), 0.1, popsize, seed=1)
    assert evolve(strategy, ellipsoid, 200) > -9e6
    assert np.isfinite(strategy.centre).all()
    assert strategy.state.d.min() > 0


def test_a_single_parameter_is_refused():
    with pytest.raises(UserError, match="--strategy: expected another strategy for a single parameter"):
        made(CRFMNES, np.zeros(1), 0.1, 8, seed=1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("dim", "popsize"), [(10, 6), (10, 12), (40, 16)])
@pytest.mark.parametrize("function", [ellipsoid, cigar, rosenbrock])
def test_its_course_is_that_of_the_authors_program(monkeypatch, function, dim, popsize, seed):
    monkeypatch.setattr(cr_fm_nes, "LARGEST_CHANGE", 1e300)  # which has no such limit
    ours = made(CRFMNES, np.linspace(0.2, 0.8, dim), 0.5, popsize, seed)
    s = ours.state
    theirs = crfmnes.alg.CRFMNES(
        dim,
        lambda x: -function(x.T)[0],
        s.centre[:, np.newaxis].copy(),
        s.sigma,
        popsize,
        v=s.v[:, np.newaxis],
    )
    theirs.D = s.d[:, np.newaxis]
    for generation in range(30):
        rng = seeds.rng(seed, Stream.SAMPLE, generation)
        z = rng.standard_normal((popsize // 2, dim))
        monkeypatch.setattr(np.random, "randn", lambda *_, z=z: z.T)
        theirs.one_iteration()
        evolve(ours, function, 1)
        np.testing.assert_allclose(ours.state.sigma, theirs.sigma, rtol=1e-6)
        np.testing.assert_allclose(ours.centre, theirs.m[:, 0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(ours.state.d, theirs.D[:, 0], rtol=1e-6)
