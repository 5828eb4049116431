"""What is said of a run whose process ended before its tests had. Started by Tests/RepositoryTests."""
import json
import pathlib
import sys
import tempfile
import unittest

import runs

SUITE = "Target.Suite"
TEST = "Target.Suite/test()/Test.swift:1:1"


def record(what, **payload):
    return json.dumps({"kind": what, "payload": payload, "version": 0})


def declared(kind, test):
    place = {"_filePath": "Test.swift", "fileID": "Target/Test.swift", "line": 1, "column": 1}
    return record("test", kind=kind, id=test, name=test, sourceLocation=place)


def event(kind, test):
    return record("event", kind=kind, testID=test, instant={"absolute": 1, "since1970": 1}, messages=[])


DECLARED = [declared("suite", SUITE), declared("function", TEST)]


class UnendedRunTests(unittest.TestCase):
    def named(self, *events):
        """The names of what has failed in a run that writes these records, and ends."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "run")
        program = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2]); sys.exit(3)"
        run = runs.Run("run", folder, [sys.executable, "-c", program, str(folder / "events"), "\n".join([*DECLARED, *events])], 60)
        run.execute()
        return [test.name if test else what for test, what in run.failures]

    def test_the_test_that_had_begun_is_named(self):
        self.assertEqual(self.named(event("testStarted", SUITE), event("testStarted", TEST)), [TEST])

    def test_the_suite_is_named_where_none_of_its_tests_had_begun(self):
        self.assertEqual(self.named(event("testStarted", SUITE)), [SUITE])

    def test_the_status_is_told_where_nothing_had_begun(self):
        self.assertEqual(self.named(), ["the run did not come to its end (exit status 3)"])


if __name__ == "__main__":
    unittest.main()
