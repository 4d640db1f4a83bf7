import base64
import re

import numpy as np
import pytest

from mpi_es.config.parts import flat
from mpi_es.config.run import configured
from mpi_es.reports import page
from mpi_es.reports.drawing import Figures, Markup
from mpi_es.reports.page import Section, Table, films, render


def body(section):
    """Return what a page shows of a section, without line breaks between elements."""
    text = render("title", [section])
    return text[text.index("<body>") + len("<body>") : text.index("</body>")].replace(">\n<", "><")


def test_a_page_fits_a_telephone_and_loads_nothing():
    text = render("a & b", [Section("x")])
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert "<title>a &amp; b</title>" in text
    assert "<script" not in text
    assert re.findall(r"https?://|@import|url\(", text) == []


HOSTILE = '<script>alert("1")</script>\x1b[2J\x00\u202e\ud800'


def test_no_text_becomes_an_element_or_a_control_character():
    table = Table([HOSTILE], [[HOSTILE]], stack=True)
    section = Section(
        HOSTILE,
        about=[HOSTILE],
        state={"kind": "running", "text": HOSTILE},
        warning=HOSTILE,
        facts=[(HOSTILE, HOSTILE, HOSTILE)],
        bar=[{"percent": "1", "colour": "red", "text": HOSTILE}],
        text=HOSTILE,
        table=table,
        note=HOSTILE,
        commands=(HOSTILE, [HOSTILE]),
        films=[{"name": HOSTILE, "source": HOSTILE, "place": HOSTILE, "is_video": False}],
        folded=[(HOSTILE, [Section(HOSTILE)])],
    )
    text = render(HOSTILE, [section])
    assert text.count("&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;?[2J???") == 22
    assert "<script" not in text
    assert all(one.isprintable() or one == "\n" for one in text)


@pytest.mark.parametrize(("finished", "kind"), [(True, "finished"), (False, "stopped")])
def test_a_state_is_a_sentence(finished, kind):
    life = {"saved": 0.0, "host": "vm", "job": "", "rest": 0.0, "reason": "over", "finished": finished}
    state = page.state_for_page({"timing": {"total": np.ones(1)}, "life": life})
    assert f'<p class="state {kind}">Over' in body(Section(state=state))


def test_facts_without_a_value_are_left_out():
    text = body(Section(facts=[("Best", "500", "of 9"), ("Last", "", "")]))
    assert text.count("<dt>") == 1
    assert "<dt>Best</dt><dd><b>500</b><br>of 9</dd>" in text


def test_a_table_aligns_numbers_and_stacks_on_a_telephone():
    text = body(Section(table=Table(("Run", "Score"), [("a<", "1")], stack=True)))
    assert '<table class="stack"><thead><tr><th>Run</th><th class="number">Score</th></tr></thead>' in text
    assert '<td data-title="Run">a&lt;</td><td class="number" data-title="Score">1</td>' in text


def test_a_narrow_screen_has_a_drawing_of_its_own():
    pair = (Markup("<svg>1</svg>"), Markup("<svg>2</svg>"))
    text = body(Section(figures=Figures(None, pair, [], False)))
    assert '<div class="wide"><svg>1</svg></div><div class="narrow"><svg>2</svg></div>' in text


def test_a_bar_has_the_shares_of_the_time_and_a_key():
    text = body(Section(bar=page.bar({"ask": 0.0, "evaluate": 90.0, "save": 10.0})))
    assert re.findall(r"width:([\d.]+)%", text) == ["90.00", "10.00"]
    assert "evaluate: 90.0 %, 1 min 30 s" in text
    assert "save: 10.0 %, 10 s" in text
    assert "ask" not in text


def test_commands_are_text():
    assert "<p>Do:</p><pre>a &lt; b\nc</pre>" in body(Section(commands=("Do", ["a < b", "c"])))


@pytest.mark.parametrize("name", ["run.h5", ".film.tmp.mp4"])
def test_a_run_without_a_whole_film_has_no_section(name, tmp_path):
    (tmp_path / name).write_bytes(b"fi")
    assert films(tmp_path, tmp_path) == []


def test_small_films_are_a_part_of_the_page(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"film")
    (tmp_path / "b.gif").write_bytes(b"picture")
    (section,) = films(tmp_path, tmp_path)
    text = body(section)
    assert "<h2>Videos</h2>" in text
    video, picture = (base64.b64encode(each).decode() for each in (b"film", b"picture"))
    assert f'preload="metadata" src="data:video/mp4;base64,{video}#t=1.5"></video>' in text
    assert f'<img alt="b.gif" src="data:image/gif;base64,{picture}">' in text


def test_large_films_are_loaded_from_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "_EMBEDDED", 3)
    run = tmp_path / "run 1"
    run.mkdir()
    (run / "a.mp4").write_bytes(b"film")
    text = body(films(run, tmp_path)[0])
    assert 'src="run%201/a.mp4#t=1.5"></video>' in text
    assert "a.mp4, which the page loads from run 1/a.mp4" in text
    assert 'src="a.mp4#t=1.5"></video>' in body(films(run, run)[0])


def test_the_command_that_repeats_a_run_has_the_options_of_a_users_strategy():
    config = configured(seed=3)
    content = {"libraries": {}, "config": flat(config) | {"alpha": 3.0}}
    section = page.options(config, content, "mpi_es", ("again", []))
    assert section.commands[1] == ["python -m mpi_es.train --env CartPole-v1 --seed 3 --alpha 3.0"]
    assert ("--alpha", "3.0", "") in section.table.rows
