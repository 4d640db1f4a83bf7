"""How a step moves the bodies: Box2D's Dynamics."""
