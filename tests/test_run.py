import dataclasses
import math

import numpy as np
import pytest

from mpi_es import train
from mpi_es.config.parts import changed
from mpi_es.config.run import configured
from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import UserError
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.policies.mlp import MLP
from mpi_es.run_file import checkpoint
from mpi_es.run_file.observations import ObservationStatistics
from mpi_es.seeds import held_out_seeds
from mpi_es.strategies.base import Dense
from mpi_es.strategies.noise import ComputedNoise
from mpi_es.telemetry.sinks import Telemetry
from tests.evaluation.drift import Drift
from tests.launching import assert_same

HELD_OUT = 2**30  # the lowest seed of held-out episodes
CONFIG = configured(
    env="tests.evaluation.drift:make",
    hidden=(3,),
    population_size=6,
    strategy="pepg",
    eval_every=3,
    num_eval_rollouts=5,
    max_iter=8,
    console="silent",
    tensorboard=False,
)


class Interrupting(Drift):
    """Has a signal come in the nth reset with a seed of `low` or more."""

    def __init__(self, flag, low, nth):
        self.flag, self.low, self.left = flag, low, nth

    def reset(self, *, seed=None, options=None):
        self.left -= seed >= self.low
        if self.left == 0:
            self.flag.name = "SIGUSR1"
        return super().reset(seed=seed)


def make_run(directory, low=0, nth=0, **changes):
    """A new run, or the one that the directory holds; a signal comes in an Interrupting's episode."""
    config, flag = changed(CONFIG, **changes), StopFlag()
    directory.mkdir(parents=True, exist_ok=True)
    fingerprint = checkpoint.fingerprint(directory)
    stored = checkpoint.load(directory)[0] if (directory / checkpoint.NAME).exists() else None
    policy = MLP(config.policy, Drift.observation_space, Drift.action_space)
    env = Interrupting(flag, low, nth)
    rollout = EnvRollout(policy, SeparateEnvs(lambda: (env, 30)), 1)
    evaluator = Evaluator(SerialComm(), rollout, ComputedNoise(0, rollout.policy.dim), flag)
    return train.make_run(train.Plan("mpi_es.train", config, directory, fingerprint, stored), evaluator)


def evolved(directory, **changes):
    """The file of a run that was evolved to its end, or to where the signal came."""
    make_run(directory, **changes).evolve()
    content = checkpoint.load(directory)[0]
    return {name: content[name] for name in ("state", "progress", "history", "evaluations", "best", "last")}


def test_what_cannot_be_told_ends_the_run_after_it_is_saved(tmp_path):
    class Full:
        """A log on a disk that fills up."""

        def close(self):
            pass

        def generation(self, numbers):
            if numbers["generation"] == 3:
                raise UserError("--console: cannot write (No space left on device)")

    run = make_run(tmp_path, checkpoint_interval=1000)
    run.telemetry = Telemetry([Full()])
    with pytest.raises(UserError, match="No space left"):
        run.evolve()
    content = checkpoint.load(tmp_path)[0]
    assert content["progress"]["generation"] == 3
    assert content["life"]["reason"] == "--console: cannot write (No space left on device)"


@pytest.mark.parametrize("interval", [0, 0.01, 1000])
@pytest.mark.parametrize(("low", "nth"), [(0, 3), (0, 40), (HELD_OUT, 1), (HELD_OUT, 7), (HELD_OUT, 14)])
def test_a_signal_at_any_time_and_a_resume_change_nothing(tmp_path, interval, low, nth):
    options = {"obs_norm": True, "checkpoint_interval": interval, "variable_ep_len": True}
    unbroken = evolved(tmp_path / "unbroken", **options)
    make_run(tmp_path / "broken", low, nth, **options).evolve()
    assert_same(evolved(tmp_path / "broken", **options), unbroken)


class Listener:
    """A sink that keeps a run's last words."""

    def __init__(self):
        self.said = []

    def generation(self, numbers):
        pass

    def finish(self, text):
        self.said.append(text)

    def close(self):
        pass


@pytest.mark.parametrize(
    ("low", "nth", "generation"), [(0, 1, 0), (0, 8, 1), (HELD_OUT, 1, 2), (HELD_OUT, 6, 5)]
)
def test_the_last_word_names_the_generation_that_was_saved(tmp_path, low, nth, generation):
    listener = Listener()
    run = make_run(tmp_path, low, nth)
    run.telemetry = Telemetry([listener])
    run.keep()
    run.evolve()
    directory = run.directory
    how = f"saved in {directory}; continue with\npython -m mpi_es.train --resume {directory}"
    assert listener.said[0] == f"generation {generation}: stopped by SIGUSR1; {how}"


