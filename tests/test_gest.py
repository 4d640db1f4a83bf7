"""mpi_es.gest: a Search behind the interface of gest-api."""

import copy
import math

import numpy as np
import pytest
from gest_api import Generator
from gest_api.vocs import VOCS, ContinuousVariable

import mpi_es
from mpi_es.config.run import STRATEGIES
from mpi_es.errors import UserError
from mpi_es.gest import ESGenerator

DOMAINS = {"x": [-2.0, 2.0], "y": [0.0, 10.0], "z": [-1.0, 5.0]}
FEW = {"population_size": 8, "seed": 4}


def problem(kind="MINIMIZE", **others):
    return VOCS(**{"variables": DOMAINS, "objectives": {"f": kind}} | others)


def paraboloid(point):
    return (point["x"] - 1) ** 2 + (point["y"] - 2) ** 2 + (point["z"] - 3) ** 2


def evaluated(points, function=paraboloid):
    return [point | {"f": function(point)} for point in points]


def test_its_points_are_the_candidates_of_a_search():
    generator = ESGenerator(problem(), 0.125, **FEW)
    bounds = ([-2, 0, -1], [2, 10, 5])
    search = mpi_es.Search([0, 5, 2], [0.5, 1.25, 0.75], minimise=True, bounds=bounds, **FEW)
    for _ in range(5):
        points, asked = generator.suggest(8), search.ask()
        np.testing.assert_array_equal([[point[name] for name in DOMAINS] for point in points], asked)
        generator.ingest(evaluated(points))
        search.tell([paraboloid(dict(zip(DOMAINS, x, strict=True))) for x in asked])
    assert generator.search.best_value == search.best_value


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_values_may_come_in_parts_and_in_any_order(strategy):
    whole, parts = (ESGenerator(problem(), strategy=strategy, **FEW) for _ in range(2))
    order = np.random.default_rng(1)
    for _ in range(10):
        whole.ingest(evaluated(whole.suggest()))
        points = [*parts.suggest(5), *parts.suggest(1), *parts.suggest(), *parts.suggest()]
        results = order.permutation(evaluated(points)).tolist()
        for part in (results[:3], [], results[3:]):
            parts.ingest(part)
    np.testing.assert_array_equal(parts.search.centre, whole.search.centre)
    assert parts.search.generation == 10


@pytest.mark.parametrize(("kind", "sign"), [("MINIMIZE", 1), ("MAXIMIZE", -1)])
def test_it_finds_the_best_point(kind, sign):
    generator = ESGenerator(problem(kind), goal=sign * 1e-6, **FEW)
    while not generator.search.done:
        generator.ingest(evaluated(generator.suggest(), lambda point: sign * paraboloid(point)))
    np.testing.assert_allclose(generator.search.best, [1, 2, 3], atol=1e-3)


def test_no_more_points_are_suggested_than_a_generation_has():
    generator = ESGenerator(problem(), **FEW)
    with pytest.raises(ValueError, match="num_points: expected at most 8 before all 8 values"):
        generator.suggest(9)
    with pytest.raises(TypeError):
        generator.suggest(2.0)
    points = generator.suggest(6)
    with pytest.raises(ValueError, match=r"num_points: expected at most 2 .* got 3"):
        generator.suggest(3)
    points += generator.suggest()
    assert generator.suggest() == generator.suggest(0) == []
    generator.ingest(evaluated(points[1:]))
    with pytest.raises(ValueError, match="num_points: expected at most 0"):
        generator.suggest(1)
    generator.ingest(evaluated(points[:1]))
    assert [point["_id"] for point in points + generator.suggest()] == [*range(16)]


def test_points_are_of_plain_numbers_with_the_constants():
    generator = ESGenerator(problem(constants={"alpha": 0.5}, observables=["temperature"]), **FEW)
    (point,) = generator.suggest(1)
    assert point.keys() == {*DOMAINS, "alpha", "_id"}
    assert {type(point[name]) for name in DOMAINS} == {float}
    assert (point["alpha"], point["_id"]) == (0.5, 0)


def test_the_search_begins_at_default_values_or_in_the_middle():
    variables = DOMAINS | {"y": ContinuousVariable(domain=[0, 10], default_value=2.5)}
    assert ESGenerator(problem(variables=variables)).search.centre.tolist() == [0, 2.5, 2]


@pytest.mark.parametrize("value", [{"f": math.nan}, {"f": None}, {}])
def test_a_point_without_a_value_ranks_last(value):
    generator = ESGenerator(problem(), population_size=16, seed=4)
    for _ in range(60):
        points = generator.suggest()
        generator.ingest([point | value if point["x"] > 0.5 else evaluated([point])[0] for point in points])
    assert 0.25 < generator.search.best_value < 0.26


