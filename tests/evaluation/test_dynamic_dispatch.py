import json
from itertools import chain

import pytest

SCRIPT = ("-m", "mpi4py", "-c")  # which ends all ranks where one fails


HEAD = """
import json, sys, time
import numpy as np
from mpi4py import MPI
from mpi_es.evaluation.dynamic_dispatch import dynamic_source
from mpi_es.evaluation.messages import Header
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file.records import EvaluationProgress
comm, episodes, dense = MPI.COMM_WORLD, int(sys.argv[1]), sys.argv[2] == "dense"
lookup = lambda candidate: np.full(3, candidate, np.float32)
keys = None if dense else np.zeros(1, np.int64)
seeds, progress = 1000 + np.arange(episodes).reshape(-1, 2), EvaluationProgress()
header = Header(1, seeds, episodes, EpisodeRules(), episodes_at_once=4, keys=keys)
found = lookup if comm.rank == 0 or not dense else None
given = np.arange(episodes) if comm.rank == 0 else None
source = dynamic_source(comm, header, given, 3, found, StopFlag(), progress)
taken = []
def note(episode):
    taken.append([episode.episode_id, episode.candidate, episode.seed, *map(int, episode.parameters)])
def report():
    everything = comm.gather(taken, root=0)
    if comm.rank == 0:
        print(json.dumps(everything))
"""


ALL = (
    HEAD
    + """
while (episode := source.take(block=True)) is not None:
    note(episode)
    time.sleep(0.001 * (comm.rank + 1))
    source.done(episode.episode_id, 1)
    source.poll()
source.close(complete=True)
report()
"""
)


@pytest.mark.parametrize("kind", ["dense", "seeded"])
@pytest.mark.parametrize(("ranks", "episodes"), [(2, 0), (2, 2), (3, 102), (6, 4)])
def test_every_episode_is_handed_out_once(launch, ranks, episodes, kind):
    done = launch(ranks, *SCRIPT, ALL, episodes, kind)
    assert done.stderr == ""
    taken = sorted(chain(*json.loads(done.stdout)))
    assert taken == [[u, u // 2, 1000 + u, *[u // 2] * 3] for u in range(episodes)]


COUNTED = ALL + "if comm.rank == 0:\n    print(progress.done, progress.total)\n"


def test_rank_0_counts_what_other_ranks_report(launch):
    done, total = map(int, launch(3, *SCRIPT, COUNTED, 102, "dense").stdout.splitlines()[-1].split())
    assert total == 102
    assert 102 - 2 * 4 <= done <= 102  # the last of each rank come with its rows


SIDE_BY_SIDE = (
    HEAD
    + """
running = []
while True:
    while len(running) < 3 and (episode := source.take(block=not running)):
        running.append(episode)
    if not running:
        break
    note(running.pop(0))
    source.done(taken[-1][0], len(taken))
    source.poll()
source.close(complete=True)
report()
"""
)


def test_ranks_that_hold_several_and_do_not_wait_for_more_get_all(launch):
    done = launch(3, *SCRIPT, SIDE_BY_SIDE, 200, "dense")
    taken = sorted(chain(*json.loads(done.stdout)))
    assert [row[0] for row in taken] == list(range(200))


LEAVING = (
    HEAD
    + """
if comm.rank == comm.size - 1:
    note(source.take(block=True))  # the rest of its queue is lost, and so may be an answer on its way
    while source.plenty and source.queue:
        note(source.take(block=True))
    source.close(complete=True)
else:
    while (episode := source.take(block=True)) is not None:
        note(episode)
        time.sleep(0.01)
        source.poll()
    source.close(complete=True)
report()
"""
)


@pytest.mark.parametrize("kind", ["dense", "seeded"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_rank_that_leaves_before_the_end_ends_it_for_all(launch, ranks, kind):
    done = launch(ranks, *SCRIPT, LEAVING, 100_000, kind)  # which the others would play for minutes
    assert done.stderr == ""
    assert sum(map(len, json.loads(done.stdout))) < 50_000


FAILING = """
import threading
import numpy as np
from mpi_es.errors import UserError
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.function.problem import problem
from mpi_es.evaluation.function.rollout import FunctionRollout
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.entry_point import launch
from mpi_es.strategies.base import Dense
from mpi_es.strategies.noise import ComputedNoise

def listen():
    if threading.current_thread() is not threading.main_thread():
        raise UserError("the console has left")

def main(comm, arguments):
    slow = problem(lambda x: time.sleep(0.05) or 1.0, np.zeros(2))
    evaluator = Evaluator(comm, FunctionRollout(slow), ComputedNoise(0, 2), dynamic=True)
    evaluator.progress.listener = listen
    population, seeds = Dense(np.zeros((20, 2))), np.zeros((20, 1), int)
    evaluator.loop.run_on_root(lambda: evaluator.evaluate(population, seeds, EpisodeRules()))
    return 0

import time
launch(main)
"""


def test_an_error_while_others_wait_for_an_answer_ends_them_all(launch):
    done = launch(2, "-c", FAILING)
    assert done.returncode != 0
    assert "UserError: the console has left" in done.stderr


ABANDONED = (
    HEAD
    + """
if comm.rank == 0:
    note(source.take(block=True))
    source.close(complete=False)
else:
    while (episode := source.take(block=True)) is not None:
        note(episode)
        time.sleep(0.001)
    source.close(complete=True)
report()
"""
)


def test_what_rank_0_abandons_is_handed_out_no_more(launch):
    done = launch(3, *SCRIPT, ABANDONED, 5000, "dense")
    assert done.stderr == ""
    assert sum(map(len, json.loads(done.stdout))) < 500
