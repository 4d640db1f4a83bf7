import fractions
import sys
from functools import partial

import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.config import user_objects
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.policies import make
from tests.launching import call

VECTOR = spaces.Box(-1, 1, (4,), np.float32)
SPAWNING = """
import multiprocessing
from mpi_es.config.user_objects import name_of

def cost(x):
    return name_of(cost)

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(cost(0), pool.apply(cost, (0,)))
"""


def test_a_module_that_cannot_be_imported_is_told(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "needs_more.py").write_text("import surely_not_installed\n")
    (tmp_path / "has_a_typo.py").write_text("class Net(:\n")
    with pytest.raises(UserError, match="needs_more needs the package 'surely_not_installed'"):
        make(configured(policy="needs_more:Net"), VECTOR, spaces.Discrete(2))
    with pytest.raises(UserError, match="importing has_a_typo failed: SyntaxError"):
        make(configured(policy="has_a_typo:Net"), VECTOR, spaces.Discrete(2))


def test_a_value_that_is_no_literal_of_python_is_text():
    assert user_objects.parsed(["x={[]: 1}", "y=3", "z=up"], "--env-options") == {
        "x": "{[]: 1}",
        "y": 3,
        "z": "up",
    }


def test_what_a_name_stands_for_is_loaded():
    assert user_objects.load("--env", "fractions:Fraction") is fractions.Fraction
    assert user_objects.load_module("--env", "fractions") is fractions


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("fractions", "--env: expected package.module:name, got 'fractions'"),
        ("fractions:not a name", "expected package.module:name"),
        ("fractions:Fractio", "did you mean 'Fraction'"),
        ("no_such_module:x", "expected a module that can be imported, got 'no_such_module'; run from"),
        ("antigravity_:x", "expected a module that can be imported"),
    ],
)
def test_a_name_that_leads_nowhere_is_told_in_one_line(name, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        user_objects.load("--env", name)
    assert "\n" not in str(caught.value)


def test_a_script_is_not_imported_whatever_a_file_says(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "forged").mkdir()
    (tmp_path / "forged" / "__init__.py").write_text("raise SystemExit('imported')\n")
    with pytest.raises(
        UserError, match=r"--env: expected a module that can be imported, got 'forged.py'; it is"
    ):
        user_objects.load("--env", "forged.py:make")
    assert user_objects.is_of_script("forged.py:make")
    assert not user_objects.is_of_script("forged.pyramid:make")


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (fractions.Fraction, "fractions:Fraction"),
        (partial(fractions.Fraction, 1), "fractions.py:Fraction"),
        (lambda: 1, "test_user_objects.py:lambda"),
        (test_a_value_that_is_no_literal_of_python_is_text, None),
    ],
)
def test_an_object_is_named_after_its_place(thing, name):
    assert user_objects.name_of(thing) == (name or f"{__name__}:{thing.__name__}")


def test_an_object_has_the_same_name_in_a_process_that_its_script_spawns(tmp_path):
    (tmp_path / "pool.py").write_text(SPAWNING)
    done = call(sys.executable, tmp_path / "pool.py")
    assert done.stdout == "pool.py:cost pool.py:cost\n", done.stderr


def test_words_are_read_as_the_values_that_they_were():
    values = {"a": 1, "b": "up", "c": "1", "d": None, "e": (1, 2.5), "f": {"g": [True]}}
    assert user_objects.parsed(user_objects.words_of(values, "--x"), "--x") == values
