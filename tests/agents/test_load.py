"""Agents from files: bare ones in both orders, runs, and what no agent can be read from."""

import contextlib
import json

import numpy as np
import pytest

from mpi_es.config.presets import preset
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.papers.parameter_order import from_torch
from tests.agents.files import DIM, USER, file_of, load, numbers


def test_a_bare_file_in_either_order_is_the_same_agent(tmp_path):
    agent = load(file_of(tmp_path, params=numbers()))
    np.testing.assert_array_equal(agent.parameters, numbers())
    paper = from_torch(numbers(), agent.policy.shapes, "paper")
    assert not np.array_equal(paper, numbers())
    config = configured(policy=USER.policy.name, layout="paper")
    found = load(file_of(tmp_path, params=paper), config)
    np.testing.assert_array_equal(found.parameters, numbers())


def test_a_part_has_the_shapes_and_numbers_of_one_child(tmp_path):
    agent = load(file_of(tmp_path, params=numbers().astype(np.float64)))
    shapes, part = agent.part("out")
    assert shapes == {"out.weight": (2, 7), "out.bias": (2,)}
    np.testing.assert_array_equal(part, numbers()[-16:])
    assert agent.part("")[0] == agent.policy.shapes
    assert agent.part("head")[1].shape == (0,)


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"weights": np.zeros(DIM)}, "expected an npz file with an array `params`, .*its arrays: weights"),
        ({"params": np.zeros(9)}, f"expected {DIM} numbers in `params` of .*agent.npz, got 9"),
        ({"params": np.full(DIM, np.nan)}, f"expected finite numbers in .*, got '{DIM} that are not'"),
        ({"params": np.full(DIM, 1e300)}, f"expected finite numbers in .*, got '{DIM} that are not'"),
        ({"params": np.zeros((1, DIM))}, r"expected a row of floating-point numbers .*got 'float64 \(1, "),
        ({"params": np.array(["a"])}, "expected a row of floating-point numbers"),
        ({"params": np.array([{}])}, "expected an npz file with .*, which cannot be read"),
    ],
)
def test_a_file_that_holds_no_such_agent_is_reported(tmp_path, arrays, complaint):
    with pytest.raises(UserError, match=f"--from-pretrained: {complaint}") as caught:
        load(file_of(tmp_path, **arrays))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 torn"])
def test_a_file_that_is_no_archive_is_reported(tmp_path, content):
    (tmp_path / "agent.npz").write_bytes(content)
    with pytest.raises(UserError, match="expected an npz file with an array `params`"):
        load(str(tmp_path / "agent.npz"))


def test_a_bare_array_is_reported(tmp_path):
    np.save(tmp_path / "agent.npy", numbers())
    with pytest.raises(UserError, match=r"expected an npz file with .*agent.npy'; its arrays: none"):
        load(str(tmp_path / "agent.npy"))


def test_a_damaged_file_is_reported_or_read(tmp_path):
    np.savez_compressed(tmp_path / "agent.npz", params=numbers())
    whole = (tmp_path / "agent.npz").read_bytes()
    for place in range(0, len(whole), 7):
        torn = bytearray(whole)
        torn[place] ^= 0xFF
        (tmp_path / "agent.npz").write_bytes(torn)
        with contextlib.suppress(UserError):
            load(str(tmp_path / "agent.npz"))


NORMALISED = {
    "config": json.dumps({"policy": USER.policy.name, "obs_norm": True}),
    "normalisation": np.ones((2, 4)),
    "observed": 9.0,
}
TORN = [
    {"config": "{torn"},
    {"config": "[]"},
    {"config": "[" * 200_000},
    {"config": '{"nobody": 1}'},
    {"layout": "odd"},
    {"normalisation": None},
    {"normalisation": np.ones(4)},
    {"normalisation": np.full((2, 4), np.nan), "observed": 1.0},
    {"observed": None},
    {"normalisation": np.ones((2, 4)), "observed": 0.0},
    {"normalisation": np.ones((2, 4)), "observed": 9.0},  # of a config without obs_norm
    NORMALISED | {"normalisation": np.zeros((2, 0))},
    NORMALISED | {"observed": 0.0},
    NORMALISED | {"observed": np.inf},
    NORMALISED | {"normalisation": np.array([[0.0], [0.0]])},
    NORMALISED | {"normalisation": np.array([[0.0], [-1.0]])},
    NORMALISED | {"normalisation": np.array([[0.0], [1e-200]])},
]


@pytest.mark.parametrize("told", TORN)
def test_a_file_of_ours_that_tells_nonsense_is_reported(tmp_path, told):
    config = json.dumps({"policy": USER.policy.name})
    nothing = {"normalisation": np.zeros((2, 0)), "observed": 0.0}
    whole = {"params": numbers(), "config": config, "layout": "torch"} | nothing
    arrays = {name: value for name, value in (whole | told).items() if value is not None}
    load(file_of(tmp_path, **whole))
    with pytest.raises(UserError, match=r"a file that mpi_es.export wrote, .*; \w+Error: ") as caught:
        load(file_of(tmp_path, **arrays))
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_directory_without_a_run_are_reported(tmp_path):
    with pytest.raises(
        UserError, match="expected a run or an npz file, got '/nowhere'; it does not exist or"
    ):
        load("/nowhere")
    with pytest.raises(UserError, match=r"run: expected a directory that holds run\.h5"):
        load(str(tmp_path))


def test_a_name_that_the_system_refuses_is_reported():
    with pytest.raises(UserError, match="it does not exist or cannot be read"):
        load("a" * 300)


def test_a_bare_file_lacks_the_normalisation_of_observations(tmp_path):
    config = configured(policy=USER.policy.name, obs_norm=True)
    with pytest.raises(UserError, match=r"expected a run or a file of mpi_es\.export, which hold the norm"):
        load(file_of(tmp_path, params=numbers()), config)


def test_a_size_that_is_neither_the_options_nor_the_paper_s_is_reported(tmp_path):
    with pytest.raises(UserError, match="expected 3071 or 3667 numbers in `params` of"):
        load(file_of(tmp_path, params=np.zeros(3000)), preset("carracing-exp3.1"))
