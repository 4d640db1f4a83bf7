"""Which device a rank takes, and that all tensors of a policy lie there."""

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.policies import make
from mpi_es.policies.device import device_for
from mpi_es.policies.torch_module import ModulePolicy
from tests.policies import user_policies

VECTOR, PICTURE = spaces.Box(-1, 1, (3,), np.float32), spaces.Box(0, 255, (16, 16, 3), np.uint8)
CHOICES = spaces.Discrete(2)
DEVICES = ["cpu", *(["cuda:0"] if torch.cuda.is_available() else [])]
# In batches, one after the other, and around a centre.
NETWORKS = [("Plain", 0), ("Remembering", 0), ("Seeing", 0), ("Pictures", 0), ("Drawing", 0)]
NETWORKS += [("Plain", 2), ("Remembering", 2), ("Seeing", 1)]


@pytest.mark.parametrize(
    ("name", "local_rank", "count", "device"),
    [
        ("cpu", 1, 4, "cpu"),
        ("auto", 1, 0, "cpu"),
        ("auto", 1, 4, "cuda:1"),
        ("cuda", 6, 4, "cuda:2"),
        ("cuda", 6, 1, "cuda:0"),
        ("cuda:3", 1, 4, "cuda:3"),
    ],
)
def test_ranks_of_a_node_take_its_devices_in_turn_unless_one_is_named(name, local_rank, count, device):
    assert device_for(name, local_rank, count) == device


@pytest.mark.parametrize(
    ("name", "count", "words"),
    [
        ("cuda", 0, "cpu or auto, since torch finds no CUDA device, got 'cuda'"),
        ("cuda:0", 0, "cpu or auto, since torch finds no CUDA device, got 'cuda:0'"),
        ("cuda:2", 2, "cuda, or a number below 2, as torch finds 2, got 'cuda:2'"),
    ],
)
def test_a_device_that_is_not_there_is_refused(name, count, words):
    with pytest.raises(UserError, match=f"^--device: expected {words}$"):
        device_for(name, 0, count)


@pytest.mark.parametrize("policy", ["mlp", "lstm", "tests.policies.user_kernels:Leaky"])
def test_a_policy_without_torch_stays_on_the_cpu(policy):
    rule = f"cpu or auto with --policy {policy}, which is not a torch module of your own"
    with pytest.raises(UserError, match=f"^--device: expected {rule}, got 'cuda:1'$"):
        make(configured(policy=policy, device="cuda:1"), VECTOR, CHOICES)
    make(configured(policy=policy, device="auto"), VECTOR, CHOICES)


class OneDevice(TorchDispatchMode):
    """Refuses an operation on tensors of two devices."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        assert len({tensor.device for tensor in tensors if tensor.ndim}) < 2, func
        return func(*args, **(kwargs or {}))


def policy_on(device, name, rank):
    space = PICTURE if name in ("Pictures", "Seeing") else VECTOR
    return ModulePolicy(name, getattr(user_policies, name), space, CHOICES, rank=rank, device=device)


def two_steps(policy, rows=slice(None)):
    """Return the outputs of some of three networks in an episode's first two steps, and the memory then.

    In the second step the first of them begins another episode.
    """
    generator, space = np.random.default_rng(0), policy.spaces[0]
    space.seed(0)
    centre = policy.initial(1)
    seen = np.stack([space.sample() for _ in range(3)])[rows]
    start = np.concatenate([policy.start(seed, 0) for seed in range(3)])[rows]
    if policy.layout:
        numbers = 0.1 * generator.standard_normal((3, policy.layout.size), np.float32)
        weights = policy.unpack_factors(centre, numbers[rows])
    else:
        weights = policy.unpack((centre + 0.1 * generator.standard_normal((3, policy.dim), np.float32))[rows])
    first, memory = policy.outputs(weights, seen, start)
    second, memory = policy.outputs(weights, seen, np.concatenate([start[:1], memory[1:]]))
    return np.stack([first, second]), memory


@pytest.mark.parametrize(("name", "rank"), NETWORKS)
def test_all_tensors_of_a_policy_lie_on_its_device(monkeypatch, name, rank):
    """Torch knows the shapes of tensors on the device "meta", but no numbers; zeros come back from there."""
    back = []
    monkeypatch.setattr(
        torch.Tensor, "cpu", lambda one: back.append(one.device) or torch.zeros(one.shape, dtype=one.dtype)
    )
    with OneDevice():
        policy = policy_on("meta", name, rank)
        outputs, memory = two_steps(policy)
    assert outputs.shape == (2, 3, 2)
    assert ("in batches" in policy.description) == (name != "Drawing")  # no test of the rows failed
    kept = [leaf.device for recall in memory for leaf in recall.content or ()]
    assert {*kept, *back, policy.device} == {torch.device("meta")}
    assert {parameter.device for parameter in policy.module().parameters()} == {torch.device("cpu")}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("name", "rank"), NETWORKS)
def test_a_device_answers_as_the_cpu_and_for_each_network_as_if_it_were_alone(name, rank, device):
    policy = policy_on(device, name, rank)
    outputs, _ = two_steps(policy)
    alone, _ = two_steps(policy, slice(0, 1))
    np.testing.assert_array_equal(outputs[:, :1], alone)
    np.testing.assert_array_equal(two_steps(policy_on(device, name, rank))[0], outputs)
    if name != "Drawing":
        np.testing.assert_allclose(outputs, two_steps(policy_on("cpu", name, rank))[0], rtol=1e-3, atol=1e-5)


def test_a_module_that_makes_tensors_elsewhere_is_refused():
    with pytest.raises(UserError, match=r"^--policy own: failed on observations .* device"):
        ModulePolicy("own", Elsewhere, VECTOR, CHOICES, device="meta")


class Elsewhere(user_policies.Single):
    def forward(self, observations):
        return self.out(observations) + torch.zeros(2)
