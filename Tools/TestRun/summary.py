"""What is said at the end of a run: what passed, what was skipped and why, what failed, and what took long."""
import collections
import re

MOST_FAILURES = 20
MOST_LINES = 6  # of one failure
MACHINE = "runs in the virtual machine"


def clock(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


def lines(what):
    """The beginning of a failure, as much as is reported."""
    return [line[:400] for line in what.splitlines() if line.strip()][:MOST_LINES]


class Summary:
    def __init__(self, runs, machines_run, no_machine, needs_machine=False):
        """`needs_machine`: without a machine the whole has failed."""
        self.runs, self.no_machine = runs, no_machine
        self.lacks_machine = needs_machine and bool(no_machine)
        self.failures = [(run, test, what) for run in runs for test, what in run.failures]
        passed, skipped, failed = set(), {}, set()
        for run in runs:
            for test in run.tests:
                if test.skipped is not None:
                    skipped[test.id] = test
                elif test.issues or test.ended is None and test.started is not None:
                    failed.add((run.name, test.id))
                elif test.ended is not None:
                    passed.add((run.name, test.id))
            # A suite that is skipped says so once; its tests are not reported.
            for suite in run.results.values():
                if suite.is_suite and suite.skipped is not None:
                    for test in run.tests:
                        if test.id.startswith(suite.id + "/") and not test.is_over and test.id not in skipped:
                            test.skipped = suite.skipped
                            skipped[test.id] = test
        shown = {test for _, test in passed | failed}
        self.skipped = [test for name, test in skipped.items() if name not in shown]
        self.passed, self.failed = len(passed), len(failed)
        # What is declared for a machine and has not run in any, though there was one, is a declaration that is wrong.
        if machines_run:
            self.failures += [(runs[-1], test, "it is declared for a machine, and has run in none") for test in self.skipped
                              if test.skipped.startswith(MACHINE)]

    @property
    def is_good(self):
        return not self.failures and self.passed > 0 and not self.lacks_machine

    def slowest(self):
        tests = sorted(((test, run) for run in self.runs for test in run.ran), key=lambda pair: -pair[0].seconds)[:10]
        return ["== The ten slowest tests:"] + [
            f"   {test.seconds:6.1f} s  {test.target}: {test.name}  ({run.name})" for test, run in tests]

    def skip_groups(self):
        groups = collections.Counter()
        for test in self.skipped:
            groups[re.sub(r": Tools/bluetooth-vm.*", "", test.skipped) or "no reason given"] += 1
        return [f"   {count:4d}  {reason}" for reason, count in groups.most_common()]

    def failure_lines(self):
        told = []
        for run, test, what in self.failures[:MOST_FAILURES]:
            head = f"{test.target}: {test.name} ({test.place})" if test else run.name
            told.append(f"   {head}: in {run.name}" if test else f"   {head}")
            told += [f"      {line}" for line in lines(what)]
            told.append(f"      all of it: {run.log}")
            if test:
                told.append(f"      alone: Tools/test {run.option} '{test.filter}'")
        if len(self.failures) > MOST_FAILURES:
            told.append(f"   and {len(self.failures) - MOST_FAILURES} more")
        return told

    def tell(self, seconds, say):
        for line in self.slowest():
            say(line)
        say("")
        if self.skipped:
            say(f"== Skipped, and so not shown here: {len(self.skipped)}")
            for line in self.skip_groups():
                say(line)
        if self.no_machine:
            say("== BLUETOOTH NOT TESTED, since there is no virtual machine for it here: " + self.no_machine)
        for run in self.runs:
            if run.retried:
                say(f"== A machine broke and was booted once more: {run.name}: {run.retried}")
        if self.failures:
            say("== WHAT FAILED:")
            for line in self.failure_lines():
                say(line)
        say(f"tests: {self.passed} passed, {max(self.failed, 0 if self.is_good else 1)} failed, {len(self.skipped)} skipped")
        say(f"== Tools/test: {'passed' if self.is_good else 'FAILED'} in {clock(seconds)}; its runs took "
            f"{sum(run.processor_seconds for run in self.runs) / 60:.0f} minutes of a processor")
