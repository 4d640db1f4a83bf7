"""Numbers formatted for people."""

import math
import re

_UNITS = (  # a unit, its seconds, the unit below, its seconds, and the digits of its number
    ("d", 86400, "h", 3600, 1),
    ("h", 3600, "min", 60, 2),
    ("min", 60, "s", 1, 2),
)


def thousands(value: float) -> str:
    """Return a value in up to ten digits, with commas between the thousands."""
    return f"{value:,.10g}"


def number(value: float) -> str:
    """Return a value with four significant digits, whole above 1,000; a dash for NaN."""
    if math.isnan(value):
        return "-"
    value += 0.0  # -0.0 becomes 0.0
    return thousands(round(value)) if 999.95 <= abs(value) < 1e7 else f"{value:.4g}"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun, in the singular or plural."""
    return f"{thousands(round(number, 2))} {noun}{'' if number == 1 else 's'}"


def compact(value: float, width: int) -> str:
    """Return a value as `number` does, with fewer digits where it would be wider than `width` characters."""
    text = number(value)
    digits = 4
    while len(text) > width and digits:
        text = re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{value:.{digits}g}")
        digits -= 1
    return text


def duration(seconds: float, width: int = 11) -> str:
    """Return a time in its two largest units, such as 2 h 05 min; in the larger alone where `width` is less.

    Args:
        width: in characters; no time below 10,000 days needs more than 11.
    """
    if seconds < 9.95:
        return f"{round(seconds, 3):.2g} s"
    rest = round(seconds)
    for unit, size, below, smaller, pad in _UNITS:
        if rest >= size:
            whole, part = divmod(rest // smaller, size // smaller)
            text = f"{compact(whole, 6)} {unit}"
            both = f"{text} {part:0{pad}} {below}"
            return both if len(both) <= width else text
    return f"{rest} s"
