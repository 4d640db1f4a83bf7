from itertools import pairwise

import numpy as np
import pygame
import pytest

from mpi_es.worlds.car_racing.picture import digits

NUMBERS = [0.0, -0.0, 0.5, 1.5, -0.4, -0.6, 17.0, 999.5, -99.5, -999.4, 1000.0, -1234.0, 99999.0, -9999.0]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_is_spelt_as_python_formats_it(number):
    text = np.zeros(digits.LONGEST, np.int64)
    length = digits.spell(number, text)
    assert "".join(digits.CHARACTERS[i] for i in text[:length]) == f"{number:04.0f}"


def test_glyphs_are_as_wide_apart_as_pygame_sets_them():
    glyphs = digits.render_glyphs()
    font = pygame.font.Font(pygame.font.get_default_font(), digits.SIZE)
    for text in ("0123", "-741", "9999", "1171", "-4-7"):
        places = [digits.CHARACTERS.index(c) for c in text]
        pen = sum(glyphs.advances[a, b] for a, b in pairwise(places))
        assert (pen >> 6) + glyphs.widths[places[-1]] == font.size(text)[0]
        assert glyphs.pixels.shape[2] == font.render(text, True, (0, 0, 0)).get_height()
