"""Velocities, joints and rows of several scenes; each number is a vector with a lane for each scene.

A contact that a scene lacks is a row of zeros, which changes nothing.
"""

from typing import Any

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.records import INT, Joint, Row, Scene
from mpi_es.worlds.box2d.settings import F32, ONE, STEP, ZERO
from mpi_es.worlds.box2d.solver.joints import INSIDE, LOWER

SLOTS = 6  # contacts of a body; a scene with more iterates alone
Lanes = Any  # a record of `lanes`

_BODY = "velocity_x velocity_y spin inverse_mass inverse_moment"
_JOINT_STATE = "impulse_x impulse_y limit_impulse motor_impulse"
_JOINT = (
    "arm_ax arm_ay arm_bx arm_by k_xx k_xy k_xz k_yy k_yz k_zz motor_mass inverse_2 inverse_3 motor_speed "
    # b2Mat33::Solve33's cofactors; the greatest impulse of the motor; at which side the limit is
    "c_x c_y c_z most side inside"
)
_ROW_STATE = "normal_0 normal_1 tangent_0 tangent_1"
_ROW = (
    "normal_x normal_y arm_0x arm_0y arm_1x arm_1y normal_mass_0 normal_mass_1 tangent_mass_0 tangent_mass_1 "
    "friction k_11 k_12 k_22 m_11 m_12 m_22 two"
)


def lanes(scene: np.dtype[np.void], width: int) -> np.dtype[np.void]:
    """Return the type of a record with the solver's part of 8, 16 or 32 scenes of a type."""

    def vectors(names: str) -> np.dtype[np.void]:
        return np.dtype([(name, F32, (width,)) for name in names.split()])

    bodies, joints = scene["bodies"].shape, scene["joints"].shape
    return np.dtype(
        [
            ("bodies", vectors(_BODY), bodies),
            ("joints", vectors(f"{_JOINT_STATE} {_JOINT}"), joints),
            ("rows", vectors(f"{_ROW_STATE} {_ROW}"), (*bodies, SLOTS)),
            ("slots", INT, bodies),  # used by any scene
            ("used", INT, bodies),  # by one scene
        ]
    )


@compiled()
def count_rows(lanes: Lanes, scene: Scene) -> bool:
    """Count each body's rows; return whether there are slots for all."""
    fits = True
    for i in range(len(scene.bodies)):
        lanes.used[i] = 0
    for i in range(scene.row_count):
        body = scene.rows[i].body
        lanes.used[body] += 1
        fits &= lanes.used[body] <= SLOTS
    return fits


@compiled()
def pack(lanes: Lanes, lane: int, scene: Scene) -> None:
    """Write a scene's velocities, joints and rows into a lane."""
    for i in range(len(scene.bodies)):
        body, ours = scene.bodies[i], lanes.bodies[i]
        ours.velocity_x[lane], ours.velocity_y[lane], ours.spin[lane] = (
            body.velocity_x,
            body.velocity_y,
            body.spin,
        )
        ours.inverse_mass[lane], ours.inverse_moment[lane] = body.inverse_mass, body.inverse_moment
        lanes.used[i] = 0
    for i in range(len(scene.joints)):
        _pack_joint(lanes.joints[i], lane, scene.joints[i])
    for i in range(scene.row_count):
        row = scene.rows[i]
        _pack_row(lanes.rows[row.body, lanes.used[row.body]], lane, row)
        lanes.used[row.body] += 1
    for i in range(len(scene.bodies)):
        for slot in range(lanes.used[i], lanes.slots[i]):
            _clear_row(lanes.rows[i, slot], lane)


