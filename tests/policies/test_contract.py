import numpy as np
import pytest
import torch
from gymnasium import spaces
from threadpoolctl import threadpool_limits

from mpi_es.config.run import POLICIES, configured
from mpi_es.policies import make
from mpi_es.policies.partly_fixed import PartlyFixed
from mpi_es.policies.torch_module import remembers

VECTOR = spaces.Box(-3, 3, (5,), np.float32)
SMALL = spaces.Box(0, 2, (4, 4, 3), np.uint8)
PICTURE = spaces.Box(0, 255, (16, 16, 3), np.uint8)
HERE = "tests.policies.user_policies"
ACTIONS = [spaces.Discrete(3), spaces.Box(np.array([-1, 0], np.float32), np.array([0.3, 5], np.float32))]

SQUARE = spaces.Box(0, 255, (40, 40, 3), np.uint8)  # 81 of the attention agent's patches

CASES = [(name, {}, SQUARE if name == "attention" else VECTOR) for name in POLICIES]
CASES += [("mlp", {"activation": a, "hidden": h}, VECTOR) for a, h in (("relu", (9,)), ("selu", (8, 7)))]
CASES += [("mlp", {"hidden": ()}, VECTOR), ("mlp", {}, spaces.Discrete(4, start=2)), ("mlp", {}, SMALL)]
CASES += [("rnn", {"activation": "relu"}, VECTOR), ("lstm", {}, spaces.Discrete(4))]
CASES += [(f"{HERE}:{name}", {}, VECTOR) for name in ("Plain", "Remembering", "Normed")]
CASES += [(f"{HERE}:{name}", {}, PICTURE) for name in ("Pictures", "Seeing")]
CASES += [(f"{HERE}:Seeing", {"policy_options": ("cell=GRUCell",)}, PICTURE)]
CASES += [("attention", {"patch_size": 5}, SQUARE), ("attention", {"evolve": "controller"}, SQUARE)]
CASES += [("attention", {"controller": "mlp", "num_frames": 2, "top_k": 3}, SQUARE)]
CASES += [("attention", {"controller": "rnn", "query_dim": 2, "bias": False}, SQUARE)]
CASES += [(f"{HERE}:Remembering", {"evolve": "out"}, VECTOR)]


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(
    params=CASES, ids=lambda case: "-".join([case[0].split(":")[-1], *map(str, case[1].values())])
)
def case(request):
    return request.param


@pytest.fixture(params=ACTIONS, ids=["discrete", "box"])
def policy(case, request):
    return build(case, request.param)


def build(case, actions, **options):
    name, given, observations = case
    sizes = {} if ":" in name else {"hidden": (16, 16) if name == "mlp" else (6,)}
    config = configured(**{**sizes, "policy": name, **given, **options})
    policy = make(config, observations, actions)
    return policy if config.evolve == "all" else PartlyFixed(policy, config.evolve, policy.initial(7))


def observe(space, k, seed=0):
    space.seed(seed)
    return np.stack([np.asarray(space.sample()) for _ in range(k)])


def candidates(policy, k, seed=0):
    return 0.3 * np.random.default_rng(seed).standard_normal((k, policy.dim), np.float32)


def torch_inputs(policy, observations):
    features = getattr(policy, "features", None)  # what the built-in modules read
    tensor = torch.from_numpy(features(observations) if features else observations)
    return tensor.float() if tensor.is_floating_point() else tensor


def module_of(policy):
    """Return the whole policy's module."""
    return (policy.policy if isinstance(policy, PartlyFixed) else policy).module()


def call(module, inputs, memory, remembers):
    answer = module(inputs, memory) if remembers else (module(inputs), None)
    return answer[0].detach().numpy(), answer[1]


