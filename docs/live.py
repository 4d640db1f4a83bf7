"""Make docs/live.svg: the terminal during a run of the preset lunarlander, as it was shortly before the end.

python docs/live.py
"""

import io
import os
import pty
import re
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COMMAND = ["mpiexec", "-n", "2", "python", "-m", "mpi_es.train", "lunarlander"]
WIDTH = 80
ERASED = "\x1b[2K"  # written before each redraw, once for each line
FONT = "DejaVu Sans Mono, monospace"


def frames(command: list[str], directory: Path) -> list[str]:
    """Return what a run drew on its terminal, one text for each redraw."""
    seen = b""

    def read(terminal: int) -> bytes:
        nonlocal seen
        part = os.read(terminal, 65536)
        seen += part
        return part

    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.chdir(directory)  # the run's own directory is runs/… below it
    if pty.spawn(command, read):
        raise SystemExit("the run failed")
    return [
        re.sub(r"\x1b\[[?0-9]*[A-KM-Zhl]", "", each) for each in seen.decode().split(ERASED) if "╯" in each
    ]


def picture(frame: str) -> str:
    """Return a frame as SVG that loads no font."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    panel = frame[: frame.rindex("╯") + 1]  # without the room below it
    console.print(Text.from_ansi(panel.replace("\r", "").strip("\n")))
    layout = re.sub(r"@font-face {{.*?}}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    layout = re.sub(r"<!--.*?-->", "", layout).replace("Fira Code, monospace", FONT)
    drawn = console.export_svg(title=" ".join(COMMAND), code_format=layout, theme=MONOKAI, unique_id="live")
    return re.sub(
        r' clip-path="url\(#live-(line-\d+|clip-terminal)\)"', "", drawn
    )  # which cuts underscores off


def main() -> None:
    """Run, and write the picture."""
    target = Path(__file__).with_suffix(".svg").resolve()
    with tempfile.TemporaryDirectory() as directory:
        under_way = [frame for frame in frames(COMMAND, Path(directory)) if " left" in frame]
    target.write_text(picture(under_way[-1]), encoding="utf-8")


if __name__ == "__main__":
    main()
