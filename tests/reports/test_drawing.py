import io
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from mpi_es.reports import drawing
from mpi_es.reports.drawing import Panel


def both(axes):
    axes.fill_between([1, 2], [0, 1], [2, 3], color="#56B4E9", alpha=0.25, label="range")
    axes.plot([1, 2], [1, 2], "--", color="#0072B2", lw=1.5, label="mean")
    axes.errorbar([1, 2], [1, 2], [0.5, 0.5], color="#D55E00", fmt="o-", lw=1.0, label="held-out")


PANEL = Panel("a < b", "generations", both)


def svg(panel):
    (drawn,) = drawing.figures([panel]).panels
    return drawn


def test_a_drawing_scales_with_the_page_and_says_what_it_shows():
    drawn = svg(PANEL)
    head = drawn[: drawn.index(">")]
    assert head.startswith('<svg role="img" aria-label="a &lt; b by generations"')
    assert "viewBox" in head
    assert re.search(r" (width|height)=", head) is None
    assert "http" not in drawn[drawn.index(">") : drawn.index("<defs>")]


def test_letters_stay_letters_and_what_is_referred_to_is_there():
    drawn = svg(PANEL)
    assert ">generations</text>" in drawn
    named, used = re.findall(r' id="([^"]+)"', drawn), re.findall(r"(?:href=\"#|url\(#)([^\")]+)", drawn)
    assert {*used} <= {*named}
    assert len(named) == len({*named})


def test_a_name_is_text_and_no_formula():
    drawn = svg(Panel(r"a $\nothing$ <b>", "<script>", lambda axes: axes.plot([1, 2], label="</svg>$")))
    assert r">a $\nothing$ &lt;b&gt;</text>" in drawn
    assert "<script" not in drawn


def test_the_same_panel_is_the_same_text_and_another_size_has_other_names():
    one, again = (drawing.figures([PANEL], first=PANEL) for _ in range(2))
    assert one == again
    names = [{*re.findall(r' id="([^"]+)"', each)} for each in (*one.first, *one.key)]
    assert len(set.union(*names)) == sum(map(len, names))


def test_panels_share_a_key_which_a_narrow_screen_has_in_one_column():
    wide, narrow = drawing.figures([PANEL, PANEL]).key
    for key in (wide, narrow):
        assert re.findall(r">([^<]+)</text>", key) == ["range", "mean", "held-out"]
    width, height = (float(re.search(rf'{name}="([\d.]+)pt"', narrow)[1]) for name in ("width", "height"))
    assert width < 100 < float(re.search(r'width="([\d.]+)pt"', wide)[1])
    assert max(float(y) for y in re.findall(r'<text[^>]* y="([\d.]+)"', narrow)) < height
    assert drawing.figures([Panel("", "", lambda axes: axes.plot([1]))]).key is None


def test_what_has_many_points_is_painted():
    few, many = (svg(Panel("", "", lambda a, n=n: a.plot(np.sin(np.arange(n))))) for n in (100, 200_000))
    assert ("<image" in few, "<image" in many) == (False, True)
    assert len(many) < 200_000
    x = np.arange(20_000)
    assert "<image" in svg(Panel("", "", lambda axes: axes.fill_between(x, np.sin(x), 2)))


@pytest.mark.parametrize(
    ("values", "limits"),
    [([0, 10], (-0.6, 10.6)), ([np.nan, 4, np.inf], (3.8, 4.2)), ([0], (-0.5, 0.5)), ([np.nan], None)],
)
def test_an_axis_shows_all_finite_values(values, limits):
    axes = Figure().subplots()
    assert drawing.set_view(axes, [np.array(values, float)]) == (limits and pytest.approx(limits))


@pytest.mark.parametrize(
    ("values", "given", "scale"),
    [
        ([1, 1e4], "auto", "log"),
        ([1, 1e4], "linear", "linear"),
        ([1, 10], "auto", "linear"),
        ([1, 10], "log", "log"),
        ([-1, 1e4], "auto", "linear"),
    ],
)
def test_an_axis_is_logarithmic_where_positive_values_span_decades(values, given, scale):
    axes = Figure().subplots()
    low, high = drawing.set_view(axes, [np.array(values, float)], given)
    assert axes.get_yscale() == scale
    assert (low <= min(values), high >= max(values)) == (True, True)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0, 5, np.nan], ""),
        ([-1234.5, 5], " (down to -1,234, cut off)"),
        ([0, 99], " (up to 99, cut off)"),
        ([], ""),
    ],
)
def test_a_key_says_how_far_values_go_beyond_the_axis(values, said):
    assert drawing.cut_off(np.array(values, float), (0.0, 10.0)) == said


@pytest.mark.parametrize(("low", "high"), [(0.05, 0.2), (0.254, 0.288), (1e-6, 1e3)])
def test_a_logarithmic_axis_has_two_numbers_or_more(low, high):
    axes = Figure().subplots()
    drawing.set_view(axes, [np.array([low, high])], "log")
    inside = [tick for tick in axes.yaxis.get_majorticklocs() if low <= tick <= high]
    assert len(inside) >= 2


@pytest.mark.parametrize(
    ("last", "labels"),
    [
        ({"steps": 2.9e6, "seconds": 150}, ["steps", "wall time / s"]),
        ({"steps": 3e6, "seconds": 210}, ["million steps", "wall time / min"]),
        ({"steps": 1.8e8, "seconds": 11100}, ["million steps", "wall time / h"]),
    ],
)
def test_an_axis_has_the_unit_that_suits_it(last, labels):
    panels = drawing.by_each_axis("score", lambda axis, axes: None, "steps", last)
    assert [panel.across for panel in panels] == ["generations", *labels]


def up_to(end, **options):
    return Panel("", "", lambda axes: axes.plot([0, end], [0, 0]), **options)


@pytest.mark.parametrize(
    ("panel", "labels"),
    [
        (up_to(12), ["0", "5", "10"]),
        (up_to(9000, unit=3600.0, whole=False), ["0", "1", "2"]),
        (up_to(3e7), ["0", "10,000,000", "20,000,000", "30,000,000"]),
    ],
)
def test_numbers_below_an_axis_are_round_in_its_unit_and_have_commas(panel, labels):
    assert re.findall(r">([\d.,]+)</text>", svg(panel))[: len(labels)] == labels


def width_of_picture(draw, columns):
    with Image.open(io.BytesIO(drawing.picture([Panel("a", "b", draw)] * 3, columns))) as image:
        assert image.format == "PNG"
        return image.width


def test_a_picture_has_its_panels_and_one_legend():
    assert width_of_picture(both, 3) == pytest.approx(3 * 3.4 * 160, rel=0.02)


def test_a_picture_is_as_wide_as_its_legend():
    def named(axes):
        for name in range(3):
            axes.plot([1, 2], label=f"{name} {'x' * 90}")

    assert width_of_picture(named, 1) > 3 * 90 * 160 / 15  # a letter takes a fifteenth of an inch or more
