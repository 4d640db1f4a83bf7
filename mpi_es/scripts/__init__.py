"""What scripts call: arguments, directories, and a run on all ranks; the doors are one level up."""
