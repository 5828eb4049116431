"""What may be said of a test besides its name."""
import os

# Set by `Tools/test --all`.
IS_LONG = os.environ.get("PICONET_SLOW_TESTS") == "1"


def times(few: int, many: int) -> int:
    """How often a test tries: few in each run, many with `Tools/test --all`."""
    return many if IS_LONG else few


def may_take(seconds: float):
    """A test that may take so long, where it tries many times."""
    def mark(function):
        function.may_take = seconds
        return function
    return mark


def fails_today(why: str, mender: str):
    """A test of something that is known to be wrong: it has to fail until that is mended, and must then lose this mark.

    - mender: the part of the work that mends it."""
    def mark(function):
        function.fails_today = f"{why} ({mender})"
        return function
    return mark


class Skipped(Exception):
    """This machine can't run the test; the text says why."""
