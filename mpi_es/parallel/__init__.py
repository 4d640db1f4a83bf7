"""The ranks of a job: start, talk, wait, stop, lose one."""
