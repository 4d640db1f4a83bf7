import numpy as np
import pytest
import torch
from gymnasium import spaces

from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.policies import make, networks
from mpi_es.policies.torch_module import ModulePolicy, network_of, remembers
from tests.policies.user_policies import Remembering, Single

HERE = "tests.policies.user_policies"


def test_buffers_are_the_same_in_every_module_of_a_policy():
    picture = spaces.Box(0, 255, (16, 16, 3), np.uint8)
    policy = make(configured(policy=f"{HERE}:Pictures"), picture, spaces.Discrete(2))
    assert policy.module().scale == policy.module().scale
    again = make(configured(policy=f"{HERE}:Pictures"), picture, spaces.Discrete(2))
    assert policy.module().scale == again.module().scale


def test_a_class_of_modules_is_loaded_and_anything_else_refused():
    assert network_of(Remembering, {}, "it").func is Remembering
    with pytest.raises(UserError, match=r"--policy: expected a subclass of torch\.nn\.Module.* got 'it'"):
        network_of(dict, {}, "it")


class Counting(Single):
    """A network with a running mean, which counts its calls in an attribute or in a buffer."""

    def __init__(self, *of, kind):
        super().__init__(*of)
        self.kind = kind
        self.calls = 0
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, observations):
        self.calls += 1
        self.seen = self.seen + 1
        return super().forward(observations) * (self.calls if self.kind == "attribute" else self.seen)


def test_a_module_that_keeps_what_it_saw_in_itself_is_refused():
    of = spaces.Box(-1, 1, (3,)), spaces.Discrete(2)
    with pytest.raises(UserError, match=r"--policy it: expected the same answer .*; return what it keeps"):
        ModulePolicy("it", network_of(Counting, {"kind": "attribute"}, "it"), *of)


class Table(torch.nn.Module):
    """A network that reads whole numbers from 1 to 4."""

    def __init__(self, *of):
        super().__init__()
        self.table = torch.nn.Embedding(4, 2)

    def forward(self, observations):
        return self.table(observations.long().flatten() - 1)


@pytest.mark.parametrize("space", [spaces.Discrete(4, start=1), spaces.Box(1, 4, (1,), np.float32)])
def test_a_module_is_tried_on_observations_of_its_space_only(space):
    policy = ModulePolicy("it", Table, space, spaces.Discrete(2))
    assert policy.dim == 8


class Masked(Single):
    def forward(self, observations, mask=None):
        return super().forward(observations)


def test_a_second_argument_by_position_is_told_to_be_the_memory():
    with pytest.raises(UserError, match=r"\(outputs, memory\), got 'Tensor'; .* is the memory"):
        ModulePolicy("it", Masked, spaces.Box(-1, 1, (3,)), spaces.Discrete(2))


class Failing(Single):
    def forward(self, observations):
        assert not observations.any(), "not of this kind"
        return super().forward(observations)


def test_a_module_that_fails_on_other_observations_than_zeros_is_refused_in_a_line():
    with pytest.raises(UserError, match=r"--policy it: failed on observations \(1, 3\) .*: not of this kind"):
        ModulePolicy("it", Failing, spaces.Box(-1, 1, (3,)), spaces.Discrete(2))


