import subprocess
import sys

import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.policies import make
from tests.launching import LIMIT

HERE = "tests.policies.user_policies"
VECTOR = spaces.Box(-1, 1, (4,), np.float32)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"policy": "mpl"}, "did you mean 'mlp'"),
        ({"policy": "lstm"}, r"--hidden: expected one width for --policy lstm, got \(64, 64\)"),
        (
            {"policy": "gru", "hidden": (8,), "activation": "relu"},
            "--activation: expected tanh for --policy gru",
        ),
        ({"policy": "rnn", "hidden": (8,), "activation": "selu"}, "expected tanh or relu for --policy rnn"),
        (
            {"policy": "attention"},
            r"one width for --policy attention, got \(64, 64\); the paper's is --hidden 16",
        ),
        ({"policy": "attention", "hidden": (16,)}, r"--env: expected pictures \(size, size, 3\) of bytes"),
        ({"policy": "attention", "hidden": (16,), "obs_norm": True}, "--obs-norm: expected no normalisation"),
        ({"policy": f"{HERE}:Plan"}, "did you mean 'Plain'"),
        ({"policy": f"{HERE}:not_a_module"}, "expected a subclass of torch.nn.Module"),
        ({"policy": f"{HERE}:"}, "expected package.module:name"),
        (
            {"policy": "no_such_package.module:Net"},
            "a module that can be imported, got 'no_such_package.module'",
        ),
        ({"policy": f"{HERE}:Wrong"}, r"expected outputs \(1, 2\) for .*, got \(1, 11\)"),
        ({"policy": f"{HERE}:Empty"}, "a module that has parameters"),
        ({"policy": f"{HERE}:NoMemory"}, r"expected \(outputs, memory\), got 'Tensor'"),
        ({"policy": f"{HERE}:Nothing"}, "failed on observations .*: TypeError: .*2 were given|3 were given"),
        ({"policy": f"{HERE}:Pictures"}, "failed on .*float32: AssertionError"),
    ],
)
def test_a_mistake_is_told_in_one_line(options, words):
    with pytest.raises(UserError, match=words) as raised:
        make(Config(**options), VECTOR, spaces.Discrete(2))
    assert "\n" not in str(raised.value)


def test_workers_do_without_torch():
    code = """
import sys, numpy as np
from gymnasium import spaces
from mpi_es.config.run import Config
from mpi_es.policies import make
for name, hidden in (("mlp", (8, 8)), ("lstm", (8,))):
    policy = make(Config(policy=name, hidden=hidden), spaces.Box(-1, 1, (4,)), spaces.Discrete(2))
    weights = policy.unpack(np.zeros((3, policy.dim), np.float32))
    policy.act(weights, np.zeros((3, 4), np.float32), policy.initial_memory(3))
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LIMIT)
