"""Callbacks as users write them, right and wrong."""

import json


class Notes:
    """Write what comes into a file of the run."""

    def __init__(self, config, directory):
        self.path = directory / "notes.txt"
        self._note(config)

    def generation(self, numbers):
        self._note(numbers)

    def finish(self, reason):
        self._note(reason)

    def close(self):
        self._note("closed")

    def _note(self, what):
        with self.path.open("a") as file:
            print(json.dumps(what), file=file)


class Silent:
    """The least that works."""

    def __init__(self, config, directory):
        pass

    def generation(self, numbers):
        pass


class Answering(Silent):
    def generation(self, numbers):
        return numbers["answer"]


class Stopping(Silent):
    def generation(self, numbers):
        return numbers["generation"] == 2


class Failing(Silent):
    def generation(self, numbers):
        if numbers["generation"] == 2:
            raise OSError("no network")


class Leaving(Silent):
    def generation(self, numbers):
        raise SystemExit("enough")


class WithoutMethod:
    def __init__(self, config, directory):
        pass


class Broken(Silent):
    def __init__(self, config, directory):
        raise ValueError("no account")
