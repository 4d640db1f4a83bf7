import numpy as np
import pygame

from mpi_es.worlds.car_racing.picture.smoothscale import ONE, SIDE, WINDOW_H, WINDOW_W, divide


def shrunk(pixels):
    """Shrink the first axis of pixels (length, …) as the tables tell."""
    axis, contribution = divide(len(pixels)), lambda colour, share: 4 * colour * share >> 16
    out = np.empty((SIDE, *pixels.shape[1:]), np.int64)
    for i, (start, end, lead, trail) in enumerate(zip(*axis[:4], strict=True)):
        total = contribution(pixels[start:end], ONE).sum(axis=0) + contribution(pixels[end], trail)
        out[i] = total + (contribution(pixels[start - 1], lead) if lead else 0)
    return out * axis.reciprocal >> 16


def test_the_tables_give_what_pygame_makes_of_noise():
    noise = np.random.default_rng(0).integers(0, 256, (WINDOW_W, WINDOW_H, 3), np.uint8)
    surface = pygame.surfarray.make_surface(noise)
    expected = pygame.surfarray.array3d(pygame.transform.smoothscale(surface, (SIDE, SIDE)))
    ours = shrunk(shrunk(noise.astype(np.int64)).swapaxes(0, 1)).swapaxes(0, 1)
    np.testing.assert_array_equal(ours, expected)


def test_shares_of_a_pixel_add_up_to_a_whole_one():
    for length in (WINDOW_W, WINDOW_H):
        axis = divide(length)
        np.testing.assert_array_equal(axis.trail[:-1] + axis.lead[1:], ONE)
        np.testing.assert_array_equal(
            axis.lead + axis.trail + ONE * (axis.end - axis.start), ONE * length // SIDE
        )
