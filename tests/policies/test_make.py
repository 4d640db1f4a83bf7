import subprocess
import sys

import numpy as np
import pytest
from gymnasium import spaces

from mpi_es import evaluate, export, train
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.policies import make
from tests.launching import LIMIT, run_here

HERE = "tests.policies.user_policies"
VECTOR = spaces.Box(-1, 1, (4,), np.float32)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"policy": "mpl"}, "did you mean 'mlp'"),
        (
            {"policy": "lstm", "hidden": (64, 64)},
            r"--hidden: expected one width for --policy lstm, got \(64, 64\)",
        ),
        (
            {"policy": "gru", "hidden": (8,), "activation": "relu"},
            "--activation: expected tanh for --policy gru",
        ),
        ({"policy": "attention", "hidden": (64, 64)}, r"one width for --policy attention, got \(64, 64\)"),
        ({"policy": "attention", "hidden": (16,)}, r"--env: expected pictures \(size, size, 3\) of bytes"),
        ({"policy": f"{HERE}:Plan"}, "did you mean 'Plain'"),
        ({"policy": f"{HERE}:not_a_module"}, "expected a subclass of torch.nn.Module, or a class with a"),
        ({"policy": f"{HERE}:"}, "expected package.module:name"),
        (
            {"policy": "no_such_package.module:Net"},
            "a module that can be imported, got 'no_such_package.module'",
        ),
        ({"policy": f"{HERE}:Wrong"}, r"expected outputs \(1, 2\) for .*, got \(1, 11\)"),
        ({"policy": f"{HERE}:Empty"}, "a module that has parameters"),
        ({"policy": f"{HERE}:NoMemory"}, r"expected \(outputs, memory\), got 'Tensor'"),
        ({"policy": f"{HERE}:Leaving"}, "Leaving: its constructor failed: SystemExit: no weights found"),
        ({"policy": f"{HERE}:Nothing"}, "its constructor failed: TypeError: .*3 were given"),
        ({"policy": f"{HERE}:Sized"}, "Sized: its constructor failed: TypeError: .*argument: 'width'"),
        (
            {"policy": f"{HERE}:Sized", "policy_options": ("width=100",)},
            "Sized: its constructor failed: ValueError: too wide",
        ),
        (
            {"policy": f"{HERE}:Sized", "policy_options": ("width",)},
            "--policy-options: expected name=value, got 'width'",
        ),
        (
            {"policy_options": ("width=3",)},
            "--policy-options: expected to be left out with --policy mlp: .* of a class of your own",
        ),
        ({"policy": f"{HERE}:Pictures"}, "failed on .*float32: AssertionError"),
    ],
)
def test_a_mistake_is_told_in_one_line(options, words):
    with pytest.raises(UserError, match=words) as raised:
        make(configured(**options), VECTOR, spaces.Discrete(2))
    assert "\n" not in str(raised.value)


def test_the_built_in_networks_do_without_torch():
    code = """
import sys, numpy as np
from gymnasium import spaces
from mpi_es.config.run import configured
from mpi_es.policies import make
for name, hidden in (("mlp", (8, 8)), ("lstm", (8,))):
    policy = make(configured(policy=name, hidden=hidden), spaces.Box(-1, 1, (4,)), spaces.Discrete(2))
    policy.initial(1)
    weights = policy.unpack(np.zeros((3, policy.dim), np.float32))
    policy.act(weights, np.zeros((3, 4), np.float32), policy.initial_memory(3))
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LIMIT)


def test_options_are_keywords_of_a_module_of_ones_own():
    config = configured(policy=f"{HERE}:Sized", policy_options=("width=5", "activation=ReLU"))
    policy = make(config, VECTOR, spaces.Discrete(2))
    assert policy.dim == 4 * 5 + 5 + 5 * 2 + 2
    assert type(policy.module().out[1]).__name__ == "ReLU"


def test_a_run_keeps_the_options_of_its_policy(tmp_path):
    run, agent = tmp_path / "run", tmp_path / "agent.npz"
    own = ("--policy", f"{HERE}:Sized", "--policy-options", "width=5", "--device", "auto")
    few = ("--max-iter", 1, "--population-size", 4, "--num-eval-rollouts", 2, "--no-tensorboard")
    for program, *words in (
        (train, "cartpole", *own, *few, "--run-dir", run),
        (train, "--resume", run, "--max-iter", 2),
        (evaluate, run, "--episodes", 2),
        (export, run, "--out", agent, "--torchscript", tmp_path / "agent.pt"),
        (evaluate, "--from-pretrained", agent, "--episodes", 2),
    ):
        run_here(program, *words)
    assert np.load(agent)["params"].shape == (37,)
