import pytest

from mpi_es import status
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from tests.run_file import survey
from tests.run_file.forgeries import ALL, KINDS, changed, forged

READ = {  # kinds that a run could have written, for some of what they change
    "NaN for a number",
    "NaN in an array",
    "infinite array",
    "infinite number",
    "huge integer",
    "negative integer",
    "negative array",
    "large integers in an array",
    "integers for floats",
    "control characters",
    "long text",
    "no rows",
    "missing group",
    "missing attribute",
    "missing column",
    "text for a number",
    "number for a text",
    "nothing for an attribute",
    "array for an attribute",
    "option out of range",
    "option of another type",
    "longer column",
    "shorter column",
    "more axes",
    "empty array",
    "scalar array",
    "shape of C",
    "dataset for a group",
    "group for a dataset",
    "attribute for a dataset",
    "something more",
    "many attributes",
    "flipped metadata",
    "pieces of itself",
}


def loaded(directory, image):
    """Return what is said of a file, or nothing where it is read."""
    (directory / "run.h5").write_bytes(image)
    try:
        checkpoint.load(directory)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("base", ["full", "openai_es", "restarts"])
def test_a_real_run_is_read(tmp_path, images, base):
    assert loaded(tmp_path, images(base)) == ""


@pytest.mark.parametrize("kind", ALL)
def test_a_forged_file_is_refused_in_one_line_or_read(tmp_path, images, kind):
    for seed in range(3):
        said = loaded(tmp_path, forged(kind, images("full"), seed))
        assert "\n" not in said
        assert said.startswith(f"{tmp_path}") or (said == "" and kind in READ), said


def options(file):
    return file["config"].attrs


CHANGES = [
    (lambda file: options(file).__setitem__("shaping", "x"), "/config: --shaping: expected one of"),
    (lambda file: options(file).__setitem__("init_sigma", -1.0), "/config: --init-sigma: expected"),
    (lambda file: options(file).__setitem__("hidden", 3), "/config: --hidden: expected a list of int"),
    (lambda file: options(file).__setitem__("colour", 1), "/config: expected fields of Config"),
    (lambda file: file["best"].attrs.__setitem__("fitness", "x"), "/best/fitness: expected a number in"),
    (lambda file: file["best"].attrs.__setitem__("generation", 99), "/best/generation: expected a whole"),
    (lambda file: file["life"].attrs.__setitem__("saved", float("nan")), "/life/saved: expected a number in"),
    (lambda file: file.__delitem__("history/mean"), "/history/mean: expected a value, got none"),
    (lambda file: file["timing"]["total"].__setitem__(0, -1.0), "/timing/total: expected numbers in"),
    (lambda file: file["history"]["generation"].__setitem__(0, 9), "/history/generation: expected the"),
    (lambda file: file["last/candidate"].__setitem__(0, float("inf")), "/last/candidate: expected finite"),
    (lambda file: file.create_group("more"), "/more: expected nothing of this name"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "why"), CHANGES, ids=[why.split(":")[0] for _, why in CHANGES])
def test_what_is_expected_where_is_said(tmp_path, images, change, why):
    said = loaded(tmp_path, changed(images("full"), change))
    assert said.startswith(f"{tmp_path / 'run.h5'}: damaged, or no run's: {why}"), said


def test_for_a_forged_file_the_one_before_is_read(tmp_path, images):
    (tmp_path / "run.h5").write_bytes(forged("deep groups", images("full"), 1))
    (tmp_path / "run.previous.h5").write_bytes(images("full"))
    content, warning = checkpoint.load(tmp_path)
    assert content["progress"]["generation"] == 3
    assert "groups are in each other; continuing from run.previous.h5" in warning


def test_the_status_of_runs_has_a_line_for_a_forged_one(tmp_path, images, capsys):
    for name, image in {"good": images("full"), "bad": forged("missing group", images("full"), 1)}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.h5").write_bytes(image)
    assert status.main([str(tmp_path / "bad"), str(tmp_path / "good")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {tmp_path / 'bad'}")
    assert (printed.err.count("\n"), printed.out.count("\n")) == (1, 2)


def test_what_a_terminal_would_obey_is_not_printed(tmp_path, images, capsys):
    def change(file):
        file["life"].attrs["reason"] = "\x1b]0;owned\x07"

    (tmp_path / "run.h5").write_bytes(changed(images("full"), change))
    assert status.main([str(tmp_path)]) == 0
    assert "?]0;owned?" in capsys.readouterr().out


def test_all_commands_end_with_a_line_or_do_their_work():
    kinds = ["shape of C", "option out of range", "NaN for a number"]
    assert set(kinds) <= set(KINDS)
    assert "0 of 3 kinds fail" in survey.of_its_own("1", "full", *kinds)
