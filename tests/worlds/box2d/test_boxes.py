import numpy as np
import pytest

from mpi_es.worlds.box2d import records
from mpi_es.worlds.box2d.boxes import find_new_contacts


def test_more_contacts_than_there_is_room_for_are_an_error():
    scene = np.zeros(1, records.scene(bodies=1, joints=1, pieces=3, contacts=2))[0]
    scene["bodies"]["moved"], scene["bodies"]["upper_x"], scene["bodies"]["upper_y"] = 1, 1, 1
    scene["boxes"][2:], scene["piece_count"] = 1, 2
    find_new_contacts(scene)
    assert scene["contacts"]["piece"].tolist() == [0, 1]
    scene["bodies"]["moved"], scene["piece_count"] = 1, 3
    with pytest.raises(MemoryError, match="contacts of a scene: expected as many as its array holds"):
        find_new_contacts(scene)
