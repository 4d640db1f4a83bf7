"""python -m mpi_es.jobs.pack KEPT PLACE: pack Python, its packages and this project for the disks of nodes.

It prints the path of the packed file, which stays in the directory KEPT until something changes. A node
unpacks it in PLACE, into a directory with the file's name: env/ is the environment, base/ its base Python,
project/ these packages.
"""

import contextlib
import fcntl
import functools
import hashlib
import io
import os
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

import mpi_es
from mpi_es.errors import UserError

PROJECT = Path(mpi_es.__file__).parents[1]
PACKAGES = ("mpi_es", "pbt")
SYSTEM = Path("/usr")  # every node has it
STDLIB = Path(sysconfig.get_path("stdlib"))
_BLOCK = 2**20  # bytes copied at once: parallel file systems are slow with tarfile's 16 kB
_NOT_COPIED = (".nbi", ".nbc")  # numba's machine code, valid only in its own place
_OMITTED = {
    "env/pkgs",  # conda's base environment: downloaded packages
    "env/envs",  # conda's other environments
    f"base/lib/{STDLIB.name}/site-packages",  # a virtual environment does not see them
    f"base/lib/{STDLIB.name}/test",
}
# If they were first on the path, as by default, each import would search these directories.
_SEARCHED_LAST = (
    "import os, sys; sys.path += filter(None, os.environ.get('MPI_ES_PATH', '').split(os.pathsep))\n"
)


def main(arguments: list[str]) -> int:
    """Print the path of the packed file, or an error; return the exit code."""
    try:
        print(packed(*map(Path, arguments)))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(
            f"error: {error.filename or arguments[0]}: could not be packed ({error.strerror})",
            file=sys.stderr,
        )
        return 2
    return 0


def packed(kept: Path, place: Path) -> Path:
    """Return the path of the packed file; if it is missing, write it and remove the previous one."""
    if Path(sys.prefix) == SYSTEM:
        raise UserError(f"MPI_ES_LOCAL: expected a virtual or conda environment, got {sys.executable}")
    kept.mkdir(parents=True, exist_ok=True)
    origin = f"mpi_es-{os.getuid()}-{_hash(sys.prefix, str(PROJECT), str(place))}"
    path = kept / f"{origin}-{_hash(*_state())}.tar"
    with _locked(kept / f".{origin}.lock") as alone:
        if not path.exists():
            # Unfinished files are of jobs that were killed, if no other job can be packing.
            for previous in kept.glob(f"{origin}-*" if alone else f"{origin}-*.tar"):
                previous.unlink(missing_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            try:
                with tarfile.TarFile(unfinished, "w", copybufsize=_BLOCK) as archive:
                    _write(archive, place / path.stem)
                unfinished.rename(path)
            finally:
                unfinished.unlink(missing_ok=True)
    return path


def _write(archive: tarfile.TarFile, copy: Path) -> None:
    """Write everything into an archive, which will be unpacked into `copy`."""
    add = functools.partial(archive.add, filter=_filtered)
    for package in PACKAGES:
        add(PROJECT / package, f"project/{package}")
    venv, interpreter = Path(sys.prefix, "pyvenv.cfg"), Path(sys.executable).resolve()
    base = Path(sys.base_prefix)
    add(Path(sys.prefix).resolve(), "env")  # .venv may be a link to another disk
    site_packages = Path("env", Path(sysconfig.get_path("purelib")).relative_to(sys.prefix))
    _add_text(archive, f"{site_packages}/mpi_es_path.pth", _SEARCHED_LAST)
    if not venv.exists() or base == SYSTEM:
        return
    add(interpreter, f"base/bin/{interpreter.name}")
    for folder in {STDLIB, base / sys.platlibdir / STDLIB.name}:  # two on some systems
        add(folder, f"base/{folder.relative_to(base)}")
    # Later members replace earlier ones of the same name.
    home = f"home = {copy}/base/bin\n"
    lines = [home if line.startswith("home") else line for line in venv.read_text().splitlines(keepends=True)]
    _add_text(archive, "env/pyvenv.cfg", "".join(lines))
    for name in ("python", "python3"):
        link = tarfile.TarInfo(f"env/bin/{name}")
        link.type, link.linkname = tarfile.SYMTYPE, f"../../base/bin/{interpreter.name}"
        archive.addfile(link)


def _filtered(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return a member of the archive, or None to omit it."""
    return None if member.name in _OMITTED or member.name.endswith(_NOT_COPIED) else member


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Add a file with a text."""
    member = tarfile.TarInfo(name)
    member.size = len(text.encode())
    archive.addfile(member, io.BytesIO(text.encode()))


def _state() -> Iterator[str]:
    """Yield texts that change when a package is installed or removed, or when this project changes."""
    yield sys.version
    for folder in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), f"{sys.prefix}/conda-meta"):
        with contextlib.suppress(FileNotFoundError):
            yield f"{folder} {os.stat(folder).st_mtime_ns}"
    for package in PACKAGES:
        for path in sorted((PROJECT / package).rglob("*")):
            if "__pycache__" not in path.parts and path.is_file():
                yield f"{path} {path.stat().st_mtime_ns}"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Let only one job pack at a time; yield whether the file system has locks."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            yield False
        else:
            yield True


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
