import hashlib

import numpy as np
import pytest

from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import RolloutError
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.policies.mlp import MLP
from mpi_es.policies.options import MLPOptions
from mpi_es.seeds import training_seeds
from mpi_es.strategies.base import Dense, Seeded, WithCentre
from mpi_es.strategies.noise import ComputedNoise
from tests.evaluation.drift import Drift
from tests.launching import ROOT

SCRIPT = ("-m", "mpi4py", "-c")  # which ends all ranks where one fails
POLICY = MLP(MLPOptions(hidden=(4,)), Drift.observation_space, Drift.action_space)
MEAN = np.linspace(-1, 1, POLICY.dim)
COLLECT = EpisodeRules(collect=True)


def make_evaluator(width=3, comm=None, env=Drift, **options):
    rollout = EnvRollout(POLICY, SeparateEnvs(lambda: (env(), 20)), width)
    return Evaluator(comm or SerialComm(), rollout, ComputedNoise(5, POLICY.dim), **options)


def dense(popsize=4):
    return Dense(np.random.default_rng(0).normal(size=(popsize, POLICY.dim)))


def seeded(pairs=2):
    return Seeded(MEAN.astype(np.float32), 0.3, ComputedNoise(5, POLICY.dim).keys(2, pairs))


def test_returns_stand_where_candidate_and_episode_do():
    evaluator, population = make_evaluator(), dense()
    seeds = training_seeds(1, 0, 4, 3, "independent")
    whole = evaluator.evaluate(population, seeds, COLLECT)
    assert (whole.returns.shape, whole.lengths.shape, whole.observations.shape) == ((4, 3), (4, 3), (12, 7))
    for candidate in range(4):
        alone = Dense(population.rows[[candidate]])
        for episode in range(3):
            one = evaluator.evaluate(alone, seeds[[candidate]][:, [episode]], COLLECT)
            assert one.returns[0, 0] == whole.returns[candidate, episode]
            np.testing.assert_array_equal(one.observations[0], whole.observations[3 * candidate + episode])
    np.testing.assert_array_equal(whole.observations[:, 0], whole.lengths.ravel())


@pytest.mark.parametrize("dynamic", [False, True])
def test_progress_counts_the_episodes_that_are_over(dynamic):
    evaluator, counts = make_evaluator(width=1, dynamic=dynamic), []
    progress = evaluator.progress
    progress.listener = lambda: counts.append((progress.done, progress.total, progress.held_out))
    evaluator.evaluate(dense(), training_seeds(1, 0, 4, 3, "independent"), EpisodeRules())
    evaluator.evaluate(Dense(MEAN[None]), training_seeds(1, 0, 1, 2, "paired"), EpisodeRules(held_out=True))
    assert counts == [(n, 12, False) for n in range(1, 13)] + [(1, 2, True), (2, 2, True)]
    assert not progress.share


@pytest.mark.parametrize("width", [1, 2, 5, 50])
def test_the_width_does_not_matter(width):
    seeds = training_seeds(1, 0, 4, 3, "independent")
    one, other = (make_evaluator(w).evaluate(dense(), seeds, COLLECT) for w in (3, width))
    np.testing.assert_array_equal(one.returns, other.returns)
    np.testing.assert_array_equal(one.observations, other.observations)


@pytest.mark.parametrize("population", [dense(), seeded()], ids=["dense", "seeded"])
@pytest.mark.parametrize("centre", [MEAN, MEAN + 1], ids=["its own", "another"])
def test_the_centre_is_one_more_candidate(population, centre):
    evaluator, seeds = make_evaluator(), training_seeds(1, 0, 5, 2, "independent")
    both = evaluator.evaluate(WithCentre(population, centre), seeds, COLLECT)
    alone = evaluator.evaluate(Dense(centre[None]), seeds[4:], COLLECT)
    without = evaluator.evaluate(population, seeds[:4], COLLECT)
    np.testing.assert_array_equal(both.returns, np.concatenate([without.returns, alone.returns]))


def test_a_seeded_population_is_what_its_rows_are():
    evaluator, population = make_evaluator(), seeded()
    rows = np.stack([population.candidate(i, evaluator.noise) for i in range(4)])
    seeds = training_seeds(1, 0, 4, 2, "paired")
    one, other = (evaluator.evaluate(p, seeds, EpisodeRules()) for p in (population, Dense(rows)))
    np.testing.assert_array_equal(one.returns, other.returns)


class World(SerialComm):
    """The size of a larger world."""

    def __init__(self, size):
        self.size = size


