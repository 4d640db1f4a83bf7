"""What the car's driver sees, 96 x 96 pixels."""
