"""What a run in a machine waits for. Started by Tests/RepositoryTests."""
import concurrent.futures
import pathlib
import tempfile
import threading
import unittest

import builds
import main


class Run:
    """Of machines; says what was there when it began."""
    programs = None
    seconds, processor_seconds, ran, failures, retried, name = 0.0, 0.0, [], [], "", "run"

    def __init__(self, programs):
        self.programs, self.seen = programs, None

    def execute(self):
        self.seen = self.programs.building.done()


class ProgramsTests(unittest.TestCase):
    def setUp(self):
        self.pool = self.enterContext(concurrent.futures.ThreadPoolExecutor(1))

    def test_a_machine_begins_when_its_programs_are_built(self):
        begun = threading.Event()
        here = Run(None)
        here.execute = begun.set
        run = Run(builds.Programs("folder", self.pool.submit(begun.wait, 60)))
        main.Lanes(2).run([here], [run])
        self.assertTrue(run.seen, "what needs no programs ran meanwhile, and only then this began")

    def test_programs_that_do_not_build_end_all_with_a_reason(self):
        def build():
            raise builds.Stop("swift build failed")
        run = Run(builds.Programs("folder", self.pool.submit(build)))
        with self.assertRaisesRegex(builds.Stop, "swift build failed"):
            main.Lanes(1).run([], [run])
        self.assertIsNone(run.seen)

    def test_a_folder_without_the_programs_is_refused(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        with self.assertRaisesRegex(builds.Stop, f"there is no imagesend in {folder}"):
            builds.Programs.of(folder)


if __name__ == "__main__":
    unittest.main()
