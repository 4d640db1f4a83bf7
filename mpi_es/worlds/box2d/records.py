"""A scene: Box2D's world as one numpy record, which compiled code gets by one pointer.

The numbers of bodies, joints, pieces and contacts are the sizes of arrays, so compiled code knows them,
except for the numbers of pieces and contacts in use.
"""

from typing import Any

import numpy as np

from mpi_es.worlds.box2d.settings import F32

INT = np.int32
MOST_CORNERS = 6  # the lander's hull has most
QUAD = 4  # corners of a polygon of the terrain

# Records as numba sees them, and arrays of them
Scene = Any
Body = Any
Joint = Any
Piece = Any
Contact = Any
Row = Any
Simplex = Any


def _numbers(names: str, kind: type = F32, shape: tuple[int, ...] = ()) -> list[Any]:
    return [(name, kind, shape) for name in names.split()]


BODY = np.dtype(
    # Shape and mass, in the body's own frame
    _numbers("corners normals", shape=(MOST_CORNERS, 2))
    + _numbers("size", INT)  # number of corners
    + _numbers("centroid_x centroid_y local_x local_y")  # of the polygon, and the centre of mass
    + _numbers("inverse_mass inverse_moment friction")
    + _numbers("reach")  # from the centre of mass to the furthest corner
    + _numbers("start_x start_y start_angle")  # of the frame, when an episode begins
    # State
    + _numbers("velocity_x velocity_y spin")
    + _numbers("x y angle")  # of the centre of mass: m_sweep.c and a
    + _numbers("x0 y0 angle0 alpha0")  # where the sweep begins: c0, a0 and alpha0
    + _numbers("origin_x origin_y sine cosine")  # of the frame: m_xf
    + _numbers("old_origin_x old_origin_y old_sine old_cosine")  # where the step's sweep begins
    + _numbers("force_x force_y torque")
    + _numbers("lower_x lower_y upper_x upper_y")  # the box in Box2D's tree, with its margin
    + _numbers("rest")  # seconds: m_sleepTime
    + _numbers("awake moved", INT)  # moved: the box is another since contacts were looked for
    + _numbers("on_ground touched", INT)  # gymnasium's ground_contact; whether anything was ever touched
)

JOINT = np.dtype(
    _numbers("a b", INT)  # the bodies
    + _numbers("anchor_ax anchor_ay anchor_bx anchor_by")  # from the centres of mass
    + _numbers("reference lower upper motor_speed motor_torque")
    + _numbers("start_speed start_torque")  # when an episode begins
    + _numbers("impulse_x impulse_y limit_impulse motor_impulse")  # from step to step
    + _numbers("limit", INT)
    # What a step begins with: the arms, b2RevoluteJoint's m_mass, and the inverses of its determinants
    + _numbers("arm_ax arm_ay arm_bx arm_by k_xx k_xy k_xz k_yy k_yz k_zz motor_mass inverse_2 inverse_3")
)

PIECE = np.dtype(
    _numbers("corners normals", shape=(QUAD, 2))  # in an edge the first two corners, the first normal
    + _numbers("size", INT)  # 2 is an edge, QUAD a polygon
    + _numbers("centroid_x centroid_y friction")
    + _numbers("body", INT)  # the first piece of the same static body of Box2D
)

CONTACT = np.dtype(
    _numbers("piece body touching enabled", INT)
    + _numbers("friction")
    # The manifold: which side's face is the reference, and the points, each with its identity
    + _numbers("face count", INT)
    + _numbers("normal_x normal_y plane_x plane_y")
    + _numbers("points", shape=(2, 2))
    + _numbers("keys", INT, (2,))
    + _numbers("normal_impulses tangent_impulses", shape=(2,))
    # Continuous collision: m_toi, whether it is known, and how often it was found in this step
    + _numbers("impact")
    + _numbers("impact_known impacts", INT)
)

# A touching contact in the solver: b2ContactVelocityConstraint and b2ContactPositionConstraint
ROW = np.dtype(
    _numbers("contact body", INT)
    + _numbers("count all_points", INT)  # two points may be solved as one, but are corrected as two
    + _numbers("friction normal_x normal_y")
    + _numbers("arms", shape=(2, 2))
    + _numbers("normal_mass tangent_mass normal_impulses tangent_impulses old_normal old_tangent", shape=(2,))
    + _numbers("k_11 k_12 k_22 m_11 m_12 m_22")  # of both points, and the inverse
)

# b2Distance's simplex, a row for each corner of it, and what it keeps from call to call
SIMPLEX = np.dtype(
    _numbers("terrain_x terrain_y body_x body_y way_x way_y weight", shape=(3,))
    + _numbers("piece_corner body_corner saved_piece_corner saved_body_corner", INT, (3,))
    + _numbers("size", INT)
    + _numbers("metric")
)


def scene(bodies: int, joints: int, pieces: int, contacts: int) -> np.dtype[np.void]:
    """Return the type of a scene with these numbers of bodies and joints,
    and at most these of pieces and contacts.
    """
    return np.dtype(
        [
            ("bodies", BODY, (bodies,)),
            ("joints", JOINT, (joints,)),
            # Box2D's in the island: the solver goes through contacts body by body
            ("body_order", INT, (bodies,)),
            ("joint_order", INT, (joints,)),
            ("pieces", PIECE, (pieces,)),
            ("boxes", F32, (4, pieces)),  # of the pieces: lower x, lower y, upper x, upper y
            ("alpha0", F32, (pieces,)),  # of static bodies, at their first piece: they have a sweep too
            ("piece_count", INT),
            ("contacts", CONTACT, (contacts,)),  # in the order in which they were made
            ("contact_count", INT),
            ("rows", ROW, (contacts,)),
            ("row_count", INT),
            ("simplex", SIMPLEX),
            ("gravity", F32),
            ("warmth", F32),  # how much of the last step's impulses a step begins with
        ]
    )
