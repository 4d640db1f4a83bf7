"""Where the experiments begin: what evolves, and what stays as it is in another agent."""

import numpy as np
import pytest

from mpi_es import train
from mpi_es.agents.agent import Agent
from mpi_es.agents.starting_point import first_agent, fixed_agent
from mpi_es.config import parts
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_policy
from mpi_es.policies.partly_fixed import PartlyFixed
from tests.config.test_presets_car_racing import DIMENSIONS

NUMBERS = np.random.default_rng(0).standard_normal(3667, np.float32)


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """A file with an agent of the paper's size."""
    path = tmp_path_factory.mktemp("base") / "agent.npz"
    np.savez(path, params=NUMBERS)
    return str(path)


def prepared(preset, directory, *options):
    """Return the plan of a preset, its policy, and its first mean."""
    plan = train.prepare([preset, "--run-dir", str(directory), *options])
    policy = make_policy(plan.config)
    policy = policy if plan.base is None else PartlyFixed(policy, plan.config.evolve, plan.base)
    return plan, policy, train.initial_centre(plan, policy)


@pytest.mark.parametrize(("preset", "dim"), DIMENSIONS.items())
def test_an_experiment_has_the_published_dimension_and_begins_as_torch_does(preset, dim, tmp_path, papers):
    base = () if preset == "carracing" else ("--base-from-pretrained", papers)
    plan, policy, mean = prepared(preset, tmp_path / "run", *base)
    assert (policy.dim, mean.shape) == (dim, (dim,))
    whole = make_policy(plan.config)
    drawn = whole.initial(1143)
    part = whole.parts.get(plan.config.evolve, slice(None))
    np.testing.assert_array_equal(mean, drawn[part])
    fixed = np.delete(policy.whole(mean), np.arange(whole.dim)[part])
    np.testing.assert_array_equal(
        fixed, {"all": [], "attention": NUMBERS[1184:], "controller": NUMBERS[:1184]}[plan.config.evolve]
    )


def test_the_mean_begins_with_an_agent_or_its_part(tmp_path, papers):
    _, _, mean = prepared("carracing", tmp_path / "a", "--from-pretrained", papers)
    np.testing.assert_array_equal(mean, NUMBERS)
    both = ("--from-pretrained", papers, "--base-from-pretrained", papers)
    _, _, mean = prepared("carracing-exp1", tmp_path / "b", *both)
    np.testing.assert_array_equal(mean, NUMBERS[1184:])


def test_the_part_that_evolves_may_be_of_another_environment(tmp_path, papers):
    options = ("--base-from-pretrained", papers, "--env-options", "continuous=False")
    _, policy, mean = prepared("carracing-exp1", tmp_path / "run", *options)
    assert policy.dim == 2483 + 2 * 17  # five actions instead of three
    np.testing.assert_array_equal(policy.whole(mean)[:1184], NUMBERS[:1184])


def test_a_layer_evolves_alone(tmp_path, papers):
    options = ("--evolve", "controller.fc", "--base-from-pretrained", papers)
    _, policy, mean = prepared("carracing", tmp_path / "run", *options)
    assert policy.dim == 51
    np.testing.assert_array_equal(policy.whole(mean)[:-51], NUMBERS[:-51])


def test_a_part_that_is_the_whole_module_is_refused():
    config = configured(policy="tests.policies.user_policies:Single", evolve="out")
    with pytest.raises(UserError, match="--evolve: expected all, since no other part would stay fixed"):
        fixed_agent(config, make_policy(config))


@pytest.mark.parametrize(
    ("preset", "options", "complaint"),
    [
        (
            "carracing-exp3",
            ("--hidden", "8"),
            "--base-from-pretrained: expected controller of 987 numbers, got 2483; controller.cell.weight",
        ),
        (
            "carracing-exp1",
            ("--query-dim", "3"),
            r"expected attention of 888 numbers, got 1184; attention.q.weight: \(3, 147\) here",
        ),
        (
            "carracing",
            ("--evolve", "controller.fc", "--hidden", "8"),
            "expected controller.cell of 960 numbers, got 2432; controller.cell.weight_ih_l0",
        ),
        ("carracing-exp1", ("--from-pretrained", "/nowhere"), "--from-pretrained: .* it does not exist or"),
    ],
)
def test_a_part_that_does_not_fit_is_refused_with_the_sizes(preset, options, complaint, tmp_path, papers):
    with pytest.raises(UserError, match=complaint):
        prepared(preset, tmp_path / "run", "--base-from-pretrained", papers, *options)


@pytest.mark.parametrize(
    ("options", "warnings"),
    [
        ({"init_last_layer": 0.0}, ""),
        ({"action_repeat": 1}, "warning: --action-repeat: {agent} 2, this run has 1\n"),
        ({"activation": "relu"}, "warning: --activation: {agent} tanh, this run has relu\n"),
    ],
)
def test_options_with_which_the_agent_would_act_otherwise_are_named(options, warnings, tmp_path, capsys):
    config, path = configured(hidden=(4,), action_repeat=2), tmp_path / "agent.npz"
    policy = make_policy(config)
    Agent(config, policy, policy.initial(0), np.zeros((2, 0))).save(path)
    changed = parts.changed(config, from_pretrained=str(path), **options)
    first_agent(changed, make_policy(changed))
    agent = "the agent of --from-pretrained was trained with"
    assert capsys.readouterr().err == warnings.format(agent=agent)
    changed = parts.changed(config, base_from_pretrained=str(path), evolve="2", **options)
    fixed_agent(changed, make_policy(changed))
    assert capsys.readouterr().err == warnings.format(agent=agent.replace("from", "base-from"))
