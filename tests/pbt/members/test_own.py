"""The member of the manual."""

import re
from pathlib import Path

from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint
from pbt import train

PAGE = (Path(__file__).parents[3] / "docs/guides/member.md").read_text(encoding="utf-8")


def test_the_users_own_member_climbs(tmp_path, monkeypatch):
    program = re.search(r"^```python\n# my_member.py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1]
    (tmp_path / "my_member.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    words = "--member my_member:Climber --run-dir runs/climbers --max-iter 20 --steps 20 --console silent"
    assert f"mpiexec -n 2 python -m pbt.train {words.split(' --steps')[0]}" in PAGE
    assert train.main(SerialComm(), [*words.split(), "--no-tensorboard"]) == 0
    history = checkpoint.load(Path("runs/climbers"))[0]["history"]["score"]
    assert history.shape == (20, 8)
    assert history[-1].max() > history[0].max() / 10
