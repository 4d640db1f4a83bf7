"""The films that lie in a run's directory, as parts of its page."""

import base64
import os
from html import escape
from pathlib import Path
from urllib.parse import quote

_KINDS = {".mp4": "video/mp4", ".gif": "image/gif"}
# A page with a film of this size can still be sent by mail. A larger one stays a file next to it.
_EMBEDDED = 5_000_000  # bytes of all films of a run


def films(directory: Path, place: Path) -> list[str]:
    """Return the section of the films in a run's directory; nothing where there is none.

    Args:
        place: directory of the page, from which large films are loaded.
    """
    # A hidden one is a film that is still being written, or whose writer was killed.
    found = sorted(path for path in directory.glob("[!.]*") if path.suffix in _KINDS and path.is_file())
    if not found:
        return []
    inside = sum(path.stat().st_size for path in found) <= _EMBEDDED
    return ["<h2>Films</h2>", *(_film(path, place, inside=inside) for path in found)]


def _film(path: Path, place: Path, *, inside: bool) -> str:
    """Return a film with its name."""
    kind = _KINDS[path.suffix]
    name, outside = escape(path.name), os.path.relpath(path.resolve(), place.resolve())
    source, where = quote(outside), f", which the page loads from {escape(outside)}"
    if inside:
        source, where = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}", ""
    shown = f'<img alt="{name}" src="{source}">'
    if kind.startswith("video"):
        shown = f'<video controls loop muted playsinline preload="metadata" src="{source}"></video>'
    return f'<figure class="film">{shown}<figcaption>{name}{where}</figcaption></figure>'
