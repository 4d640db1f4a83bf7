import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from mpi_es.errors import UserError
from mpi_es.jobs import pack
from tests.launching import ROOT, call

LOOK = "import sys, os, mpi_es; print(sys.prefix, os.__file__, mpi_es.__file__, sys.path[-1], sep='\\n')"


@pytest.fixture
def packed(tmp_path):
    """Return a function that packs an environment without packages, and returns the file."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)

    def run() -> Path:
        environ = os.environ | {"PYTHONPATH": str(ROOT)}
        done = call(
            venv / "bin" / "python", "-m", "mpi_es.jobs.pack", tmp_path / "kept", tmp_path, env=environ
        )
        assert done.stderr == ""
        return Path(done.stdout.strip())

    return run


def test_the_copy_runs_from_its_place_alone_and_looks_last_where_the_job_s_modules_are(packed, tmp_path):
    file = packed()
    copy = tmp_path / file.stem
    with tarfile.open(file) as archive:
        archive.extractall(copy, filter="fully_trusted")
    environ = {"PYTHONPATH": f"{copy}/project", "PYTHONSAFEPATH": "1", "MPI_ES_PATH": "/modules"}
    done = call(copy / "env" / "bin" / "python", "-c", LOOK, env=environ)
    prefix, library, package, last = map(Path, done.stdout.splitlines())
    assert prefix == copy / "env"
    system = Path(sys.base_prefix) == pack.SYSTEM
    assert library.is_relative_to(pack.SYSTEM if system else copy / "base")
    assert package.is_relative_to(copy / "project")
    assert last == Path("/modules")


def test_the_file_is_kept_until_a_package_is_installed(packed, tmp_path):
    file = packed()
    written = file.stat().st_mtime_ns
    assert packed().stat().st_mtime_ns == written
    (folder,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (folder / "package").mkdir()
    file.with_suffix(".1234").touch()  # of a job that was killed
    again = packed()
    assert again != file
    assert list(file.parent.glob("mpi_es*")) == [again]


def test_the_system_s_python_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "SYSTEM", Path(sys.prefix))
    with pytest.raises(UserError, match="expected a virtual or conda environment, got"):
        pack.packed(tmp_path, tmp_path)


def test_a_full_disk_is_told_in_one_line(small_disk, tmp_path, capsys):
    small_disk(64, "kept")
    assert pack.main([str(tmp_path / "kept"), str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err
        == f"error: {tmp_path / 'kept'}: could not be packed (No space left on device)\n"
    )
    assert not list((tmp_path / "kept").glob("*.tar"))
