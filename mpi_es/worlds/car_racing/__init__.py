"""CarRacing in compiled code: gymnasium's physics and rewards bit-identical,
its picture exactly or closely.
"""
