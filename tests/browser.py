"""Pages in headless Chromium, where it is installed: how large they are, and what it complains of."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pytest

from tests.launching import LIMIT

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PHONE, DESKTOP = 390, 1280  # pixels of a screen's width
_QUIET = ("quic", "background-networking", "component-update", "sync", "gpu", "dev-shm-usage")
# Chromium's own window is never as narrow as a telephone; a frame in it is.
_WRAPPER = """<!DOCTYPE html>
<iframe style="width: {width}px; height: 800px; border: 0" srcdoc="{page}"></iframe>
<output></output><script>
onload = () => {{
    const seen = document.querySelector("iframe").contentDocument.documentElement
    document.querySelector("output").textContent = `${{seen.scrollWidth}} by ${{seen.scrollHeight}}`
}}
</script>"""


@dataclass(frozen=True)
class Seen:
    """What a page takes on a screen."""

    width: int
    height: int
    complaints: list[str]


def seen(page: str, width: int) -> Seen:
    """Return what a page takes on a screen of this width; skip the test where there is no browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed (apt-get install chromium), so no page is laid out")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "wrapper.html")
        path.write_text(_WRAPPER.format(width=width, page=escape(page)), encoding="utf-8")
        quiet = [f"--disable-{name}" for name in _QUIET]
        flags = [
            "--headless",
            "--no-sandbox",
            "--no-first-run",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            *quiet,
        ]
        command = [CHROMIUM, *flags, f"--user-data-dir={directory}/user", "--dump-dom", path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
    found = re.search(r"<output>(\d+) by (\d+)</output>", done.stdout)
    assert found, done.stderr
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Seen(int(found[1]), int(found[2]), complaints)
