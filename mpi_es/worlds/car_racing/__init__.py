"""CarRacing in compiled code: gymnasium's physics and rewards to the bit, its picture exactly or closely."""
