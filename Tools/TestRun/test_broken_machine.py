"""What a machine that breaks under its tests does to a run. Started by Tests/RepositoryTests."""
import os
import pathlib
import sys
import tempfile
import unittest

import declarations
import runs

# In place of Tools/bluetooth-vm: takes its options, and plays `boots`, one after the other.
MACHINE = """#!{python}
import json, pathlib, sys
folder = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
count = pathlib.Path({count!r})
boot = int(count.read_text()) if count.exists() else 0
count.write_text(str(boot + 1))
broken, has_failed = json.loads({boots!r})[boot]
if broken:
    folder.joinpath("broken").write_text(broken + "\\n")
test = "Target.Suite/test()/Test.swift:1:1"
def record(kind, payload):
    return json.dumps({{"kind": kind, "payload": payload, "version": 0}}) + "\\n"
def event(kind, **more):
    return record("event", {{"kind": kind, "instant": {{"absolute": 1, "since1970": 1}}, "messages": [], **more}})
lines = [record("test", {{"kind": "function", "id": test, "name": "test", "isParameterized": False,
                         "sourceLocation": {{"_filePath": "Test.swift", "fileID": "Target/Test.swift", "line": 1, "column": 1}}}}),
         event("runStarted"), event("testStarted", testID=test)]
if has_failed:
    lines.append(event("issueRecorded", testID=test, issue={{"isKnown": False, "isFailure": True, "sourceLocation": None}}))
lines += [event("testEnded", testID=test), event("runEnded")]
folder.joinpath("events").write_text("".join(lines))
sys.exit(125 if broken else 1 if has_failed else 0)
"""


class BrokenMachineTests(unittest.TestCase):
    def run_of(self, *boots):
        """A run whose boots break (with this reason) or fail so; and how many there were."""
        import json
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        root.joinpath("Tools").mkdir()
        program = root / "Tools/bluetooth-vm"
        count = root / "count"
        program.write_text(MACHINE.format(python=sys.executable, count=str(count), boots=json.dumps(boots)))
        os.chmod(program, 0o755)
        run = runs.in_machine(declarations.Machine("--adapters 2", []), root / "run", "bundle", root)
        run.execute()
        return run, int(count.read_text())

    def test_a_machine_that_broke_is_booted_once_more_and_that_is_told(self):
        run, boots = self.run_of(("btvirt ended", True), ("", False))
        self.assertEqual((boots, run.failures, run.retried), (2, [], "btvirt ended"))
        self.assertTrue(run.folder.with_name("run-broken").joinpath("broken").exists(), "what the first one left is kept")

    def test_one_that_breaks_twice_fails_the_run(self):
        run, boots = self.run_of(("btvirt ended", False), ("btvirt ended again", False))
        self.assertEqual((boots, run.failures), (2, [(None, "the machine broke twice: btvirt ended again")]))

    def test_a_test_that_fails_has_no_second_try(self):
        run, boots = self.run_of(("", True), ("", False))
        self.assertEqual((boots, len(run.failures), run.retried), (1, 1, ""))

    def test_a_test_that_fails_in_the_second_machine_fails_the_run(self):
        run, boots = self.run_of(("btvirt ended", False), ("", True))
        self.assertEqual((boots, len(run.failures)), (2, 1))


if __name__ == "__main__":
    unittest.main()
