"""The ranks of a job: starting, communicating, waiting, stopping, and losing one."""
