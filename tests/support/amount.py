"""How much of what is alike a check tries: in CI every so many-th, in check-all (GAPLINE_ALL) each."""

import os

ALL = "GAPLINE_ALL" in os.environ


def some(things, every):
    """Of these, every `every`-th, from the first on; all where all are asked for."""
    return list(things)[:: 1 if ALL else every]
