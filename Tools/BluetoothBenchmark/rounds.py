"""Rounds of measurements in turn, and what comes out of them."""
import statistics
import time

from processes import Failure


def figures(values):
    values = sorted(values)
    return statistics.median(values), values[0], values[-1]


def measure(rounds, subjects, say, reasons=None):
    """`rounds` times all `subjects` (name: function) in turn; per name a list with a figure or None for each round, and in
    `reasons` why the last one that failed did."""
    results = {name: [] for name in subjects}
    for turn in range(rounds):
        for name, make in subjects.items():
            try:
                got = make()
            except (Failure, OSError, ValueError, TypeError) as failure:
                say(f"round {turn + 1}: {name}: {failure}")
                got = None
                if reasons is not None:
                    reasons[name] = " ".join(str(failure).split())
            if got is not None:
                say(f"round {turn + 1}: {name}: " + ", ".join(f"{key} {value:.3f}" for key, value in got.items()))
            results[name].append(got)
            time.sleep(0.3)  # links that nobody uses any more are closed
    return results


def ratio(results, key, ours, theirs):
    """The median of the ratios within a round, and their range."""
    pairs = [(mine[key], other[key]) for mine, other in zip(results[ours], results[theirs]) if mine and other]
    return figures([mine / other for mine, other in pairs]) if pairs else None
