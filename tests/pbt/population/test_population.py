import numpy as np
import pytest

from mpi_es.seeds import FIRST_HELD_OUT_SEED
from pbt.config import Config
from pbt.population.population import score_seeds


def test_members_are_scored_on_seeds_that_no_held_out_episode_has():
    first, second = (score_seeds(Config(num_rollouts=500), generation) for generation in (1, 2))
    assert max(first.max(), second.max()) < FIRST_HELD_OUT_SEED
    assert not np.intersect1d(first, second).size


SHARED = """
import os, sys
from mpi_es.parallel.start_mpi import connect
from pbt.config import Config
from pbt.members import space
from pbt.population.population import Population
comm = connect(os.environ)
options = {"member_options": ("hidden=2",), "ranks_per_member": 2} if sys.argv[1] == "es" else {}
config = Config(member=sys.argv[1], num_agents=2, **options)
one = Population(config, space(config), comm)
numbers = " ".join(map(str, [comm.rank, one.group.size, one.idle, *one.mine]))
print(numbers + "\\n", end="", flush=True)  # in one piece, however Python buffers
"""


@pytest.mark.parametrize(
    ("member", "said"),
    [("toy", ["0 1 1", "1 1 1 0", "2 1 1 1"]), ("es", ["0 3 0 0 1", "1 3 0 0 1", "2 3 0 0 1"])],
)
def test_a_member_has_a_rank_or_ranks_that_train_it_together(launch, member, said):
    done = launch(3, "-c", SHARED, member)
    assert (sorted(done.stdout.splitlines()), done.stderr) == (said, "")