def test_points_from_elsewhere_have_no_effect():
    generator = ESGenerator(problem(), **FEW)
    foreign = {"x": 1.0, "y": 2.0, "z": 3.0, "f": 0.0}
    generator.ingest([foreign])
    points = generator.suggest()
    generator.ingest([foreign | {"_id": None}, *evaluated(points)])
    generator.ingest([foreign | {"_id": math.nan}])  # in a table of pandas
    assert generator.search.generation == 1
    assert generator.search.best_value == min(map(paraboloid, points))


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"_id": 6}, "_id: expected that of a suggested point without a value, got 6"),  # not suggested yet
        ({"_id": 0}, "_id: expected that of a suggested point without a value, got 0"),  # twice
        ({"_id": 2, "f": math.inf}, "f: expected a finite number, or NaN, got inf"),
    ],
)
def test_of_results_with_a_wrong_one_nothing_counts(wrong, rule):
    generator = ESGenerator(problem(), **FEW)
    points = generator.suggest(4)
    generator.ingest(evaluated(points[:1]))
    with pytest.raises(ValueError, match=rule):
        generator.ingest([*evaluated(points[1:2]), points[2] | {"f": 1.0} | wrong])
    generator.ingest(evaluated(points[1:] + generator.suggest()))
    assert generator.search.generation == 1


@pytest.mark.parametrize(
    ("others", "rule"),
    [
        ({"variables": {}}, "variables: expected one or more, got none"),
        ({"variables": {"x": {1, 2}}}, r"variables\['x'\]: expected a ContinuousVariable, got a DiscreteVar"),
        ({"variables": {"x": "CONTEXTUAL"}}, "expected a ContinuousVariable, got a ContextualVariable"),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, math.inf])}},
            r"a finite domain, got \[0.0, inf\]",
        ),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, 9], dtype=int)}},
            "expected a dtype of real numbers",
        ),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, 1], dtype=(float, (2,)))}},
            "a dtype of real numbers",
        ),
        ({"variables": {"x": ContinuousVariable(domain=[0, 1], default_value=2)}}, "expected a default in"),
        ({"objectives": {}}, "objectives: expected one, MINIMIZE or MAXIMIZE, got none"),
        ({"objectives": {"f": "EXPLORE"}}, "objectives: expected one, .* got ExploreObjective"),
        ({"objectives": {"f": "MINIMIZE", "g": "MAXIMIZE"}}, "got MinimizeObjective, MaximizeObjective"),
    ],
)
def test_problems_that_it_cannot_solve_are_refused(others, rule):
    with pytest.raises(ValueError, match=rf"^vocs\..*{rule}"):
        ESGenerator(problem(**others))


def test_options_are_those_of_a_search():
    with pytest.raises(UserError, match="sigma: expected numbers above 0"):
        ESGenerator(problem(), sigma=0.0)
    with pytest.raises(UserError, match="Search: expected population_size, got 'popsize'"):
        ESGenerator(problem(), popsize=8)


def test_a_copy_continues_exactly():
    generator = ESGenerator(problem(), **FEW)
    generator.ingest(evaluated(generator.suggest()))
    points = generator.suggest(3)
    again = copy.deepcopy(generator)  # as Xopt makes one
    for one in (generator, again):
        one.ingest(evaluated(points + one.suggest()))
        one.ingest(evaluated(one.suggest()))
    np.testing.assert_array_equal(again.search.centre, generator.search.centre)


def test_a_saved_search_continues_in_another_generator(tmp_path):
    first, again = (ESGenerator(problem(), **FEW) for _ in range(2))
    first.ingest(evaluated(first.suggest()))
    first.search.save(tmp_path / "search.h5")
    again.search = mpi_es.Search.load(tmp_path / "search.h5")
    assert [point | {"_id": 0} for point in again.suggest()] == [
        point | {"_id": 0} for point in first.suggest()
    ]


def test_it_is_a_generator_with_ids():
    assert isinstance(ESGenerator(problem()), Generator)
    assert ESGenerator.returns_id


def test_constraints_of_all_kinds_are_met():
    constraints = {"a": ["LESS_THAN", 0.5], "b": ["GREATER_THAN", 3.0], "c": ["BOUNDS", -1.0, 2.0]}
    generator = ESGenerator(problem(constraints=constraints), **FEW)
    for _ in range(120):
        points = evaluated(generator.suggest())
        generator.ingest([point | {"a": point["x"], "b": point["y"], "c": point["z"]} for point in points])
    np.testing.assert_allclose(generator.search.best, [0.5, 3, 2], atol=0.02)
    assert (generator.search.best_constraints <= 0).all()


def test_a_missing_constraint_is_a_failed_call():
    generator = ESGenerator(problem(constraints={"a": ["LESS_THAN", 0.5]}), **FEW)
    points = evaluated(generator.suggest())
    generator.ingest([points[0] | {"f": -99.0}, *(point | {"a": 0.0} for point in points[1:])])
    assert generator.search.best_value > -99


def test_constraints_are_those_of_vocs_only():
    with pytest.raises(ValueError, match="constraints: expected those of vocs only"):
        ESGenerator(problem(), constraints=2, **FEW)


def test_a_generation_that_failed_whole_is_suggested_again():
    generator = ESGenerator(problem(), population_size=16, seed=4)
    points = generator.suggest()
    with pytest.raises(UserError, match="expected a value that is not NaN"):
        generator.ingest([point | {"f": math.nan} for point in points])
    again = generator.suggest()
    assert [point["x"] for point in again] == [point["x"] for point in points]
    generator.ingest(evaluated(again))
    assert generator.search.generation == 1
