"""Box2D's constants (b2Settings.h) in its float32, and gymnasium's settings of a step."""

import numpy as np

F32, F64 = np.float32, np.float64
ZERO, HALF, ONE, TWO = F32(0), F32(0.5), F32(1), F32(2)
EPSILON, LARGEST = F32(np.finfo(np.float32).eps), F32(np.finfo(np.float32).max)

# gymnasium's
STEP = F32(1.0 / 50)
VELOCITY_ITERATIONS, POSITION_ITERATIONS = 6 * 30, 2 * 30
WARMTH = (ONE / STEP) * STEP  # Box2D's dtRatio, by which it scales the impulses of the last step

PI = F32(3.14159265359)
LINEAR_SLOP = F32(0.005)
ANGULAR_SLOP = TWO / F32(180) * PI
RADIUS = TWO * LINEAR_SLOP  # the skin around a polygon
BOTH_RADII = RADIUS + RADIUS
BOX_MARGIN, BOX_AHEAD = F32(0.1), F32(2)  # b2_aabbExtension, b2_aabbMultiplier
MAX_TRANSLATION, MAX_ROTATION = F32(2), HALF * PI
MAX_LINEAR_CORRECTION, MAX_ANGULAR_CORRECTION = F32(0.2), F32(8) / F32(180) * PI
BAUMGARTE, IMPACT_BAUMGARTE = F32(0.2), F32(0.75)
TIME_TO_SLEEP = F32(0.5)
# How much further apart a body's face must be than the terrain's to be the reference
RELATIVE, ABSOLUTE = F32(0.98), F32(0.001)
LINEAR_SLEEP, ANGULAR_SLEEP = F32(0.01), ANGULAR_SLOP
