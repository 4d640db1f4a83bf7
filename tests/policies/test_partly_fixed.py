import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.config.run import configured
from mpi_es.policies import make
from mpi_es.policies.partly_fixed import PartlyFixed
from mpi_es.strategies.base import Seeded
from mpi_es.strategies.low_rank import LowRankNoise
from mpi_es.strategies.noise import ComputedNoise

USER = "tests.policies.user_policies:Remembering"


@pytest.fixture
def policy():
    return make(configured(policy=USER), spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(2))


@pytest.mark.parametrize("part", ["cell", "out", "out.weight", "cell.bias_hh"])
def test_a_part_and_the_fixed_rest_answer_as_the_whole_agent(policy, part):
    agents = np.random.default_rng(0).standard_normal((3, policy.dim), np.float32)
    evolving = np.zeros(policy.dim, bool)
    evolving[policy.parts[part]] = True
    agents[:] = np.where(evolving, agents, agents[0])
    partly = PartlyFixed(policy, part, agents[0])
    rows = agents[:, policy.parts[part]]
    observations = np.ones((3, 3), np.float32)
    ours, _ = partly.outputs(partly.unpack(rows), observations, partly.initial_memory(3))
    expected, _ = policy.outputs(policy.unpack(agents), observations, policy.initial_memory(3))
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(partly.whole(rows), agents)
    np.testing.assert_array_equal(partly.whole(rows[1]), agents[1])


@pytest.mark.parametrize("part", ["cell", "out", "out.weight", "cell.bias_hh"])
def test_factors_of_a_part_are_those_of_the_whole_agent_that_are_not_zero(part):
    config = configured(policy=USER, strategy="openai_es", noise="low-rank", noise_rank=2)
    policy = make(config, spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(2))
    agent = policy.initial(0)
    partly = PartlyFixed(policy, part, agent)
    centre = agent[policy.parts[part]]
    population = Seeded(centre, 0.3, np.arange(2))
    noise = LowRankNoise(ComputedNoise(1, partly.layout.size), partly.layout, keeps_factors=True)
    numbers = np.stack([noise.candidate(population, i).numbers for i in range(4)])
    seen, memory = np.ones((4, 3), np.float32), policy.initial_memory(4)
    ours, _ = partly.outputs(partly.unpack_factors(centre, numbers), seen, memory)
    sums = np.stack([population.candidate(i, noise) for i in range(4)])
    theirs, _ = policy.outputs(policy.unpack(partly.whole(sums)), seen, memory)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_the_numbers_of_the_part_in_the_given_agent_do_not_matter(policy):
    agent = policy.initial(0)
    other = agent.copy()
    other[policy.parts["out"]] = 9
    ours, theirs = (PartlyFixed(policy, "out", base) for base in (agent, other))
    np.testing.assert_array_equal(ours.whole(ours.initial(1)), theirs.whole(theirs.initial(1)))
    np.testing.assert_array_equal(ours.initial(1), policy.initial(1)[policy.parts["out"]])
