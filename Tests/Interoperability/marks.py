"""What is said of a test beside its name."""


def fails_today(why: str, mender: str):
    """A test of something that is known to be wrong: it has to fail until it is mended, and then to lose this mark.

    - mender: which part of the work mends it."""
    def mark(function):
        function.fails_today = f"{why} ({mender})"
        return function
    return mark


class Skipped(Exception):
    """This machine can't run the test; the text says why."""