def test_a_forward_s_changes_of_a_buffer_do_not_reach_the_next_call():
    of = spaces.Box(-1, 1, (3,)), spaces.Discrete(2)
    policy = ModulePolicy("it", network_of(Counting, {"kind": "buffer"}, "it"), *of)
    weights, seen = policy.unpack(policy.initial(1)[None]), np.ones((1, 3), np.float32)
    first, second = (policy.outputs(weights, seen, policy.initial_memory(1))[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    network = networks.with_parameters(policy.module(), policy.initial(1))
    np.testing.assert_array_equal(network(torch.ones(1, 3)), first)  # its first call


class Scaled(Single):
    """A network whose layers share a buffer, and with another whose numbers are one number in memory."""

    def __init__(self, *of):
        super().__init__(*of)
        self.register_buffer("scale", torch.ones(3))
        self.out.register_buffer("scale", self.scale)
        self.register_buffer("more", torch.ones(1).expand(3))

    def forward(self, observations):
        self.scale += self.more
        return super().forward(observations * self.out.scale)


def test_layers_may_share_a_buffer():
    policy = ModulePolicy("it", Scaled, spaces.Box(-1, 1, (3,)), spaces.Discrete(2))
    weights, memory = policy.unpack(policy.initial(1)[None]), policy.initial_memory(1)
    outputs, _ = policy.outputs(weights, np.ones((1, 3), np.float32), memory)
    network = networks.with_parameters(policy.module(), policy.initial(1))
    np.testing.assert_array_equal(network.out(torch.full((1, 3), 2.0)), outputs)
    np.testing.assert_array_equal(network(torch.ones(1, 3)), outputs)


def test_complex_parameters_are_refused():
    class Complex(Single):
        def forward(self, observations):
            return super().forward(observations.cfloat()).real

    with pytest.raises(
        UserError, match=r"real parameters, got 'out.weight of torch.complex64'; torch.view_as_c"
    ):
        ModulePolicy(
            "it", lambda *of: Complex(*of).to(torch.complex64), spaces.Box(-1, 1, (3,)), spaces.Discrete(2)
        )


def test_a_module_may_have_any_precision():
    of = spaces.Box(-1, 1, (3,)), spaces.Discrete(2)

    class Half(Single):
        def forward(self, observations):
            return super().forward(observations.bfloat16())

    policy = ModulePolicy("it", lambda *of: Half(*of).bfloat16(), *of)
    assert policy.initial(1).dtype == np.float32


class Both(torch.nn.Module):
    def forward(self, x, memory=None, *, scale=1):
        return x, memory


def test_a_module_remembers_where_its_forward_takes_a_second_argument_by_position():
    assert remembers(Both())
    assert remembers(torch.nn.LSTM(2, 2))
    assert not remembers(torch.nn.Linear(2, 2))


@pytest.mark.parametrize(
    ("name", "description"),
    [("Plain", "evaluated in batches"), ("Drawing", "one after another: torch.func.vmap refuses it")],
)
def test_a_policy_describes_how_it_evaluates_and_chooses_so_again(name, description):
    box = spaces.Box(-1, 1, (5,), np.float32)
    policies = [make(configured(policy=f"{HERE}:{name}"), box, spaces.Discrete(2)) for _ in range(2)]
    assert description in policies[0].description
    assert policies[0].description == policies[1].description


def test_factors_that_are_refused_leave_the_batch_and_say_why():
    class Own(torch.nn.Module):
        def __init__(self, *spaces):
            super().__init__()
            self.w = torch.nn.Parameter(torch.zeros(3, 2))

        def forward(self, x):
            return x @ self.w

    box = spaces.Box(-1, 1, (3,), np.float32)
    policy = ModulePolicy("own", Own, box, spaces.Discrete(2), rank=1)
    assert policy.layout is None
    told = "networks are evaluated in batches; not by their factors: matmul reads the matrix w;"
    assert policy.description.startswith(told)
    accepted = ModulePolicy("linear", lambda *_: torch.nn.Linear(3, 2), box, spaces.Discrete(2), rank=1)
    assert (accepted.batched, accepted.description) == (None, "networks are evaluated in batches")


def test_the_attention_agent_in_torch_keeps_the_weights_that_it_looks_with():
    square = spaces.Box(0, 255, (40, 40, 3), np.uint8)
    policy = make(configured(policy="attention", hidden=(6,), patch_size=5), square, spaces.Discrete(2))
    assert policy.batched is None


def test_numbers_of_each_network_are_its_own():
    box = spaces.Box(-1, 1, (3,), np.float32)
    policy = ModulePolicy("linear", lambda *_: torch.nn.Linear(3, 2), box, spaces.Discrete(2))
    rows = np.random.default_rng(0).normal(size=(4, policy.dim)).astype(np.float32)
    seen = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    outputs, memory = policy.outputs(policy.unpack(rows), seen, policy.initial_memory(4))
    expected = [row[:6].reshape(2, 3) @ x + row[6:] for row, x in zip(rows, seen, strict=True)]
    np.testing.assert_allclose(outputs, expected, rtol=1e-5)
    assert [recall.content for recall in memory] == [None] * 4
