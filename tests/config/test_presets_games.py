"""The networks of the documents, and the paper's agent."""

import pytest

from mpi_es.config.presets import preset
from mpi_es.evaluation.build import make_policy


@pytest.mark.parametrize(
    ("name", "package", "dim"),
    [
        ("pong", "ale_py", 588_710),
        ("spaceinvaders-ram", "ale_py", 129_306),
        ("takecover", "vizdoom", 3633),  # as the paper's file of weights
    ],
)
def test_a_network_has_the_document_s_number_of_parameters(name, package, dim):
    pytest.importorskip(package)
    assert make_policy(preset(name)).dim == dim
