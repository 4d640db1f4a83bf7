"""The velocity iterations of several scenes at once, bit-identical to those of
each alone (joints.py, rows.py).

They are the longest part of a step, and a chain of dependent operations. Lanes take all branches and choose
between the results.
"""

from typing import Any

from mpi_es.jit.decorator import compiled
from mpi_es.jit.simd import get, maximum, minimum, put, where_at_least, where_less, where_more
from mpi_es.worlds.box2d.records import Scene
from mpi_es.worlds.box2d.settings import VELOCITY_ITERATIONS
from mpi_es.worlds.box2d.solver.lanes import Lanes

Vector = Any  # a lane for each scene


@compiled()
def iterate_lanes(lanes: Lanes, scene: Scene) -> None:
    """Let joints and contacts push repeatedly, in the order that the scene has."""
    for _ in range(VELOCITY_ITERATIONS):
        for i in range(len(scene.joints)):
            place = scene.joint_order[i]
            joint = scene.joints[place]
            _iterate_joint(lanes.joints[place], lanes.bodies[joint.a], lanes.bodies[joint.b])
        for i in range(len(scene.bodies)):
            place = scene.body_order[i]
            for slot in range(lanes.slots[place]):
                _iterate_row(lanes.rows[place, slot], lanes.bodies[place])


@compiled()
def _clamped(a: Vector, most: Vector) -> Vector:
    """Return b2Clamp between -most and most."""
    return maximum(-most, minimum(a, most))


@compiled()
def _iterate_joint(joint: Any, a: Any, b: Any) -> None:
    """Do what joints.iterate_joint does."""
    a_m, a_i, b_m, b_i = (
        get(a.inverse_mass),
        get(a.inverse_moment),
        get(b.inverse_mass),
        get(b.inverse_moment),
    )
    a_x, a_y, a_spin = get(a.velocity_x), get(a.velocity_y), get(a.spin)
    b_x, b_y, b_spin = get(b.velocity_x), get(b.velocity_y), get(b.spin)
    before = get(joint.motor_impulse)
    change = -get(joint.motor_mass) * (b_spin - a_spin - get(joint.motor_speed))
    motor = _clamped(before + change, get(joint.most))
    put(joint.motor_impulse, motor)
    a_spin, b_spin = a_spin - a_i * (motor - before), b_spin + b_i * (motor - before)
    arm_ax, arm_ay, arm_bx, arm_by = (
        get(joint.arm_ax),
        get(joint.arm_ay),
        get(joint.arm_bx),
        get(joint.arm_by),
    )
    way_x = b_x - b_spin * arm_by - a_x + a_spin * arm_ay
    way_y = b_y + b_spin * arm_bx - a_y - a_spin * arm_ax
    x, y, z = _pin(joint, way_x, way_y, b_spin - a_spin)
    put(joint.impulse_x, get(joint.impulse_x) + x)
    put(joint.impulse_y, get(joint.impulse_y) + y)
    put(a.spin, a_spin - a_i * (arm_ax * y - arm_ay * x + z))
    put(b.spin, b_spin + b_i * (arm_bx * y - arm_by * x + z))
    put(a.velocity_x, a_x - a_m * x)
    put(a.velocity_y, a_y - a_m * y)
    put(b.velocity_x, b_x + b_m * x)
    put(b.velocity_y, b_y + b_m * y)


