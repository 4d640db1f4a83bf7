import pytest

from mpi_es import evaluate, export, report, status, train
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from tests.run_file import bases
from tests.run_file.forgeries import KINDS, STRUCTURE, changed, ends_in_one_line_or_works, forged


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_file_is_refused_in_one_line_or_read(tmp_path, images, kind):
    for seed in range(3):
        said = loaded(tmp_path, forged(kind, images("full"), seed))
        assert "\n" not in said
        assert said.startswith(f"{tmp_path / 'run.h5'}: damaged, or no run's: ") or (
            said == "" and kind not in STRUCTURE
        )


def gives(group, name, value):
    """Return the change of an attribute."""
    return lambda file: file[group].attrs.__setitem__(name, value)


CHANGES = [
    (gives("config", "cma_variant", "x"), "/config: --cma-variant: expected one of"),
    (gives("config", "init_sigma", -1.0), "/config: --init-sigma: expected"),
    (gives("config", "hidden", 3), "/config: --hidden: expected whole numbers, or nothing"),
    (gives("config", "colour", 1), "/config: expected fields of Config"),
    (gives("best", "fitness", "x"), "/best/fitness: expected a number in"),
    (gives("best", "generation", 99), "/best/generation: expected a whole"),
    (gives("last", "generation", 1), "/last/generation: expected 3, got 1"),
    (gives("progress", "generation", 2**62), "/last/generation: expected 4611686018427387904, got 3"),
    (gives("progress", "agreement", 2.0), "/progress/agreement: expected a number in [-1, 1] or NaN"),
    (gives("progress", "num_rollouts", 0), "/progress/num_rollouts: expected 1, got 0"),
    (gives("life", "saved", float("nan")), "/life/saved: expected a number in"),
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
    for name, image in {
        "good": images("full"),
        "bad": forged("missing group or array", images("full"), 0),
    }.items():
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


BEGIN = ["cartpole", "--hidden", "4", "--max-iter", "1", "--num-eval-rollouts", "1", *bases.QUIET]
COMMANDS = {
    "evaluate": (evaluate, ["{run}", "--episodes", "2"]),
    "evaluate the file": (evaluate, ["--from-pretrained", "{run}/run.h5", "--episodes", "2"]),
    "report": (report, ["{run}", "--out", "{run}/new"]),
    "export": (export, ["{run}", "--out", "{run}/new.npz"]),
    "resume": (train, ["--resume", "{run}", "--max-iter", "5", *bases.QUIET]),
    "pretrained": (train, [*BEGIN, "--from-pretrained", "{run}", "--run-dir", "{run}/new"]),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["shape of the state", "option", "NaN for a number", "missing attribute"])
def test_a_command_ends_with_one_line_or_does_its_work(tmp_path, images, command, kind):
    (tmp_path / "run.h5").write_bytes(forged(kind, images("full"), 1))
    ends_in_one_line_or_works(*COMMANDS[command], tmp_path)
