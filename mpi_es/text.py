"""Numbers formatted for people."""

import math


def thousands(value: float) -> str:
    """Return a value in up to ten digits, with commas between the thousands."""
    return f"{value:,.10g}"


def number(value: float) -> str:
    """Return a value with four significant digits, whole above 1,000; a dash for NaN."""
    if math.isnan(value):
        return "-"
    return thousands(round(value)) if 999.95 <= abs(value) < 1e7 else f"{value:.4g}"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun, in the singular or plural."""
    return f"{thousands(round(number, 2))} {noun}{'' if number == 1 else 's'}"


def clock(seconds: float) -> str:
    """Return h:mm:ss, with the number of days in front if it is not 0."""
    days, rest = divmod(round(seconds), 86400)
    text = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}d {text}" if days else text