@compiled()
def _pin(joint: Any, way_x: Vector, way_y: Vector, way_z: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the impulses that hold the bodies together and, at a limit, stop them from turning further."""
    k_xx, k_xy, k_xz = get(joint.k_xx), get(joint.k_xy), get(joint.k_xz)
    k_yy, k_yz, k_zz = get(joint.k_yy), get(joint.k_yz), get(joint.k_zz)
    inverse, last = get(joint.inverse_3), get(joint.limit_impulse)
    x = -(inverse * (way_x * get(joint.c_x) + way_y * get(joint.c_y) + way_z * get(joint.c_z)))
    y = -(
        inverse
        * (
            k_xx * (way_y * k_zz - way_z * k_yz)
            + k_xy * (way_z * k_xz - way_x * k_zz)
            + k_xz * (way_x * k_yz - way_y * k_xz)
        )
    )
    z = -(
        inverse
        * (
            k_xx * (k_yy * way_z - k_yz * way_y)
            + k_xy * (k_yz * way_x - k_xy * way_z)
            + k_xz * (k_xy * way_y - k_yy * way_x)
        )
    )
    impulse = last + z
    rest_x, rest_y = -way_x + last * k_xz, -way_y + last * k_yz
    inverse = get(joint.inverse_2)
    free_x, free_y = inverse * (k_yy * rest_x - k_xy * rest_y), inverse * (k_xx * rest_y - k_xy * rest_x)
    pull, inside = impulse * get(joint.side), get(joint.inside)
    put(joint.limit_impulse, where_less(pull, inside, last - last, impulse))
    return (
        where_less(pull, inside, free_x, x),
        where_less(pull, inside, free_y, y),
        where_less(pull, inside, -last, z),
    )


@compiled()
def _iterate_row(row: Any, body: Any) -> None:
    """Do for one contact what rows.iterate_rows does."""
    m, i = get(body.inverse_mass), get(body.inverse_moment)
    v_x, v_y, spin = get(body.velocity_x), get(body.velocity_y), get(body.spin)
    n_x, n_y, friction = get(row.normal_x), get(row.normal_y), get(row.friction)
    t_x, t_y = n_y, -n_x
    before_0, before_1 = get(row.normal_0), get(row.normal_1)

    # Friction at the first point, then at the second
    arm_x, arm_y, tangent = get(row.arm_0x), get(row.arm_0y), get(row.tangent_0)
    velocity = (v_x - spin * arm_y) * t_x + (v_y + spin * arm_x) * t_y
    impulse = _clamped(tangent + get(row.tangent_mass_0) * -velocity, friction * before_0)
    put(row.tangent_0, impulse)
    x, y = (impulse - tangent) * t_x, (impulse - tangent) * t_y
    v_x, v_y, spin = v_x + m * x, v_y + m * y, spin + i * (arm_x * y - arm_y * x)
    arm_x, arm_y, tangent = get(row.arm_1x), get(row.arm_1y), get(row.tangent_1)
    velocity = (v_x - spin * arm_y) * t_x + (v_y + spin * arm_x) * t_y
    impulse = _clamped(tangent + get(row.tangent_mass_1) * -velocity, friction * before_1)
    put(row.tangent_1, impulse)
    x, y = (impulse - tangent) * t_x, (impulse - tangent) * t_y
    v_x, v_y, spin = v_x + m * x, v_y + m * y, spin + i * (arm_x * y - arm_y * x)

    # Normal impulses
    arm_0x, arm_0y, arm_1x, arm_1y = get(row.arm_0x), get(row.arm_0y), get(row.arm_1x), get(row.arm_1y)
    velocity_0 = (v_x - spin * arm_0y) * n_x + (v_y + spin * arm_0x) * n_y
    velocity_1 = (v_x - spin * arm_1y) * n_x + (v_y + spin * arm_1x) * n_y
    impulse_0, impulse_1 = _block_impulses(row, before_0, before_1, velocity_0, velocity_1)
    put(row.normal_0, impulse_0)
    put(row.normal_1, impulse_1)
    x_0, y_0 = (impulse_0 - before_0) * n_x, (impulse_0 - before_0) * n_y
    x_1, y_1 = (impulse_1 - before_1) * n_x, (impulse_1 - before_1) * n_y
    put(body.velocity_x, v_x + m * (x_0 + x_1))
    put(body.velocity_y, v_y + m * (y_0 + y_1))
    put(body.spin, spin + i * ((arm_0x * y_0 - arm_0y * x_0) + (arm_1x * y_1 - arm_1y * x_1)))


@compiled()
def _block_impulses(
    row: Any, before_0: Vector, before_1: Vector, velocity_0: Vector, velocity_1: Vector
) -> tuple[Vector, Vector]:
    """Return the normal impulses: of the first of Box2D's four cases that holds, or of the only point."""
    mass_0, mass_1 = get(row.normal_mass_0), get(row.normal_mass_1)
    k_11, k_12, k_22 = get(row.k_11), get(row.k_12), get(row.k_22)
    m_11, m_12, m_22 = get(row.m_11), get(row.m_12), get(row.m_22)
    b_0 = velocity_0 - (k_11 * before_0 + k_12 * before_1)
    b_1 = velocity_1 - (k_12 * before_0 + k_22 * before_1)
    zero = before_0 - before_0
    # From the last case to the first, each over the ones after it; two conditions hold where the lesser does.
    both = minimum(b_0, b_1)
    found_0, found_1 = where_at_least(both, zero, zero, before_0), where_at_least(both, zero, zero, before_1)
    only_1 = -mass_1 * b_1
    both = minimum(only_1, k_12 * only_1 + b_0)
    found_0, found_1 = where_at_least(both, zero, zero, found_0), where_at_least(both, zero, only_1, found_1)
    only_0 = -mass_0 * b_0
    both = minimum(only_0, k_12 * only_0 + b_1)
    found_0, found_1 = where_at_least(both, zero, only_0, found_0), where_at_least(both, zero, zero, found_1)
    both_0, both_1 = -(m_11 * b_0 + m_12 * b_1), -(m_12 * b_0 + m_22 * b_1)
    both = minimum(both_0, both_1)
    found_0, found_1 = (
        where_at_least(both, zero, both_0, found_0),
        where_at_least(both, zero, both_1, found_1),
    )
    one_point = maximum(before_0 + -mass_0 * velocity_0, zero)
    two = get(row.two)
    return where_more(two, zero, found_0, one_point), where_more(two, zero, found_1, before_1)