def test_a_run_that_only_lacked_its_last_evaluation_had_not_finished(tmp_path):
    run, listener = make_run(tmp_path, eval_every=0, max_iter=2), Listener()
    run.telemetry = Telemetry([listener])
    for _ in range(2):
        run.one_generation()
    run.evolve()
    assert "already" not in listener.said[0]


def test_a_population_grows_until_its_steps_are_played_or_to_its_largest_size(tmp_path):
    limited = evolved(tmp_path / "limited", num_interactions=10**6, popsize_max=20)["history"]
    assert set(limited["popsize"]) == {18}
    done = evolved(tmp_path, num_interactions=400, num_rollouts=2)["history"]
    batches = done["popsize"] // 6
    assert (done["popsize"] % 6).max() == 0
    assert batches.max() > batches.min() > 1
    assert done["steps"].min() >= 400
    assert (done["steps"] * (batches - 1) / batches).mean() < 400  # no more than it takes
    np.testing.assert_array_equal(done["episodes"], 2 * (done["popsize"] + 1))  # the centre's are played once


def test_the_action_noise_of_a_candidate_is_its_own_in_a_population_that_grew(tmp_path):
    options = {"num_interactions": 400, "episode_seeds": "common", "action_noise": 0.3}
    run = make_run(tmp_path, **options)
    same = Dense(np.zeros((6, run.evaluator.dim)))
    rows = [run.evaluate_batch(same, batch).returns.ravel() for batch in range(3)]
    assert len(np.unique(np.concatenate(rows))) == sum(map(len, rows))


@pytest.mark.parametrize("strategy", ["pepg", "snes", "openai_es"])
def test_all_candidates_of_a_population_that_grew_are_other_ones_and_are_told(tmp_path, strategy):
    run = make_run(tmp_path, num_interactions=400, strategy=strategy)
    population, evaluation = run.play(run.strategy.ask())
    rows = np.array([population.candidate(i, run.evaluator.noise) for i in range(len(population))])
    assert len(np.unique(rows, axis=0)) == len(population) > 6
    assert evaluation.returns.shape == (len(population) + 1, 1)
    before = run.strategy.centre.copy()
    run.strategy.tell(population, evaluation.returns[:-1, 0])
    assert np.abs(run.strategy.centre - before).max() > 0


def test_a_signal_while_the_population_grows_changes_nothing(tmp_path):
    options = {"obs_norm": True, "num_interactions": 150}
    make_run(tmp_path / "broken", 0, 30, **options).evolve()
    assert_same(evolved(tmp_path / "broken", **options), evolved(tmp_path / "unbroken", **options))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"strategy": "pepg", "learning_rate": 1e308, "max_speed": 1e308}, "--learning-rate"),
        (
            {"strategy": "snes", "centre_learning_rate": 1e308, "init_sigma": 100.0},
            "--init-sigma or --centre-learning-rate",
        ),
    ],
)
def test_a_mean_that_is_no_longer_finite_ends_the_run_before_it_is_saved(tmp_path, options, cause):
    run = make_run(tmp_path, **options)
    with pytest.raises(UserError, match=f"centre is no longer finite; try a smaller {cause}"):
        run.evolve()
    assert not checkpoint.exists(tmp_path)


def test_candidates_that_are_not_finite_are_the_strategy_s_and_not_the_function_s(tmp_path):
    run = make_run(tmp_path, strategy="pepg")
    run.strategy.state = dataclasses.replace(run.strategy.state, sigma=np.full(run.evaluator.dim, np.nan))
    with pytest.raises(UserError, match="candidates are no longer finite; try a smaller --learning-rate"):
        run.evolve()


@pytest.mark.parametrize(("every", "evaluated"), [(3, [3, 6, 8]), (0, [8])])
def test_an_evaluation_follows_every_so_many_generations_and_the_last(tmp_path, every, evaluated):
    assert evolved(tmp_path, eval_every=every)["evaluations"]["generation"].tolist() == evaluated


def test_a_target_that_nothing_is_compared_with_is_told(tmp_path):
    for options, can in (
        ({}, True),
        ({"eval_every": 0}, True),
        ({"eval_every": 0, "target_fitness": 1.0}, False),
    ):
        assert (train.unreachable(make_run(tmp_path, **options)) == "") == can


def test_a_held_out_evaluation_is_of_the_mean_uncut_and_undisturbed(tmp_path):
    run = make_run(tmp_path, episode_cap=2, early_stop=1, clip_rewards=(0, 0.5), action_noise=0.5, max_iter=3)
    run.evolve()
    mean, seeds = Dense(run.strategy.centre[None]), held_out_seeds(CONFIG.seed, 5)[None]
    again = run.evaluator.evaluate(mean, seeds, run.held_out_rules())
    np.testing.assert_array_equal(again.returns[0], run.history.evaluations[-1].returns)
    assert again.lengths.max() > 2
    assert run.history.rows.content()["best"].max() <= 1
    assert again.returns.max() > 1


