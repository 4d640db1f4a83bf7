"""A training on several nodes that is hit in the middle ends as if nothing had been; many blows: chaos.py."""

import random

import pytest

from tests.faults.chaos import Storm, Training, endure, undisturbed, verdict
from tests.slurm.cluster import Cluster, install

# A minute, and several on a machine that is busy.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
KINDS = ["USR1 to the ranks", "node down", "node lost", "mpiexec killed"]


def test_a_training_that_is_hit_on_several_nodes_ends_as_if_it_had_not_been(tmp_path):
    if reason := install():
        pytest.skip(reason)
    storm = Storm(random.Random(1), KINDS, most=len(KINDS), longest_gap=5)
    with Cluster(nodes=4) as cluster:
        job = endure(cluster, tmp_path, 1, storm, Training(ranks=4, nodes=2, pause=0.1))
        assert verdict(cluster, job, tmp_path / "run-1", undisturbed(tmp_path / "calm")) == "", job.log
    assert sorted(blow.kind for blow in storm.blows) == sorted(KINDS)
