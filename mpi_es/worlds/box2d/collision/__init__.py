"""Where terrain and bodies touch, how far apart they are, and when they meet: Box2D's Collision."""
