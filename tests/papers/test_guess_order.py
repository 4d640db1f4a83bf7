import pytest

from mpi_es.config.presets import preset
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_policy
from mpi_es.papers.guess_order import recognised
from mpi_es.papers.parameter_order import from_torch
from tests.agents.files import USER, file_of, load, numbers
from tests.policies.attention_reference import PUBLISHED, needs_published, published


def test_the_order_for_another_number_of_actions_is_to_be_given():
    policy = make_policy(preset("carracing", env="CartPole-v1", policy="mlp"))
    with pytest.raises(UserError, match=r"can show, got 114; an agent for it has 3667"):
        recognised(policy.initial(0), policy.shapes, preset("carracing"), "--from-pretrained")


def test_an_order_that_cannot_be_tried_is_to_be_given(tmp_path):
    with pytest.raises(
        UserError, match=r"--layout \(.*\): expected torch or paper for an npz file of --policy"
    ):
        load(file_of(tmp_path, params=numbers()), configured(policy=USER.policy.name))


@needs_published
@pytest.mark.parametrize("layout", ["torch", "paper"])
def test_the_published_weights_drive_in_their_own_order_only(layout):
    agent = load(str(PUBLISHED), preset("carracing", layout="torch"))
    params = from_torch(published(), agent.policy.shapes, layout)
    assert recognised(params, agent.policy.shapes, preset("carracing"), "--from-pretrained") == layout


def test_an_agent_that_drives_in_neither_order_is_refused(tmp_path):
    params = 0.1 * numbers(3667)
    with pytest.raises(
        UserError, match=r"clearly drives \(-?\d+ in torch's, -?\d+ in paper's\); give --layout"
    ):
        load(file_of(tmp_path, params=params), preset("carracing"))
