"""gymnasium's classic control as worlds, equal to the bit. The literals are gymnasium's."""
