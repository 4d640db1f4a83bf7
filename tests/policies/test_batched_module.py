import numpy as np
import pytest
import torch
from torch import nn

from mpi_es.policies.batched_module import TILE, BatchedModule, Refused

pytestmark = pytest.mark.usefixtures("one_torch_thread")


class Cell(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.out = kind(5, 7), nn.Linear(7, 3)

    def forward(self, x, memory):
        memory = self.cell(x, memory)
        return self.out(memory[0] if isinstance(memory, tuple) else memory), memory


LAYERS = {
    "linear": (lambda: nn.Linear(5, 3), (5,)),
    "wide": (lambda: nn.Sequential(nn.Linear(64, 65), nn.SELU(), nn.Linear(65, 33)), (64,)),
    "conv": (lambda: nn.Sequential(nn.Conv2d(3, 5, 3, 2, 1), nn.ELU(), nn.Flatten()), (3, 7, 7)),
    "batch norm": (lambda: nn.Sequential(nn.Conv2d(1, 4, 2), nn.BatchNorm2d(4), nn.Flatten()), (1, 5, 5)),
    "layer norm": (lambda: nn.Sequential(nn.Linear(5, 9), nn.LayerNorm(9), nn.Sigmoid()), (5,)),
    "group norm": (lambda: nn.Sequential(nn.Linear(5, 12), nn.GroupNorm(3, 12), nn.SiLU()), (5,)),
    "softmax": (lambda: nn.Sequential(nn.Linear(5, 9), nn.Softmax(1)), (5,)),
    "in place": (lambda: nn.Sequential(nn.Linear(5, 3), nn.ReLU(inplace=True)), (5,)),
    "lstm cell": (lambda: Cell(nn.LSTMCell), (5,)),
    "gru cell": (lambda: Cell(nn.GRUCell), (5,)),
    "rnn cell": (lambda: Cell(nn.RNNCell), (5,)),
}


def build(module, shape=(5,)):
    draw = torch.Generator().manual_seed(0)
    module = module.eval().requires_grad_(False)
    return BatchedModule(module, lambda: torch.randn(1, *shape, generator=draw), isinstance(module, Cell))


def rows_of(module, k, shape):
    dim = sum(parameter.numel() for parameter in module.parameters())
    return 0.5 * torch.randn(k, dim), torch.randn(k, *shape)


def packed(outputs, contents):
    tensors = [[output, *(content or ())] for output, content in zip(outputs, contents, strict=True)]
    return [b"".join(tensor.numpy().tobytes() for tensor in row) for row in tensors]


@pytest.fixture(params=LAYERS)
def layer(request):
    torch.manual_seed(0)
    make, shape = LAYERS[request.param]
    return make(), shape


def test_a_row_is_equal_at_every_place_and_in_every_number(layer):
    module, shape = layer
    batched = build(module, shape)
    parameters, seen = rows_of(module, 1, shape)
    alone = batched(batched.unpack(parameters), seen, [None])
    again = batched(batched.unpack(parameters), seen, alone[1])
    for k in (2, 15, TILE, TILE + 1, 2 * TILE + 3):
        for place in range(0, k, 1 if k == TILE else 7):
            others, theirs = rows_of(module, k, shape)
            others[place], theirs[place] = parameters[0], seen[0]
            tiles = batched.unpack(others)
            outputs, memory = batched(tiles, theirs, [None] * k)
            assert packed(outputs, memory)[place] == packed(*alone)[0]
            assert packed(*batched(tiles, theirs, memory))[place] == packed(*again)[0]


def test_answers_are_those_of_the_module(layer):
    module, shape = layer
    batched = build(module, shape)
    rows, seen = rows_of(module, 3, shape)
    outputs, _ = batched(batched.unpack(rows), seen, [None] * 3)
    for row, one, output in zip(rows, seen, outputs, strict=True):
        nn.utils.vector_to_parameters(row, module.parameters())
        answer = module(one[None], None)[0] if isinstance(module, Cell) else module(one[None])
        torch.testing.assert_close(output, answer[0], rtol=1e-4, atol=1e-5)


def test_episodes_that_begin_do_not_disturb_those_under_way():
    batched = build(Cell(nn.LSTMCell))
    rows, seen = rows_of(Cell(nn.LSTMCell), 4, (5,))
    tiles = batched.unpack(rows)
    fresh, under_way = batched(tiles, seen, [None] * 4)
    later = batched(tiles, seen, under_way)
    mixed = batched(tiles, seen, [None, under_way[1], None, under_way[3]])
    expected = [
        packed(fresh, under_way)[0],
        packed(*later)[1],
        packed(fresh, under_way)[2],
        packed(*later)[3],
    ]
    assert packed(*mixed) == expected


class Linear(nn.Linear):
    def __init__(self):
        super().__init__(5, 3)
        self.register_buffer("sums", torch.zeros(3))
        self.calls, self.seen = 0, []


class Random(Linear):
    def forward(self, x):
        return super().forward(x) + torch.rand(3)


class Dropping(Linear):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, training=True)


