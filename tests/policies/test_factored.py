import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

from mpi_es.config.run import configured
from mpi_es.policies import make
from mpi_es.policies.batched_module import BatchedModule
from mpi_es.policies.factored import FactoredParameters
from mpi_es.policies.tiles import TILE, Refused
from mpi_es.strategies.base import Seeded
from mpi_es.strategies.low_rank import Layout, LowRankNoise
from mpi_es.strategies.noise import ComputedNoise
from tests.policies.test_batched_module import LAYERS, Cell, packed

pytestmark = pytest.mark.usefixtures("one_torch_thread")


class Embedded(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(11, 7), nn.Linear(7, 3)

    def forward(self, x):
        return self.out(self.words(x.long().abs().clamp(max=10))[:, 0])


MODULES = LAYERS | {
    "odd widths": (lambda: nn.Sequential(nn.Linear(17, 31), nn.Tanh(), nn.Linear(31, 5)), (17,)),
    "embedding": (Embedded, (1,)),
}


def build(module, shape, rank):
    draw = torch.Generator().manual_seed(0)
    module = module.eval().requires_grad_(False)
    return BatchedModule(
        module, lambda: torch.randn(1, *shape, generator=draw), isinstance(module, Cell), rank
    )


@pytest.fixture(params=MODULES)
def network(request):
    torch.manual_seed(0)
    make_module, shape = MODULES[request.param]
    return make_module(), shape


def numbers_of(module, rank, k):
    layout = Layout([tuple(p.shape) for p in module.parameters()], rank)
    return 0.5 * torch.randn(k, layout.size), nn.utils.parameters_to_vector(module.parameters())


@pytest.mark.parametrize("rank", [1, 3])
def test_a_row_is_equal_at_every_place_and_in_every_number(network, rank):
    module, shape = network
    batched = build(module, shape, rank)
    mine, centre = numbers_of(module, rank, 1)
    seen = torch.randn(1, *shape)
    alone = batched(batched.unpack(mine, centre), seen, [None])
    again = batched(batched.unpack(mine, centre), seen, alone[1])
    for k in (2, 15, TILE, TILE + 1, 2 * TILE + 3):
        for place in range(0, k, 1 if k == TILE else 7):
            others, _ = numbers_of(module, rank, k)
            theirs = torch.randn(k, *shape)
            others[place], theirs[place] = mine[0], seen[0]
            tiles = batched.unpack(others, centre)
            outputs, memory = batched(tiles, theirs, [None] * k)
            assert packed(outputs, memory)[place] == packed(*alone)[0]
            assert packed(*batched(tiles, theirs, memory))[place] == packed(*again)[0]


@pytest.mark.parametrize("rank", [1, 3])
def test_answers_are_those_of_matrices_multiplied_out(network, rank):
    module, shape = network
    batched = build(module, shape, rank)
    rows, centre = numbers_of(module, rank, 3)
    seen = torch.randn(3, *shape)
    outputs, _ = batched(batched.unpack(rows, centre), seen, [None] * 3)
    named = dict(module.named_parameters())
    for row, one, output in zip(rows, seen, outputs, strict=True):
        whole = dict(zip(named, FactoredParameters(named, rank).whole(row), strict=True))
        inputs = (one[None], None) if isinstance(module, Cell) else (one[None],)
        answer = torch.func.functional_call(module, whole, inputs)
        answer = answer[0] if isinstance(module, Cell) else answer
        torch.testing.assert_close(output, answer[0], rtol=1e-4, atol=1e-5)


def test_no_number_moves_the_centre_not_at_all(network):
    module, shape = network
    batched = build(module, shape, 1)
    rows, centre = numbers_of(module, 1, 1)
    seen = torch.randn(1, *shape)
    output, _ = batched(batched.unpack(0 * rows, centre), seen, [None])
    answer = module(seen, None)[0] if isinstance(module, Cell) else module(seen)
    torch.testing.assert_close(output, answer, rtol=1e-4, atol=1e-5)


class Bare(nn.Linear):
    def __init__(self):
        super().__init__(5, 3)

    def forward(self, x):
        return x @ self.weight.T


class Norm(nn.Embedding):
    def __init__(self):
        super().__init__(5, 3, max_norm=1.0)

    def forward(self, x):
        return super().forward(x.long().abs().clamp(max=4))[:, 0]


@pytest.mark.parametrize(
    ("make_module", "shape", "reason"),
    [
        (
            Bare,
            (5,),
            "__get__ reads the matrix weight; --noise low-rank supports only linear, conv2d, embedding",
        ),
        (lambda: nn.Sequential(nn.Conv2d(4, 4, 3, groups=2), nn.Flatten()), (4, 5, 5), "has 2 groups"),
        (Norm, (1,), "an embedding has a max_norm"),
    ],
)
def test_what_reads_a_matrix_otherwise_is_refused(make_module, shape, reason):
    with pytest.raises(Refused, match=reason):
        build(make_module(), shape, 1)


def test_a_policy_answers_for_candidates_of_low_rank_as_for_their_whole_parameters():
    config = configured(
        policy="tests.policies.user_policies:Remembering",
        strategy="openai_es",
        noise="low-rank",
        noise_rank=2,
    )
    policy = make(config, spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(2))
    noise = LowRankNoise(ComputedNoise(1, policy.layout.size), policy.layout, keeps_factors=True)
    population = Seeded(policy.initial(0), 0.3, noise.keys(0, 3))
    factored = [noise.candidate(population, i) for i in range(7)]
    whole = np.stack([*(population.candidate(i, noise) for i in range(6)), population.centre])
    seen, memory = np.ones((7, 3), np.float32), policy.initial_memory(7)
    numbers = np.stack([one.numbers for one in factored])
    ours, _ = policy.outputs(policy.unpack_factors(population.centre, numbers), seen, memory)
    theirs, _ = policy.outputs(policy.unpack(whole), seen, memory)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_a_heavy_network_is_tested_less_often(monkeypatch):
    work = 8 * 9 * 40 * 40  # channels, kernel, picture

    def looks():
        seen = []
        module = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Flatten()).requires_grad_(False)
        BatchedModule(module, lambda: seen.append(0) or torch.randn(1, 1, 42, 42), False, rank=1)
        return len(seen)

    light = looks()
    monkeypatch.setattr("mpi_es.policies.batched_module.AFFORDED", 4 * work)
    middle = looks()
    monkeypatch.setattr("mpi_es.policies.batched_module.AFFORDED", 1)
    assert light > middle > looks() > 0
