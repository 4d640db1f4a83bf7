"""Random attacks on trainings, each of which is then continued to the undisturbed history."""
