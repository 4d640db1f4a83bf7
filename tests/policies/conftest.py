import pytest
import torch


@pytest.fixture
def one_torch_thread():
    """As in a run."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