def test_dim_and_flat_order_are_those_of_the_module(policy):
    module = module_of(policy)
    vector = policy.whole(candidates(policy, 1)[0])
    torch.nn.utils.vector_to_parameters(torch.from_numpy(vector), module.parameters())
    if not isinstance(policy, PartlyFixed):
        assert policy.dim == len(torch.nn.utils.parameters_to_vector(module.parameters()))
        assert policy.shapes == {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert np.array_equal(torch.nn.utils.parameters_to_vector(module.parameters()).detach().numpy(), vector)


def test_outputs_over_an_episode_agree_with_the_module(policy, case):
    k, parameters = 4, candidates(policy, 4)
    weights, memory = policy.unpack(parameters), policy.initial_memory(k)
    module, theirs, whole = module_of(policy), [None] * k, policy.whole(parameters)
    for t in range(5):
        observations = observe(case[2], k, seed=t)
        outputs, memory = policy.outputs(weights, observations, memory)
        for i in range(k):
            torch.nn.utils.vector_to_parameters(torch.from_numpy(whole[i]), module.parameters())
            inputs = torch_inputs(policy, observations[i : i + 1])
            expected, theirs[i] = call(module, inputs, theirs[i], remembers(module))
            np.testing.assert_allclose(outputs[i], expected[0], rtol=1e-5, atol=1e-5)


def test_a_row_does_not_depend_on_the_other_rows(policy, case):
    for k in (2, 3, 7, 16, 40):
        parameters, observations = candidates(policy, k), observe(case[2], k)
        after = policy.act(policy.unpack(parameters), observations, policy.initial_memory(k))[1]
        outputs, _ = policy.outputs(policy.unpack(parameters), observations, after)
        for i in range(k):
            alone = policy.unpack(parameters[i : i + 1].copy())
            first = policy.act(alone, observations[i : i + 1].copy(), policy.initial_memory(1))[1]
            output, _ = policy.outputs(alone, observations[i : i + 1].copy(), first)
            assert output.tobytes() == outputs[i].tobytes()


def test_a_row_does_not_depend_on_its_place(policy, case):
    for seed in range(3):
        one, k = candidates(policy, 1, seed), 37  # more than a tile of networks side by side
        weights, seen = policy.unpack(one.repeat(k, 0)), observe(case[2], 1, seed).repeat(k, 0)
        memory = policy.act(weights, seen, policy.initial_memory(k))[1]
        outputs, _ = policy.outputs(weights, seen, memory)
        assert {row.tobytes() for row in outputs} == {outputs[0].tobytes()}


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_row_does_not_depend_on_neighbours_that_are_not_finite(policy, case):
    parameters, observations = candidates(policy, 3), observe(case[2], 3)

    def outputs():
        memory = policy.initial_memory(3)
        for _ in range(2):  # in the second an infinite memory is read
            found, memory = policy.outputs(policy.unpack(parameters), observations, memory)
        return found

    expected = outputs()
    parameters[0], parameters[2] = np.nan, np.inf
    assert outputs()[1].tobytes() == expected[1].tobytes()
    parameters = candidates(policy, 3)
    assert outputs().tobytes() == expected.tobytes()  # the room for their steps has nothing left of it


def test_memory_restarts_in_one_row_only(policy, case):
    k, parameters = 3, candidates(policy, 3)
    weights, memory = policy.unpack(parameters), policy.initial_memory(k)
    _, after = policy.outputs(weights, observe(case[2], k), memory)
    if not remembers(module_of(policy)):
        return
    others = observe(case[2], k, seed=1)
    fresh, _ = policy.outputs(weights, others, policy.initial_memory(k))
    after = np.concatenate([after[:1], policy.initial_memory(1), after[2:]])
    outputs, _ = policy.outputs(weights, others, after)
    assert np.array_equal(outputs[1], fresh[1])
    assert not np.array_equal(outputs[0], fresh[0])
    assert not np.array_equal(outputs[2], fresh[2])


def test_memory_that_was_returned_is_not_written_to(policy, case):
    weights, observations = policy.unpack(candidates(policy, 2)), observe(case[2], 2)
    memory = policy.act(weights, observations, policy.initial_memory(2))[1]
    if memory is not None and memory.dtype != object:
        before = memory.copy()
        policy.act(weights, observations, memory)
        assert np.array_equal(memory, before)


@pytest.mark.parametrize(
    ("output", "actions"), [("argmax", 0), ("tanh", 1), ("clip", 1), ("auto", 0), ("auto", 1)]
)
def test_actions_lie_in_their_space(case, output, actions):
    space = ACTIONS[actions]
    policy = build(case, space, output=output)
    weights = policy.unpack(100 * candidates(policy, 8))
    chosen, _ = policy.act(weights, observe(case[2], 8), policy.initial_memory(8))
    assert chosen.dtype == space.dtype
    assert all(space.contains(action) for action in chosen)


def test_initial_is_the_default_of_torch_drawn_from_the_seed(policy):
    before = torch.get_rng_state()
    first = policy.initial(1)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    assert np.array_equal(policy.initial(1), first)
    assert not np.array_equal(policy.initial(2), first)
    assert first.shape == (policy.dim,)
    assert first.dtype == np.float32