@compiled()
def _pack_joint(ours: Any, lane: int, joint: Joint) -> None:
    """Write a joint into a lane."""
    k_xx, k_xy, k_xz = joint.k_xx, joint.k_xy, joint.k_xz
    k_yy, k_yz, k_zz = joint.k_yy, joint.k_yz, joint.k_zz
    ours.arm_ax[lane], ours.arm_ay[lane] = joint.arm_ax, joint.arm_ay
    ours.arm_bx[lane], ours.arm_by[lane] = joint.arm_bx, joint.arm_by
    ours.k_xx[lane], ours.k_xy[lane], ours.k_xz[lane] = k_xx, k_xy, k_xz
    ours.k_yy[lane], ours.k_yz[lane], ours.k_zz[lane] = k_yy, k_yz, k_zz
    ours.c_x[lane] = k_yy * k_zz - k_yz * k_yz
    ours.c_y[lane] = k_yz * k_xz - k_xy * k_zz
    ours.c_z[lane] = k_xy * k_yz - k_yy * k_xz
    ours.inverse_2[lane], ours.inverse_3[lane] = joint.inverse_2, joint.inverse_3
    ours.motor_mass[lane], ours.motor_speed[lane] = joint.motor_mass, joint.motor_speed
    ours.most[lane] = STEP * joint.motor_torque
    # A limit's impulse times side is below inside where the joint lets go; without a limit it always is.
    if joint.limit == INSIDE:
        ours.side[lane], ours.inside[lane] = ZERO, ONE
    else:
        ours.side[lane], ours.inside[lane] = ONE if joint.limit == LOWER else -ONE, ZERO
    ours.impulse_x[lane], ours.impulse_y[lane] = joint.impulse_x, joint.impulse_y
    ours.limit_impulse[lane], ours.motor_impulse[lane] = joint.limit_impulse, joint.motor_impulse


@compiled()
def _pack_row(ours: Any, lane: int, row: Row) -> None:
    """Write a row into a lane."""
    _clear_row(ours, lane)
    ours.normal_x[lane], ours.normal_y[lane], ours.friction[lane] = row.normal_x, row.normal_y, row.friction
    ours.arm_0x[lane], ours.arm_0y[lane] = row.arms[0, 0], row.arms[0, 1]
    ours.normal_mass_0[lane], ours.tangent_mass_0[lane] = row.normal_mass[0], row.tangent_mass[0]
    ours.normal_0[lane], ours.tangent_0[lane] = row.normal_impulses[0], row.tangent_impulses[0]
    if row.count == 2:
        ours.two[lane] = ONE
        ours.arm_1x[lane], ours.arm_1y[lane] = row.arms[1, 0], row.arms[1, 1]
        ours.normal_mass_1[lane], ours.tangent_mass_1[lane] = row.normal_mass[1], row.tangent_mass[1]
        ours.normal_1[lane], ours.tangent_1[lane] = row.normal_impulses[1], row.tangent_impulses[1]
        ours.k_11[lane], ours.k_12[lane], ours.k_22[lane] = row.k_11, row.k_12, row.k_22
        ours.m_11[lane], ours.m_12[lane], ours.m_22[lane] = row.m_11, row.m_12, row.m_22


@compiled()
def _clear_row(ours: Any, lane: int) -> None:
    """Write a row of zeros into a lane."""
    ours.normal_x[lane] = ours.normal_y[lane] = ours.friction[lane] = ours.two[lane] = ZERO
    ours.arm_0x[lane] = ours.arm_0y[lane] = ours.arm_1x[lane] = ours.arm_1y[lane] = ZERO
    ours.normal_mass_0[lane] = ours.tangent_mass_0[lane] = ours.normal_0[lane] = ours.tangent_0[lane] = ZERO
    ours.normal_mass_1[lane] = ours.tangent_mass_1[lane] = ours.normal_1[lane] = ours.tangent_1[lane] = ZERO
    ours.k_11[lane] = ours.k_12[lane] = ours.k_22[lane] = ZERO
    ours.m_11[lane] = ours.m_12[lane] = ours.m_22[lane] = ZERO


@compiled()
def unpack(lanes: Lanes, lane: int, scene: Scene) -> None:
    """Read a scene's velocities and impulses from its lane."""
    for i in range(len(scene.bodies)):
        body, ours = scene.bodies[i], lanes.bodies[i]
        body.velocity_x, body.velocity_y, body.spin = (
            ours.velocity_x[lane],
            ours.velocity_y[lane],
            ours.spin[lane],
        )
        lanes.used[i] = 0
    for i in range(len(scene.joints)):
        joint, our_joint = scene.joints[i], lanes.joints[i]
        joint.impulse_x, joint.impulse_y = our_joint.impulse_x[lane], our_joint.impulse_y[lane]
        joint.limit_impulse, joint.motor_impulse = (
            our_joint.limit_impulse[lane],
            our_joint.motor_impulse[lane],
        )
    for i in range(scene.row_count):
        row = scene.rows[i]
        our_row = lanes.rows[row.body, lanes.used[row.body]]
        lanes.used[row.body] += 1
        row.normal_impulses[0], row.tangent_impulses[0] = our_row.normal_0[lane], our_row.tangent_0[lane]
        if row.count == 2:
            row.normal_impulses[1], row.tangent_impulses[1] = our_row.normal_1[lane], our_row.tangent_1[lane]
