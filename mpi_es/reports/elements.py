"""The elements and the style of a report's page, which needs no JavaScript and fits a telephone."""

from collections.abc import Container, Iterable, Mapping, Sequence
from html import escape

from mpi_es.reports.drawing import COLOURS, Drawing, Mark
from mpi_es.text import duration

_STYLE = """
:root { color-scheme: light; --ink: #1c2126; --faint: #5b6670; --line: #dde1e5; --ground: #f3f5f7 }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, "Liberation Sans", Arial, sans-serif; color: var(--ink); background: #fff }
body { max-width: 70rem; margin: 0 auto; padding: 1.2rem 1rem 3rem; overflow-wrap: break-word }
h1, h2, h3 { font-weight: 600; line-height: 1.25 } h1 { font-size: 1.6rem; margin: 0 0 .3rem }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .4rem } h3 { font-size: 1rem; margin: 1.4rem 0 .2rem }
p { max-width: 46rem; margin: .4rem 0 } .faint, figcaption { color: var(--faint); font-size: .87rem }
.state { border-left: 4px solid #0072b2; background: var(--ground); padding: .45rem .8rem; max-width: none }
.state.finished { border-color: #009e73 } .state.stopped { border-color: #d55e00 }
.warning { color: #a33a00 }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .7rem 1.2rem }
.facts { margin: 1rem 0 } .facts dt { color: var(--faint); font-size: .87rem }
.facts dd { margin: 0; font-size: .87rem; font-variant-numeric: tabular-nums }
.facts b { font-size: 1.2rem; font-weight: 600 }
figure { margin: .4rem 0 } figure svg { display: block; width: 100%; height: auto }
figure svg text { font-family: system-ui, "Liberation Sans", Arial, sans-serif !important }
.narrow { display: none }
.panels { display: grid; gap: .4rem 1.2rem }
.panels { grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)) }
.panels.small { grid-template-columns: repeat(auto-fill, minmax(min(46%, 14rem), 1fr)) }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; list-style: none; margin: .4rem 0; padding: 0 }
.key { font-size: .87rem } .key li { display: flex; gap: .4rem; align-items: center }
.swatch { flex: none; width: 26px; height: 12px }
.bar { display: flex; height: 1.5rem; border-radius: 3px; overflow: hidden; margin: .6rem 0 }
.bar span { min-width: 1px } .box { flex: none; width: 12px; height: 12px; border-radius: 2px }
.scroll { overflow-x: auto } table { border-collapse: collapse; margin: .6rem 0 }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0 }
th, td { border-bottom: 1px solid var(--line) } th { font-weight: 600 }
.number { text-align: right; font-variant-numeric: tabular-nums }
pre { background: var(--ground); padding: .7rem 1rem; white-space: pre-wrap; font-size: .87rem }
code, .code { font-family: ui-monospace, "Liberation Mono", monospace; font-size: .87rem }
video, .film img { display: block; max-width: 100%; max-height: 34rem }
details { margin: .6rem 0 } summary { cursor: pointer }
@media (max-width: 44rem) {
  .wide { display: none } .narrow { display: block }
  .stack, .stack tbody, .stack tr, .stack td { display: block } .stack thead { display: none }
  .stack tr { border-bottom: 1px solid var(--line); padding: .4rem 0 }
  .stack td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0 }
  .stack td { text-align: right } .stack td::before { content: attr(data-title); color: var(--faint) }
  .stack td::before { text-align: left; flex: none; max-width: 55% } th, td { padding-right: .7rem }
  .code, pre { font-size: .8rem } .code { overflow-wrap: anywhere } .facts { grid-template-columns: 1fr 1fr }
}
@media print { details > * { display: block } h2, figure { break-inside: avoid } }
"""
_DASHES = {"-": "", "--": "5 3", ":": "1.5 2.5"}


def document(title: str, parts: Iterable[str]) -> str:
    """Return the whole page."""
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',  # or a browser asks for one
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    body = "\n".join(filter(None, parts))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{"".join(head)}</head>\n<body>\n{body}\n</body>\n</html>\n'
    )