@pytest.mark.parametrize(
    ("size", "dynamic", "dedicated", "episodes", "width"),
    [
        (1, False, False, 100, 16),
        (1, True, False, 10, 10),  # alone there is nobody to leave episodes to
        (4, False, False, 40, 10),
        (4, False, True, 42, 14),
        (4, False, False, 41, 11),  # one rank has as many, and none a batch of one
        (4, True, False, 40, 2),
        (4, True, False, 1000, 16),
        (9, False, False, 4, 1),
        (9, True, False, 4, 1),
    ],
)
def test_no_rank_holds_so_many_episodes_that_others_have_none(size, dynamic, dedicated, episodes, width):
    evaluator = make_evaluator(16, World(size), dynamic=dynamic, dedicated_root=dedicated)
    assert evaluator._side_by_side(episodes) == width


def test_idle_time_is_a_share():
    evaluation = make_evaluator().evaluate(dense(), training_seeds(1, 0, 4, 3, "common"), EpisodeRules())
    assert 0 <= evaluation.idle < 1


def test_a_signal_stops_an_evaluation_and_the_next_one_can_run():
    flag = StopFlag()
    evaluator, seeds = make_evaluator(stop_flag=flag), training_seeds(1, 0, 4, 1, "common")
    flag.name = "SIGTERM"
    with pytest.raises(Stopped):
        evaluator.evaluate(dense(), seeds, EpisodeRules())
    flag.name = ""
    assert evaluator.evaluate(dense(), seeds, EpisodeRules()).returns.shape == (4, 1)


def test_a_failure_names_rank_and_host():
    class Fails(Drift):
        def step(self, action):
            raise ValueError("broke")

    with pytest.raises(RolloutError, match=r"^rank 0 on \S+: candidate 0, episode seed \d+, step 0: Val"):
        make_evaluator(env=Fails).evaluate(dense(), training_seeds(1, 0, 4, 1, "common"), EpisodeRules())


def digest_of_sum(noise):
    total = noise.weighted_sum(noise.keys(3, 9), np.linspace(-1, 1, 9))
    return hashlib.sha256(total.tobytes()).hexdigest()


SUM = """
import sys
from types import SimpleNamespace
from mpi4py import MPI
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.strategies.noise import ComputedNoise
from tests.evaluation.test_evaluator import digest_of_sum

comm, dim = MPI.COMM_WORLD, int(sys.argv[1])
rollout = SimpleNamespace(policy=SimpleNamespace(dim=dim))
evaluator = Evaluator(comm, rollout, ComputedNoise(5, dim))
if comm.rank:
    evaluator.loop.serve()
else:
    print(digest_of_sum(evaluator.noise))
    evaluator.loop.stop()
"""


@pytest.mark.parametrize(("ranks", "dim"), [(2, 20_001), (3, 20_001), (3, 2), (5, 70_000)])
def test_ranks_add_up_what_one_does_to_the_bit(launch, ranks, dim):
    done = launch(ranks, *SCRIPT, SUM, dim, cwd=ROOT)
    assert (done.stdout, done.stderr) == (digest_of_sum(ComputedNoise(5, dim)) + "\n", "")


def found(evaluator):
    """Return returns, lengths and observations of several evaluations."""
    said, seeds = [], training_seeds(1, 0, 5, 3, "independent")
    rules = EpisodeRules(7, np.ones((2, 3), np.float32), 0.2, True, 3)
    for population in (dense(), seeded()):
        both = WithCentre(population, MEAN)
        for candidates, part in ((both, seeds), (both, seeds[:, :1]), (population, seeds[:4])):
            one = evaluator.evaluate(candidates, part, rules)
            said.append(f"{one.returns.tolist()} {one.lengths.tolist()} {one.observations.tolist()}\n")
    return "".join(said)


EVALUATE = """
import sys
from mpi4py import MPI
from tests.evaluation.test_evaluator import found, make_evaluator

evaluator = make_evaluator(2, MPI.COMM_WORLD, dynamic=sys.argv[1] == "dynamic")
if evaluator.loop.comm.rank:
    evaluator.loop.serve()
else:
    print(found(evaluator), end="")
    evaluator.loop.stop()
"""


@pytest.mark.parametrize("dispatch", ["static", "dynamic"])
@pytest.mark.parametrize("ranks", [2, 7])
def test_ranks_evaluate_what_one_does_to_the_bit(launch, ranks, dispatch):
    done = launch(ranks, *SCRIPT, EVALUATE, dispatch, cwd=ROOT)
    assert (done.stdout, done.stderr) == (found(make_evaluator(2)), "")
