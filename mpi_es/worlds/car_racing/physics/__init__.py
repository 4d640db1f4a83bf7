"""The race as Box2D computes it: track, car, contacts, and the solver of the joints."""