def heading(text: str, level: int) -> str:
    """Return a heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def faint(text: str) -> str:
    """Return a paragraph that steps back."""
    return f'<p class="faint">{escape(text)}</p>'


def warning(text: str) -> str:
    """Return a paragraph that stands out."""
    return f'<p class="warning">{escape(text)}</p>'


def state(text: str, *, finished: bool, stopped: bool) -> str:
    """Return the line that says why a run ended, or that it goes on."""
    kind = "finished" if finished else "stopped" if stopped else "running"
    return f'<p class="state {kind}">{escape(text[:1].upper() + text[1:])}.</p>'


def facts(pairs: Iterable[tuple[str, str, str]]) -> str:
    """Return a grid of facts: each has a name, a value, and what is said of it in small."""
    cells = [
        f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b><br>{escape(more)}</dd></div>"
        for name, value, more in pairs
        if value
    ]
    return f'<dl class="facts">{"".join(cells)}</dl>'


def table(
    titles: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    numbers: Container[int] = (),
    code: Container[int] = (),
    stack: bool = False,
) -> str:
    """Return a table.

    Args:
        numbers: columns that are aligned to the right.
        code: columns in the letters of a command line.
        stack: on a narrow screen a row becomes a list; else the table is scrolled there.
    """
    places = range(len(titles))
    kinds = ["number" if i in numbers else "code" if i in code else "" for i in places]
    marks = [f' class="{kind}"' if kind else "" for kind in kinds]
    heads = "".join(f"<th{mark}>{escape(title)}</th>" for mark, title in zip(marks, titles, strict=True))
    names = [f' data-title="{escape(title)}"' if stack else "" for title in titles]
    lines = [
        "".join(f"<td{marks[i]}{names[i]}>{escape(cell)}</td>" for i, cell in enumerate(row)) for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    kind = ' class="stack"' if stack else ""
    whole = f"<table{kind}><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def key(marks: Iterable[Mark]) -> str:
    """Return the key of figures: each mark with what it means."""
    items = [f"<li>{_swatch(mark)}{escape(mark.label)}</li>" for mark in marks]
    return f'<ul class="key">{"".join(items)}</ul>' if items else ""


def _swatch(mark: Mark) -> str:
    """Return a line, a line with a point, or a band, as it is drawn."""
    begin = '<svg class="swatch" viewBox="0 0 26 12" aria-hidden="true">'
    if mark.band:
        return (
            f'{begin}<rect width="26" height="12" fill="{mark.colour}" fill-opacity="{mark.alpha:g}"/></svg>'
        )
    dash = f' stroke-dasharray="{_DASHES[mark.dash]}"' if _DASHES.get(mark.dash) else ""
    stroke = f'stroke="{mark.colour}" stroke-width="{max(mark.width, 1.2):g}"{dash}'
    line = f'<line x1="0" x2="26" y1="6" y2="6" {stroke}/>' if mark.dash in _DASHES else ""
    point = f'<circle cx="13" cy="6" r="3" fill="{mark.colour}"/>' if mark.point else ""
    return f"{begin}{line}{point}</svg>"


def figures(drawings: Sequence[Drawing], *, small: bool = False) -> str:
    """Return figures next to each other, or below each other on a narrow screen.

    Args:
        small: two of them stand next to each other on a narrow screen too.
    """
    kind = "panels small" if small else "panels"
    cells = "".join(f"<figure>{drawing.svg}</figure>" for drawing in drawings)
    return f'<div class="{kind}">{cells}</div>'


def wide_figure(wide: Drawing, narrow: Drawing) -> str:
    """Return a figure as wide as the page, of which a narrow screen shows a drawing of its own."""
    pair = f'<div class="wide">{wide.svg}</div><div class="narrow">{narrow.svg}</div>'
    return f"<figure>{pair}</figure>"


def bar(shares: Mapping[str, float]) -> str:
    """Return seconds as parts of one bar, with a key."""
    total = sum(shares.values()) or 1.0
    known = {name: seconds for name, seconds in shares.items() if seconds > 0}
    colours = dict(zip(shares, COLOURS, strict=False))
    parts = [
        f'<span style="width:{100 * seconds / total:.2f}%;background:{colours[name]}"></span>'
        for name, seconds in known.items()
    ]
    items = [
        f'<li><span class="box" style="background:{colours[name]}"></span>'
        f"{escape(name)}: {100 * seconds / total:.1f} %, {duration(seconds)}</li>"
        for name, seconds in known.items()
    ]
    return f'<div class="bar">{"".join(parts)}</div><ul class="key">{"".join(items)}</ul>'


def commands(text: str, lines: Iterable[str]) -> str:
    """Return commands with what they do."""
    return f"<p>{escape(text)}:</p><pre>{escape(chr(10).join(lines))}</pre>"


def details(summary: str, *parts: str) -> str:
    """Return what is shown only where a reader opens it."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"
