import os
import subprocess
import sys
from enum import Enum

import numba
import numpy as np
import pytest

from mpi_es.jit.decorator import compiled
from mpi_es.jit.digest import digest
from mpi_es.worlds import car_racing
from mpi_es.worlds.car_racing import simulation
from mpi_es.worlds.car_racing.physics import joints
from tests.launching import ROOT, call

SCALE, TABLE, KIND = 2.0, np.arange(3.0), numba.float32


@numba.njit(fastmath={"nnan", "contract", "arcp"})
def inner(x):
    return x in {"a", "b", "c"} or x == TABLE[0]


@numba.extending.intrinsic
def drawn(context, x):
    return KIND(x), None


def plain(x):
    return [inner(one) for one in x]


@compiled()
def outer(x, more=1):
    return SCALE * inner(x) + drawn(x) + np.sqrt(more) + (outer(x) if x else 0) + len(plain(x))


@compiled()
def deep(x):
    return car_racing.physics.joints.prepare(x)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCALE", 3.0),
        ("SCALE", 2),
        ("TABLE", np.arange(3.0, dtype=np.float32)),
        ("TABLE", np.zeros(3)),
        ("KIND", numba.float64),
        ("inner", numba.njit(fastmath={"nnan", "contract"})(inner.py_func)),
        ("inner", numba.njit(fastmath=set(inner.targetoptions["fastmath"]))(lambda x: x)),
        ("plain", lambda x: x),
    ],
)
def test_it_changes_with_whatever_the_function_reads_or_calls(monkeypatch, name, value):
    before = digest(outer)
    monkeypatch.setitem(globals(), name, value)
    assert digest(outer) != before
    monkeypatch.undo()
    assert digest(outer) == before


KINDS = """
import enum, numba
class Gear(enum.IntEnum):
    FIRST = 1
@numba.experimental.jitclass([("mass", numba.float64)])
class Body:
    def __init__(self, mass):
        self.mass = mass
def halved(x):
    return x / 2
"""
CALLER = """
import numba
import kinds
from kinds import Body, Gear
from mpi_es.jit.digest import digest
print(digest(numba.njit(lambda x: x == Gear.FIRST)), digest(numba.njit(lambda x: Body(x).mass)))
print(digest(numba.njit(lambda x: kinds.halved(x))))
"""


def test_it_changes_with_the_member_of_an_enum():
    class Colour(Enum):
        RED = 1
        BLUE = 2

    def made(chosen):
        return compiled()(lambda x: x is chosen)

    assert digest(made(Colour.RED)) == digest(made(Colour.RED)) != digest(made(Colour.BLUE))


def test_it_changes_with_the_file_of_a_class_or_of_a_plain_function(tmp_path):
    def found(change):
        (tmp_path / "kinds.py").write_text(KINDS.replace(*change))
        environ = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
        return call(sys.executable, "-c", CALLER, env=environ, check=True).stdout.split()

    before = found(("", ""))
    for change in [("= 1", "= 2"), ("= mass", "= 2 * mass"), ("x / 2", "x * 2")]:
        assert not {*found(change)} & {*before}
    assert found(("", "")) == before


def test_it_changes_with_what_a_module_within_a_module_holds(monkeypatch):
    before = digest(deep)
    monkeypatch.setattr(joints, "prepare", inner)
    assert digest(deep) != before


def test_it_changes_with_what_the_function_encloses_and_with_its_defaults(monkeypatch):
    def made(number):
        return compiled()(lambda x: x + number)

    assert digest(made(1)) == digest(made(1)) != digest(made(2))
    before = digest(outer)
    monkeypatch.setattr(outer.function, "__defaults__", (2,))
    assert digest(outer) != before


def test_the_physics_are_part_of_the_simulator(monkeypatch):
    before, code = digest(simulation.move), joints.prepare.function.__code__
    monkeypatch.setattr(joints.prepare.function, "__code__", code.replace(co_consts=(*code.co_consts, 5)))
    assert digest(simulation.move) != before


def test_it_is_the_same_in_processes_with_other_hashes_of_texts():
    program = "from tests.jit.test_digest import digest, outer, simulation; "
    program += "print(digest(outer), digest(simulation.move))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
