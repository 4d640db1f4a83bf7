import pytest
from torch import nn

from mpi_es.errors import UserError
from mpi_es.evaluation.script_objects import named_env, named_policy
from tests.envs.user_envs import make
from tests.policies.user_policies import Plain


def test_what_can_be_imported_is_known_by_its_name():
    assert named_env("CartPole-v1") == ("CartPole-v1", None)
    assert named_env(make) == ("tests.envs.user_envs:make", None)
    assert named_policy("mlp") == ("mlp", None)
    assert named_policy(Plain) == ("tests.policies.user_policies:Plain", None)


def test_what_a_script_alone_has_goes_with_its_name():
    def here():
        return make()

    class Net(nn.Module):
        """One of this function."""

    module = nn.Linear(2, 3)
    assert named_env(here) == (
        "test_script_objects.py:test_what_a_script_alone_has_goes_with_its_name_locals_here",
        here,
    )
    assert named_policy(Net)[1] is Net
    assert named_policy(module)[1] is module
    assert named_policy(module)[0].endswith(".py:Linear")


@pytest.mark.parametrize("wrong", [3, None, dict, make])
def test_what_is_no_policy_is_refused(wrong):
    with pytest.raises(UserError, match="--policy: expected a name, a torch module, a class of torch modul"):
        named_policy(wrong)
