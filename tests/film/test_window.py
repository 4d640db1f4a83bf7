import pygame
import pytest
from PIL import Image

from mpi_es.errors import UserError
from mpi_es.film.window import Window

RED, BLUE = (Image.new("RGB", (20, 10), colour) for colour in ("#ff0000", "#0000ff"))


@pytest.fixture(autouse=True)
def off_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def test_a_frame_is_shown():
    with Window("an episode") as window:
        window.add(RED, 1000)
        window.add(BLUE, 1000)
        assert pygame.display.get_surface().get_size() == (20, 10)
        assert pygame.display.get_surface().get_at((5, 5))[:3] == (0, 0, 255)
        assert pygame.display.get_caption()[0] == "an episode"
    assert not pygame.display.get_init()


def test_a_window_that_is_closed_ignores_what_follows():
    with Window("") as window:
        window.add(RED, 1000)
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        window.add(RED, 1000)
        assert not pygame.display.get_init()
        window.add(BLUE, 1000)
        assert not pygame.display.get_init()


def test_without_a_screen_a_film_is_proposed(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "none such")
    with pytest.raises(UserError, match=r"--render: there is no screen \(.*\); use --video FILE"), Window(""):
        pass


def test_a_screen_that_nobody_sees_is_none_unless_it_was_asked_for(monkeypatch):
    monkeypatch.delenv("SDL_VIDEODRIVER")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="there is no screen"), Window(""):
        pass
