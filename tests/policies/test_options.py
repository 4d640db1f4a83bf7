import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.policies import make

PICTURES = spaces.Box(0, 255, (40, 40, 3), np.uint8)


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({}, "AttentionPolicy"),
        ({"query_dim": 2, "bias": False, "controller": "mlp", "num_frames": 4}, "AttentionPolicy"),
        ({"controller": "rnn"}, "AttentionPolicy"),
        ({"query_dim": 5}, "InTorch"),
        ({"stride": 3}, "InTorch"),
        ({"top_k": 11}, "AttentionPolicy"),
        ({"patch_order": "column"}, "AttentionPolicy"),
        ({"patch_order": "column", "stride": 3}, "InTorch"),
    ],
)
def test_an_attention_agent_that_is_not_compiled_is_run_by_torch(options, form):
    policy = make(configured(policy="attention", hidden=(6,), **options), PICTURES, spaces.Discrete(2))
    assert type(policy).__name__ == form
    assert [part for part in policy.parts if "." not in part] == ["attention", "controller"]
    assert policy.parts["controller"].stop == policy.dim


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"hidden": (6, 6)}, "--hidden: expected one width for --policy attention"),
        ({"patch_size": 41}, "--patch-size: expected at most 40, the picture's size, got 41"),
        ({"top_k": 82}, "--top-k: expected at most 81, the number of patches, got 82"),
        ({"top_k": 145, "stride": 3}, "--top-k: expected at most 144, the number of patches, got 145"),
    ],
)
def test_an_agent_that_no_picture_suits_is_refused(options, complaint):
    def made():
        return make(
            configured(**{"policy": "attention", "hidden": (6,), **options}), PICTURES, spaces.Discrete(2)
        )

    with pytest.raises(UserError, match=complaint):
        made()