class Running(Linear):
    def forward(self, x):
        self.sums += 1
        return super().forward(x) - self.sums


class Collecting(Linear):
    def forward(self, x):
        self.seen.append(x)
        return super().forward(x)


class Counting(Linear):
    def forward(self, x):
        self.calls += 1
        return super().forward(x)


class Branching(Linear):
    def forward(self, x):
        return super().forward(x) * (1 if x.sum() > 0 else -1)


class Numpy(Linear):
    def forward(self, x):
        return super().forward(x) + float(np.random.default_rng().random())


class Growing(Cell):
    def forward(self, x, memory):
        memory = x if memory is None else torch.cat([memory, x])
        return self.out(memory.mean(0, keepdim=True).repeat(1, 2)[:, :7]), memory


class Integers(Cell):
    def forward(self, x, memory):
        return self.out(x.repeat(1, 2)[:, :7]), (memory or 0) + 1


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Random(), "random"),
        (Dropping(), "random"),
        (Running(), "changes its buffers"),
        (Collecting(), "changes its attributes"),
        (Counting(), "changes its attributes"),
        (Branching(), "control flow"),
        (Numpy(), "outputs differ under"),
        (Growing(nn.RNNCell), "memory changes"),
        (Integers(nn.RNNCell), "does not consist of tensors"),
        (nn.Sequential(nn.Linear(5, 4000), nn.Linear(4000, 3)), "parameters are more than"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_what_must_be_evaluated_one_after_the_other_is_refused_and_left_as_it_is(module, reason):
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    state = torch.get_rng_state()
    with pytest.raises(Refused, match=reason):
        build(module)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert (getattr(module, "calls", 0), getattr(module, "seen", [])) == (0, [])


class Leaking(BatchedModule):
    """Has a row that depends on its neighbours where they are not equal to it."""

    place = 0

    def _answer(self, tile, observations, contents):
        outputs, after = super()._answer(tile, observations, contents)
        if len(outputs) == TILE:
            outputs[self.place] = outputs[self.place - 1]
        return outputs, after


@pytest.mark.parametrize("place", [0, TILE - 1])
def test_the_first_and_the_last_row_of_a_tile_are_among_those_that_are_checked(monkeypatch, place):
    monkeypatch.setattr(Leaking, "place", place)
    with pytest.raises(Refused, match="its rows depend on their place or neighbours"):
        Leaking(nn.Linear(5, 3).requires_grad_(False), lambda: torch.randn(1, 5), False)


def test_many_multiplications_are_refused():
    with pytest.raises(Refused, match="multiplications are more than"):
        build(nn.Sequential(nn.Conv2d(3, 16, 3), nn.Flatten()), (3, 42, 42))
