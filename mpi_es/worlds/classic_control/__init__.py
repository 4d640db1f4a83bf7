"""gymnasium's classic control as worlds, bit-identical. The literals are gymnasium's."""
