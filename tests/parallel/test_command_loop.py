import json

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.command_loop import CommandLoop


def test_alone_the_work_is_done_and_a_mistake_is_raised():
    loop, done = CommandLoop(SerialComm()), []
    loop.run_on_root(lambda: done.append(1))
    assert done == [1]

    def mistake():
        raise UserError("no")

    with pytest.raises(UserError, match="no"):
        loop.run_on_root(mistake)


SCRIPT = """
import json
from mpi4py import MPI
from mpi_es.errors import UserError
from mpi_es.parallel.command_loop import CommandLoop
loop, heard = CommandLoop(MPI.COMM_WORLD), []
loop.handlers = {name: lambda payload, name=name: heard.append([name, payload]) for name in ("one", "two")}
def work(fails):
    loop.send("one", 5)
    loop.send("two", [6, 7])
    if fails:
        raise UserError("no")
for fails in (False, True):
    try:
        loop.run_on_root(lambda: work(fails))
    except UserError:
        heard.append("UserError")
heard = loop.comm.gather(heard)
if loop.comm.rank == 0:
    print(json.dumps(heard))
"""


def test_all_ranks_hear_all_commands_and_return_with_the_root(launch):
    done = launch(3, "-m", "mpi4py", "-c", SCRIPT)
    assert json.loads(done.stdout) == [["UserError"], *[2 * [["one", 5], ["two", [6, 7]]]] * 2]
