"""Rounds in turn, medians with their spread, and the Markdown table."""
import statistics

from processes import Failed


class Subject:
    """One row of the table: a way to measure, run once a round."""

    def __init__(self, name, figure, measure, against=None, targets=(), remark=None):
        self.name = name
        # The figure that the row is about: its name, its unit and how to print it.
        self.figure, self.unit, self.form = figure
        self.measure = measure
        # The row that this one is divided by, round by round.
        self.against = against
        # (words, what the target is about, the judgement of its median)
        self.targets = targets
        # A row that does the same job; shown as one more comparison, without targets.
        self.same_job = None
        # What else there is to say about it, from its rounds.
        self.remark = remark
        # Where a round takes long.
        self.most_rounds = None
        self.rounds = []
        self.failure = None

    def values(self, figure):
        return [values[figure] for values in self.rounds if figure in values]

    def ratios(self, figure, against=None):
        """Within a round: what disturbs one of two neighbours mostly disturbs both."""
        against = against or self.against
        if against is None:
            return []
        return [
            ours[figure] / theirs[figure] for ours, theirs in zip(self.rounds, against.rounds)
            if figure in ours and figure in theirs
        ]


def run(groups, repeats, tell):
    """`repeats` rounds of each group; the order within a group turns from round to round."""
    for title, subjects in groups:
        for number in range(min([repeats] + [subject.most_rounds for subject in subjects if subject.most_rounds])):
            tell(f"{title}: round {number + 1}")
            turn = number % len(subjects)
            for subject in subjects[turn:] + subjects[:turn]:
                if subject.failure:
                    continue
                try:
                    subject.rounds.append(subject.measure())
                except (Failed, KeyError) as failure:
                    subject.failure = str(failure) if isinstance(failure, Failed) else f"no {failure} in its JSON line"
                    tell(f"{subject.name}: not measured: {subject.failure}")


def spread(values, form):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{form.format(middle)} ({form.format(low)}..{form.format(high)})"


def median(subject, figure):
    return statistics.median(subject.values(figure))


def judgement(subject):
    """Each target with its median and whether it is met."""
    words = []
    for text, kind, figure, holds in subject.targets:
        values = subject.ratios(figure) if kind == "ratio" else subject.values(figure)
        if values:
            words.append(f"{text}: {'met' if holds(statistics.median(values)) else '**missed**'}")
    if subject.remark:
        words.append(subject.remark(subject))
    return "; ".join(words)


def write(groups):
    """The lines of the table."""
    yield "| | median (min..max) | against the baseline | CPU s/GiB | peak RSS MiB | target |"
    yield "|---|---|---|---|---|---|"
    for title, subjects in groups:
        for subject in subjects:
            if subject.failure or not subject.rounds:
                yield f"| {title}, {subject.name} | not measured | | | | |"
                continue
            ratios = subject.ratios(subject.figure)
            cpu = subject.values("cpu")
            cpu_ratios = subject.ratios("cpu")
            cpu_text = f"{statistics.median(cpu):.2f}" if cpu else ""
            if cpu_ratios:
                cpu_text += f" = {statistics.median(cpu_ratios):.2f} x"
            resident = subject.values("rss")
            yield (
                f"| {title}, {subject.name} | {spread(subject.values(subject.figure), subject.form)} {subject.unit} | "
                f"{spread(ratios, '{:.2f}') if ratios else ''} | {cpu_text} | "
                f"{f'{max(resident):.1f}' if resident else ''} | {judgement(subject)} |")
            if subject.same_job and subject.ratios(subject.figure, subject.same_job):
                yield (
                    f"| {title}, {subject.name} against {subject.same_job.name} | | "
                    f"{spread(subject.ratios(subject.figure, subject.same_job), '{:.2f}')} | "
                    f"{statistics.median(subject.ratios('cpu', subject.same_job)):.2f} x | | |")


def all_measured(groups):
    return all(not subject.failure for _, subjects in groups for subject in subjects)