def test_the_best_is_by_held_out_evaluation(tmp_path):
    file = evolved(tmp_path)
    means = file["evaluations"]["returns"].mean(axis=1)
    assert file["best"]["fitness"] == means.max()
    assert file["best"]["generation"] == file["evaluations"]["generation"][means.argmax()]


def test_more_evaluation_episodes_after_a_resume_are_told_apart(tmp_path):
    evolved(tmp_path, max_iter=3)
    returns = evolved(tmp_path, max_iter=6, num_eval_rollouts=8)["evaluations"]["returns"]
    assert np.isnan(returns).sum(axis=1).tolist() == [3, 0]


@pytest.mark.parametrize(("target", "consecutive", "last"), [(-1e9, 1, 3), (-1e9, 2, 6), (1e9, 1, 8)])
def test_a_target_ends_the_run_when_it_was_held(tmp_path, target, consecutive, last):
    file = evolved(tmp_path, target_fitness=target, target_consecutive=consecutive)
    assert file["progress"]["generation"] == last


def test_a_cap_follows_the_mean_length_and_stays_under_the_fixed_one(tmp_path):
    run = make_run(tmp_path, variable_ep_len=True, max_iter=4)
    run.evolve()
    rows = run.history.rows.content()
    assert rows["episode_cap"][0] == 0
    assert rows["episode_cap"][1:].tolist() == [math.ceil(2 * length) for length in rows["mean_length"][:3]]
    capped = evolved(tmp_path / "capped", variable_ep_len=True, episode_cap=6, max_iter=4)
    assert capped["history"]["episode_cap"].max() <= 6
    assert capped["history"]["mean_length"].max() <= 6


def test_a_cap_that_follows_stays_under_that_of_environments_without_a_limit(tmp_path, monkeypatch):
    run = make_run(tmp_path, variable_ep_len=True, max_iter=4)
    monkeypatch.setattr(run.evaluator.rollout, "training_cap", lambda cap: 9)
    run.evolve()
    assert run.progress.episode_cap == run.history.rows.content()["episode_cap"].max() == 9


def test_the_best_knows_how_many_observations_its_normalisation_comes_from(tmp_path):
    run, counts = make_run(tmp_path, obs_norm=True, eval_every=1, max_iter=5), {}
    run.watch = lambda run: counts.update({run.progress.generation: run.progress.observations.count})
    run.evolve()
    assert len(set(counts.values())) == 5
    assert run.best.observed == counts[run.best.generation]


def test_an_adaptive_cap_grows_after_a_generation_of_which_a_share_reached_it(tmp_path):
    eager = evolved(tmp_path / "eager", episode_cap=2, cap_growth=1.5, cap_threshold=0.01, max_iter=5)
    assert eager["history"]["episode_cap"].tolist() == [2, 3, 5, 8, 12]
    history = evolved(tmp_path / "strict", episode_cap=2, cap_growth=1.5, cap_threshold=1.0)["history"]
    reached = history["mean_length"][:-1] == history["episode_cap"][:-1]
    assert (np.diff(history["episode_cap"]) > 0).tolist() == reached.tolist()
    assert not reached.all()


def test_the_mean_runs_beside_the_population_if_it_is_tracked_and_does_not_change_it(tmp_path):
    best = []
    for track, episodes in ((True, 14), (False, 12)):
        history = evolved(tmp_path / str(track), track_centre=track, num_rollouts=2)["history"]
        assert set(history["episodes"]) == {episodes}
        assert np.isnan(history["fitness_of_centre"]).all() != track
        assert np.isnan(history["rank_of_centre"]).all() != track
        best.append(history["best"])
    np.testing.assert_array_equal(*best)


def test_statistics_count_the_training_episodes_only(tmp_path):
    assert evolved(tmp_path / "without")["progress"]["observations"]["mean"].size == 0
    file = evolved(tmp_path, obs_norm=True)
    fingerprint = file["progress"]["observations"]["count"] - ObservationStatistics().count
    assert fingerprint == pytest.approx(file["history"]["steps"].sum())


@pytest.mark.parametrize(("interval", "timed"), [(0, [1, 2, 3, 4, 5, 6, 7]), (1000, [1])])
def test_a_save_is_timed_with_the_generation_after_it(tmp_path, interval, timed):
    run = make_run(tmp_path, checkpoint_interval=interval)
    run.evolve()
    assert np.flatnonzero(run.history.timings.content()["save"]).tolist() == timed
