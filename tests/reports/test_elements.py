import re

import pytest

from mpi_es.reports import elements
from mpi_es.reports.drawing import Drawing, Mark


def test_a_page_fits_a_telephone_and_loads_nothing():
    page = elements.document("a & b", ["<p>x</p>", ""])
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert "<title>a &amp; b</title>" in page
    assert "<script" not in page
    assert re.findall(r"https?://|@import|url\(", page) == []


@pytest.mark.parametrize(
    ("finished", "stopped", "kind"),
    [(True, False, "finished"), (False, True, "stopped"), (False, False, "running")],
)
def test_a_state_is_a_sentence(finished, stopped, kind):
    said = elements.state("running on <vm>", finished=finished, stopped=stopped)
    assert said == f'<p class="state {kind}">Running on &lt;vm&gt;.</p>'


def test_facts_without_a_value_are_left_out():
    text = elements.facts([("Best", "500", "of 9"), ("Last", "", "")])
    assert text.count("<dt>") == 1
    assert "<dt>Best</dt><dd><b>500</b><br>of 9</dd>" in text


def test_a_table_aligns_numbers_and_stacks_on_a_telephone():
    text = elements.table(("Run", "Score"), [("a<", "1")], numbers={1}, stack=True)
    assert '<table class="stack"><thead><tr><th>Run</th><th class="number">Score</th></tr></thead>' in text
    assert '<td data-title="Run">a&lt;</td><td class="number" data-title="Score">1</td>' in text


def test_a_key_draws_lines_points_and_bands():
    marks = [
        Mark("a", "#111111", "--"),
        Mark("b", "#222222", "None", point=True),
        Mark("c", "#333333", band=True),
    ]
    items = re.findall(r"<li>.*?</li>", elements.key(marks))
    assert ['stroke-dasharray="5 3"' in items[0], "<circle" in items[0]] == [True, False]
    assert ["<line" in items[1], "<circle" in items[1]] == [False, True]
    assert '<rect width="26" height="12" fill="#333333"' in items[2]
    assert elements.key([]) == ""


def test_a_narrow_screen_has_a_drawing_of_its_own():
    text = elements.wide_figure(Drawing("<svg>1</svg>", []), Drawing("<svg>2</svg>", []))
    assert (
        text == '<figure><div class="wide"><svg>1</svg></div><div class="narrow"><svg>2</svg></div></figure>'
    )


def test_a_bar_has_the_shares_of_the_time_and_a_key():
    text = elements.bar({"ask": 0.0, "evaluate": 90.0, "save": 10.0})
    assert re.findall(r"width:([\d.]+)%", text) == ["90.00", "10.00"]
    assert "evaluate: 90.0 %, 1 min 30 s" in text
    assert "save: 10.0 %, 10 s" in text
    assert "ask" not in text


def test_commands_are_text():
    assert elements.commands("Do", ["a < b", "c"]) == "<p>Do:</p><pre>a &lt; b\nc</pre>"
