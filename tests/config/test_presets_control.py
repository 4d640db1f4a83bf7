"""The networks of the documents."""

import pytest

from mpi_es.config.presets import preset
from mpi_es.evaluation.build import make_policy


@pytest.mark.parametrize(
    ("name", "dim"),
    [
        ("pytorch-es-cartpole", 4610),
        ("rewards-es-cartpole", 702),
        ("rewards-es-lunarlander", 11_404),
        ("rewards-es-hardcore", 13_004),
    ],
)
def test_a_network_has_the_document_s_number_of_parameters(name, dim):
    assert make_policy(preset(name)).dim == dim
