"""Show frames in a window while an episode runs: `evaluate --render`."""

import os
from types import TracebackType

from PIL import Image

from mpi_es.errors import UserError


class Window:
    """A window that shows frames of one size. Once it is closed it ignores them.

    Args:
        title: of the window.
    """

    def __init__(self, title: str) -> None:
        self._title, self._open = title, True

    def __enter__(self) -> "Window":
        import pygame

        chosen = "SDL_VIDEODRIVER" in os.environ
        try:
            pygame.display.init()
        except pygame.error as error:
            raise _no_screen(error) from error
        driver = pygame.display.get_driver()
        if driver in ("dummy", "offscreen") and not chosen:  # SDL's fallback if no display works
            raise _no_screen("no display")
        os.environ["SDL_VIDEODRIVER"] = driver  # an environment that is made later keeps it
        self._clock = pygame.time.Clock()
        return self

    def add(self, frame: Image.Image, fps: float) -> None:
        """Show a frame, no sooner than `1 / fps` seconds after the last."""
        import pygame

        if not self._open:
            return
        screen = pygame.display.get_surface()
        if screen is None or screen.get_size() != frame.size:
            screen = pygame.display.set_mode(frame.size)
            pygame.display.set_caption(self._title)
        screen.blit(pygame.image.frombytes(frame.tobytes(), frame.size, "RGB"), (0, 0))
        pygame.display.flip()
        self._clock.tick(fps)
        self._open = not any(event.type == pygame.QUIT for event in pygame.event.get())
        if not self._open:
            pygame.display.quit()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Close the window."""
        import pygame

        pygame.display.quit()


def _no_screen(reason: object) -> UserError:
    return UserError(f"--render: there is no screen ({reason}); use --video FILE")
