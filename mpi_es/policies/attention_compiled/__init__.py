"""The attention agent in machine code: from a picture to an action."""
