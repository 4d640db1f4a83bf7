import numpy as np
import pytest

from mpi_es.policies.attention_compiled.kernel import allocate
from mpi_es.policies.attention_compiled.patches import find_kinds
from tests.policies.attention_compiled.agent import FLAT, NOISE, RAMP


@pytest.mark.parametrize(("picture", "kinds"), [(FLAT, 1), (RAMP, 23), (NOISE, 529)])
def test_equal_patches_are_found(picture, kinds):
    scratch = allocate(96, 10, 64)
    assert find_kinds(picture, scratch.patches) == kinds
    assert scratch.patches.repeats.sum() == 529
    patches = [picture[r : r + 7, c : c + 7].tobytes() for r in range(0, 92, 4) for c in range(0, 92, 4)]
    numbers = {patch: number for number, patch in enumerate(dict.fromkeys(patches))}
    assert scratch.patches.kind.tolist() == [numbers[patch] for patch in patches]


def test_each_pixel_of_a_patch_tells_it_from_the_others():
    scratch = allocate(12, 1, 64)  # four patches
    for pixel in np.ndindex(7, 7, 3):
        picture = FLAT[:12, :12].copy()
        picture[pixel] += 1
        contents = {picture[r : r + 7, c : c + 7].tobytes() for r in (0, 4) for c in (0, 4)}
        assert find_kinds(picture, scratch.patches) == len(contents) > 1


def test_hashes_that_collide_change_nothing():
    scratch = allocate(96, 10, 64)
    picture = FLAT.copy()
    picture[:, 6::8, 2] += np.arange(96, dtype=np.uint8)[:, None]  # bytes that the hash leaves out
    count = find_kinds(picture, scratch.patches)
    patches = [picture[r : r + 7, c : c + 7].tobytes() for r in range(0, 92, 4) for c in range(0, 92, 4)]
    assert count == len(set(patches))
    assert len(set(scratch.patches.code)) < count
