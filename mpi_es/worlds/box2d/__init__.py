"""The step of Box2D 2.3.10, bit-identical, for a few polygons with revolute
joints on terrain that does not move.

Parts that gymnasium's LunarLander and BipedalWalker never need are omitted: a contact is always between a
piece of terrain (Box2D's body A: at the origin, without mass) and a body's only polygon (its body B), and one
island holds all bodies.
"""
