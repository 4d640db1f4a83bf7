from dataclasses import replace

import numpy as np
import pytest

from mpi_es.errors import RolloutError
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.seeds import Stream, rng
from pbt.config import Config
from pbt.explore import explore
from pbt.lineage import ancestors
from pbt.population.population import MemberFailed
from pbt.run import Run
from pbt.selection import SelectionRules, select
from tests.pbt.runs import WALKERS, begun, run

SMALL = Config(member=WALKERS + "Walker", num_agents=6, steps=5, max_iter=5, num_rollouts=3)


def test_a_copy_has_weights_and_hyperparameters_of_its_source():
    done = run(replace(SMALL, explore="none", max_iter=1))
    source, places = done.record.lineage.stacked("source")[0], {}
    for index, member in done.population.members.items():
        places[index] = member.place.tolist()
    assert any(source != np.arange(6))
    assert all(places[index] == places[source[index]] for index in places)
    before = done.record.lineage.stacked("hyperparameters")[0]
    assert (done.hyperparameters == before[source]).all()
    assert [one.hyperparameters["rate"] for one in done.population.members.values()] == before[source][
        :, 0
    ].tolist()


def test_weights_alone_may_be_copied():
    done = run(replace(SMALL, copy="weights", explore="none"))
    values = done.record.lineage.stacked("hyperparameters")
    assert (values == values[0]).all()


def test_members_that_copy_nothing_have_no_source():
    lineage = run(replace(SMALL, copy="nothing", selection="winner-takes-all")).record.lineage
    assert (lineage.stacked("source") == np.arange(6)).all()
    values = lineage.stacked("hyperparameters")
    assert ((values[1] != values[0]).any(axis=1)).sum() == 5  # all but the winner explored


def test_a_baseline_has_no_selection():
    lineage = run(replace(SMALL, selection="none")).record.lineage
    assert (lineage.stacked("source") == np.arange(6)).all()
    assert (lineage.stacked("hyperparameters") == lineage.stacked("hyperparameters")[0]).all()


def test_a_member_alone_trains_like_its_namesake_in_a_baseline():
    alone = run(replace(SMALL, num_agents=1)).record.lineage.stacked("score")
    among = run(replace(SMALL, selection="none")).record.lineage.stacked("score")
    assert alone[:, 0].tolist() == among[:, 0].tolist()


def test_selection_draws_from_a_stream_of_its_own_in_each_generation():
    lineage = run(replace(SMALL, selection="tournament")).record.lineage
    for generation, (scores, source) in enumerate(
        zip(lineage.stacked("score"), lineage.stacked("source"), strict=True), 1
    ):
        drawn = rng(SMALL.seed, Stream.SELECT, generation)
        assert source.tolist() == select("tournament", scores, drawn, SelectionRules()).source.tolist()


def test_exploration_draws_other_numbers_in_each_generation_and_for_each_member():
    done = run(SMALL)
    lineage, space = done.record.lineage, done.population.space
    values, sources = lineage.stacked("hyperparameters"), lineage.stacked("source")
    for generation, source in enumerate(sources[:-1], 1):
        expected = values[generation - 1][source]
        for member in np.flatnonzero(source != np.arange(6)).tolist():
            drawn = rng(SMALL.seed, Stream.EXPLORE, generation, member)
            expected[member] = explore(space, expected[member], drawn, SMALL.resample)
        assert (values[generation] == expected).all()
    assert (sources != np.arange(6)).sum() > 2


def test_selection_raises_the_population():
    longer = replace(SMALL, max_iter=20)
    selected = run(longer).record.lineage.stacked("score")[-1].mean()
    independent = run(replace(longer, selection="none")).record.lineage.stacked("score")[-1].mean()
    assert selected > independent + 1


def test_members_that_diverged_copy_and_go_on():
    lineage = run(replace(SMALL, member=WALKERS + "Diverging")).record.lineage
    scores, source = lineage.stacked("score"), lineage.stacked("source")
    assert np.isnan(scores).nonzero() == (np.array([1]), np.array([1]))
    assert source[1, 1] != 1
    assert np.isfinite(scores[2:]).all()


def test_a_score_without_a_bound_is_that_of_a_member_that_diverged():
    one = begun(replace(SMALL, member=WALKERS + "Unbounded"))
    one.one_generation()
    one.one_generation()
    assert np.isnan(one.record.lineage.stacked("score")).nonzero() == (np.array([1]), np.array([1]))
    assert one.record.lineage.stacked("source")[1, 1] != 1


def test_a_held_out_score_without_a_bound_raises():
    with pytest.raises(MemberFailed, match=r"member \d: evaluate: expected finite held-out returns, got nan"):
        run(replace(SMALL, member=WALKERS + "Unbounded"))


def test_a_rank_without_members_stops_at_a_signal_too():
    one = begun(SMALL)
    one.population.members = {}
    assert one.population.train(1).shape == (0, 2)
    one.population.stop.name = "SIGTERM"
    with pytest.raises(Stopped):
        one.population.train(1)


def test_a_population_of_which_all_diverged_raises():
    with pytest.raises(RolloutError, match="generation 1: expected a finite score, got none: all diverged"):
        run(replace(SMALL, member=WALKERS + "AllDiverging"))


def test_ancestors_are_the_sources_of_copies():
    source = np.array([[0, 0, 2], [2, 1, 2], [0, 1, 1]])
    assert ancestors(source, 0).tolist() == [2, 2, 0]
    assert ancestors(source, 1).tolist() == [0, 1, 1]


def test_the_winner_is_evaluated_as_it_was_scored():
    done = run(replace(SMALL, eval_every=2))
    lineage = done.record.lineage
    winners = lineage.stacked("score").argmax(axis=1)
    assert [(held.generation, member) for member, held in lineage.evaluations] == [
        (generation, winners[generation - 1]) for generation in (2, 4, 5)
    ]


@pytest.mark.parametrize("selection", ["truncation", "winner-takes-all"])
def test_a_run_that_a_smaller_max_iter_ends_has_its_held_out_evaluation(selection):
    config = replace(SMALL, selection=selection, max_iter=3)
    shorter, longer = run(config), begun(replace(config, max_iter=9))
    for _ in range(3):
        longer.one_generation()
    assert longer.record.lineage.evaluations == []
    longer.population.config = config
    Run(longer.population, longer.hyperparameters, 3, longer.record).evolve()
    (member, held_out), *others = longer.record.lineage.evaluations
    assert longer.record.shown == [held_out.generation]
    assert (others, longer.record.saves[-1]) == ([], 3)
    wanted, reference = shorter.record.lineage.evaluations[0]
    assert (member, held_out.returns.tolist()) == (wanted, reference.returns.tolist())
