"""What is told of a run's steps. Started by Tests/RepositoryTests."""
import io
import unittest

import progress


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


class ProgressTests(unittest.TestCase):
    def progress(self, is_terminal):
        self.output, self.clock = io.StringIO(), Clock()
        told = progress.Progress(self.output, is_terminal, self.clock, lambda: "10:41:20", lambda: 80)
        self.addCleanup(told.close)
        return told

    def test_a_log_has_a_line_for_each_step_when_it_begins(self):
        told = self.progress(False)
        told.total = 2
        told.begin("build the tests", 461)
        told.begin("CommandLineTests")
        told.end("build the tests")
        told.say("== Built in 5 s")
        self.assertEqual(self.output.getvalue(),
                         "-- 1/2 begins at 10:41:20, last time 7 min 41 s: build the tests\n"
                         "-- 2/2 begins at 10:41:20: CommandLineTests\n"
                         "== Built in 5 s\n")

    def test_a_terminal_has_one_line_with_what_is_under_way(self):
        told = self.progress(True)
        told.total = 3
        told.begin("build the tests", 461, lambda: "[120/1424]")
        self.clock.seconds = 42
        self.assertEqual(told.line(), "0/3 done; now build the tests 42 s of 7 min 41 s last time [120/1424]")
        told.begin("machine")
        self.assertIn("; machine 0 s", told.line())
        told.end("build the tests")
        self.clock.seconds = 50
        self.assertEqual(told.line(), "1/3 done; now machine 8 s")

    def test_a_line_that_stays_wipes_the_renewed_one_and_is_followed_by_it(self):
        told = self.progress(True)
        told.begin("machine")
        self.output.truncate(0)
        self.output.seek(0)
        told.say("FAILED")
        self.assertTrue(self.output.getvalue().startswith(progress.WIPE + "FAILED\n" + progress.WIPE + "0/0 done"), self.output.getvalue())

    def test_the_renewed_line_is_no_wider_than_the_terminal(self):
        told = self.progress(True)
        told.begin("a" * 200)
        self.assertEqual(len(self.output.getvalue().removeprefix(progress.WIPE)), 79)


if __name__ == "__main__":
    unittest.main()
