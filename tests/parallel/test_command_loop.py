import json

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.command_loop import CommandLoop


class Alone(CommandLoop):
    def handle(self, numbers):
        raise AssertionError("rank 0 gives the commands")


def test_alone_the_work_is_done_and_a_mistake_is_raised():
    loop, done = Alone(SerialComm(), 2, survives=False), []
    loop.run_on_root(lambda: done.append(1))
    assert done == [1]

    def mistake():
        raise UserError("no")

    with pytest.raises(UserError, match="no"):
        loop.run_on_root(mistake)


SCRIPT = """
import json, sys
from mpi4py import MPI
from mpi_es.errors import UserError
from mpi_es.parallel.command_loop import CommandLoop
class Notes(CommandLoop):
    def __init__(self):
        super().__init__(MPI.COMM_WORLD, 3, survives=False)
        self.heard = []
    def handle(self, numbers):
        self.heard.append(numbers.tolist())
loop = Notes()
def work():
    loop.send(1, 5)
    loop.send(2, 6, 7)
    if sys.argv[1] == "fails":
        raise UserError("no")
try:
    loop.run_on_root(work)
except UserError:
    loop.heard.append("UserError")
heard = loop.comm.gather(loop.heard)
if loop.comm.rank == 0:
    print(json.dumps(heard))
"""


@pytest.mark.parametrize(("how", "root"), [("well", []), ("fails", ["UserError"])])
def test_all_ranks_hear_all_commands_and_return_with_the_root(launch, how, root):
    done = launch(3, "-m", "mpi4py", "-c", SCRIPT, how)
    assert json.loads(done.stdout) == [root] + 2 * [[[1, 5, 0], [2, 6, 7]]]
