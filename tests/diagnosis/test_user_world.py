import pytest

from mpi_es.diagnosis import user_world
from mpi_es.errors import UserError
from tests.launching import ROOT

HERE = "tests.worlds.user_worlds"


@pytest.mark.parametrize(
    ("name", "seen", "remedy"),
    [
        ("Beyond", "step reads or writes beyond the end of an array", "the sizes in fresh"),
        ("Blind", "observe leaves 1 of 1 numbers unwritten", "the sizes in fresh"),
        ("Blurred", "observe writes other numbers if it is called again", "draw in reset and step only"),
    ],
)
def test_a_world_that_strays_is_caught_in_another_process(name, seen, remedy):
    complaint = user_world.stray(f"{HERE}:{name}", [])
    assert complaint.seen == seen
    assert remedy in complaint.remedy


@pytest.mark.parametrize(
    ("line", "seen"), [("print('loaded')", None), ("import os; os.abort()", "signal 6 ends its process")]
)
def test_what_a_module_prints_is_no_complaint_and_a_dead_process_is_one(tmp_path, monkeypatch, line, seen):
    (tmp_path / "noisy.py").write_text(f"{line}\nfrom {HERE} import Numbers\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    complaint = user_world.stray("noisy:Numbers", [])
    assert (complaint and complaint.seen) == seen


def test_a_step_that_never_ends_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(user_world, "_PATIENCE", 0.1)
    assert "more than 0.1 s" in user_world.stray(f"{HERE}:Numbers", []).seen


@pytest.mark.parametrize(("name", "arrays"), [("Numbers", 0), ("Wasteful", 1)])
def test_the_arrays_of_a_step_are_counted(name, arrays):
    complaint = user_world.wasteful(user_world.of_user(f"{HERE}:{name}", []))
    assert (complaint is not None) == bool(arrays)


def test_only_worlds_of_a_user_are_looked_at():
    assert user_world.of_user("CartPole-v1", []) is None
    assert user_world.of_user("mpi_es/CartPole-v1", []) is None
    with pytest.raises(UserError, match="a number and a bool from step"):
        user_world.of_user(f"{HERE}:OneValue", [])
