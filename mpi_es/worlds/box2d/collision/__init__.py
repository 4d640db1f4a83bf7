"""Where terrain and bodies touch, how far they are apart, and when they meet: Box2D's Collision."""
