"""A hook of MkDocs: formulas become MathML, which browsers draw without a script or a font from elsewhere."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Return a page whose formulas, marked by arithmatex, are MathML."""
    return _FORMULA.sub(_mathml, content)


def _mathml(formula: re.Match[str]) -> str:
    display = "inline" if formula[2] == "(" else "block"
    return convert(html.unescape(formula[3]), display=display)
