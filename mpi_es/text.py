"""Numbers as people read them."""

import math


def thousands(value: float) -> str:
    """Return a value in up to ten digits, with commas between the thousands."""
    return f"{value:,.10g}"


def number(value: float) -> str:
    """Return a value in four digits or a few more; a dash for NaN."""
    if math.isnan(value):
        return "-"
    return thousands(round(value)) if 999.95 <= abs(value) < 1e7 else f"{value:.4g}"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun, in the plural where that is due."""
    return f"{thousands(round(number, 2))} {noun}{'' if number == 1 else 's'}"


def clock(seconds: float) -> str:
    """Return h:mm:ss, after the days if there are any."""
    days, rest = divmod(round(seconds), 86400)
    text = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}d {text}" if days else text
