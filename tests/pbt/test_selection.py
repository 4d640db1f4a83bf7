import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbt.selection import SELECTIONS, SelectionRules, best, select

NAN = float("nan")
SCORES = st.lists(
    st.floats(-9, 9) | st.sampled_from([NAN, float("inf"), -float("inf")]), min_size=1, max_size=12
)


def choice(name, scores, fraction=0.25, seed=0, generation=1, periods=(1,)):
    rules = SelectionRules(fraction, generation, periods)
    return select(name, np.array(scores, float), np.random.default_rng(seed), rules)


def chosen(*arguments, **options):
    return choice(*arguments, **options).source.tolist()


def test_all_members_copy_the_winner():
    assert chosen("winner-takes-all", [1, 5, 3, 2]) == [1, 1, 1, 1]


def test_members_as_good_as_the_winner_keep_their_states():
    assert chosen("winner-takes-all", [5, 1, 5]) == [0, 0, 2]


@pytest.mark.parametrize("seed", range(5))
def test_truncation_lets_the_bottom_quarter_copy_from_the_top_quarter(seed):
    source = chosen("truncation", [7, 1, 5, 8, 2, 6, 3, 4], seed=seed)
    assert [source[i] for i in (0, 2, 3, 5, 6, 7)] == [0, 2, 3, 5, 6, 7]
    assert {source[1], source[4]} <= {0, 3}


def test_truncation_draws_every_member_of_the_top():
    drawn = {chosen("truncation", [1, 2, 3, 4], 0.5, seed)[0] for seed in range(20)}
    assert drawn == {2, 3}


@pytest.mark.parametrize(("n", "copies"), [(1, 0), (2, 1), (3, 1), (4, 1), (5, 1), (8, 2), (11, 2)])
def test_truncation_replaces_one_member_at_least(n, copies):
    source = chosen("truncation", range(n))
    assert sum(source[i] != i for i in range(n)) == copies


def test_half_of_an_odd_population_leaves_the_middle_alone():
    source = chosen("truncation", [1, 2, 3], 0.5)
    assert source == [2, 1, 2]


def test_members_with_equal_scores_keep_their_states():
    for name in SELECTIONS:
        assert chosen(name, [2, 2, 2, 2]) == [0, 1, 2, 3]


def test_all_diverged_members_copy_from_the_top():
    assert chosen("truncation", [NAN, 3, NAN, NAN]) == [1, 1, 1, 1]


def test_no_member_copies_if_all_diverged():
    for name in SELECTIONS:
        assert chosen(name, [NAN, NAN, NAN]) == [0, 1, 2]


def test_a_tournament_is_won_by_the_better_of_two():
    scores = np.array([3.0, 1.0, 4.0, 2.0])
    opponents = {seed: chosen("tournament", scores, seed=seed) for seed in range(30)}
    assert {source[1] for source in opponents.values()} == {0, 2, 3}
    assert {source[0] for source in opponents.values()} == {0, 2}
    assert {source[2] for source in opponents.values()} == {2}


@pytest.mark.parametrize("name", SELECTIONS)
@given(scores=SCORES, seed=st.integers(0, 99), fraction=st.floats(0.01, 0.5))
def test_members_copy_only_from_strictly_better_ones(name, scores, seed, fraction):
    source = chosen(name, scores, fraction, seed)
    for member, origin in enumerate(source):
        assert origin == member or np.isfinite(scores[origin])
        assert origin == member or not scores[member] >= scores[origin] or not np.isfinite(scores[member])
    assert source[best(np.array(scores))] == best(np.array(scores))


@pytest.mark.parametrize("name", SELECTIONS)
@given(scores=SCORES, seed=st.integers(0, 99))
def test_a_diverged_member_is_never_copied_and_truncation_replaces_it(name, scores, seed):
    source = chosen(name, scores, seed=seed)
    diverged = [i for i, score in enumerate(scores) if not np.isfinite(score)]
    assert not any(origin in diverged and origin != member for member, origin in enumerate(source))
    if name not in ("tournament", "none") and len(diverged) < len(scores):
        assert all(source[i] != i for i in diverged)


def test_without_selection_all_members_keep_what_they_have():
    one = choice("none", [NAN, 1, 2])
    assert one.source.tolist() == one.guide.tolist() == [0, 1, 2]
    assert not one.explores.any()


FAST_AND_SLOW = [8, 7, 5, 1, 10, 6, 4, 2]  # two sub-populations of four


def test_a_sub_population_is_selected_in_its_own_generations_only():
    for generation in (1, 2, 3, 4, 5):
        source = chosen("mf-pbt", FAST_AND_SLOW, generation=generation, periods=(1, 5))
        assert (source[4:] == [4, 5, 6, 7]) == (generation != 5)
        assert source[3] == 0  # the loser copies the winner of its sub-population
    assert source[7] == 4


def test_a_migrant_to_the_faster_brings_its_hyperparameters_one_to_the_slower_does_not():
    one = choice("mf-pbt", FAST_AND_SLOW, generation=5, periods=(1, 5))
    assert one.source.tolist() == [0, 1, 4, 0, 4, 5, 0, 4]
    assert one.guide.tolist() == [0, 1, 4, 0, 4, 5, 4, 4]  # 6 gets those of the best of its own
    assert one.explores.tolist() == [False] * 3 + [True] + [False] * 3 + [True]


def test_a_migrant_that_is_no_better_stays_away():
    assert chosen("mf-pbt", [3, 3, 3, 3, 2, 2, 2, 2], periods=(1, 5)) == [0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_a_sub_population_stays_whatever_the_fraction(seed):
    scores = [9, 1, 2, 3, 10, 11, 12, 13]
    source = chosen("mf-pbt", scores, 0.5, seed, generation=2, periods=(1, 2))
    assert (source[0], source[7]) == (0, 7)


def test_a_diverged_member_that_gets_no_better_migrant_copies_within_its_sub_population():
    scores = [NAN, NAN, 3, NAN, NAN, NAN, NAN, NAN]
    for seed in range(5):
        assert chosen("mf-pbt", scores, seed=seed, periods=(1, 5), generation=5)[:4] == [2, 2, 2, 2]


def test_each_winner_and_each_migrant_is_copied_once():
    scores = [*range(20, 12, -1), *range(12, 4, -1)]
    source = chosen("mf-pbt", scores, periods=(1, 2), generation=2)
    assert source == [0, 1, 2, 3, 4, 5, 0, 1, 8, 9, 10, 11, 0, 1, 8, 9]


def test_a_sub_population_that_has_diverged_gets_migrants_with_its_own_hyperparameters():
    one = choice("mf-pbt", [4, 3, 2, 1, NAN, NAN, NAN, NAN], generation=5, periods=(1, 5))
    assert one.source.tolist()[4:] == [4, 5, 0, 7]
    assert one.guide.tolist()[4:] == [4, 5, 6, 7]
    one = choice("mf-pbt", [NAN, NAN, NAN, NAN, 4, 3, 2, 1], generation=5, periods=(5, 1))
    assert one.source.tolist()[:4] == [0, 1, 4, 3]
    assert one.guide.tolist()[:4] == [0, 1, 2, 3]
