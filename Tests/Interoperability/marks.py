"""What may be said of a test besides its name."""


def fails_today(why: str, mender: str):
    """A test of something that is known to be wrong: it has to fail until that is mended, and must then lose this mark.

    - mender: the part of the work that mends it."""
    def mark(function):
        function.fails_today = f"{why} ({mender})"
        return function
    return mark


class Skipped(Exception):
    """This machine can't run the test; the text says why."""
