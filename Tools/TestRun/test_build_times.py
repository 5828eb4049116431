"""What is read out of the compiler's statistics, and held against the bound. Started by Tests/RepositoryTests."""
import json
import pathlib
import tempfile
import unittest

import build_times


class BuildTimesTests(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, microseconds, module, user, sys, wall):
        stem = f"{module}-all-x86_64_unknown_linux_gnu-swiftmodule-Onone"
        path = self.folder / f"stats-{microseconds}-swift-frontend-{stem}-123.json"
        path.write_text(json.dumps({"AST.NumDecls": 12, "time.swift.SILGen.user": 100.0,
                                    **{f"time.swift-frontend.{stem}.{kind}": value for kind, value in (("user", user), ("sys", sys), ("wall", wall))}}))

    def test_the_frontends_of_a_module_are_added_up(self):
        self.write(1_000_000, "PiconetWire", 1.5, 0.5, 2)
        self.write(4_000_000, "PiconetEngine", 5, 1, 8)
        self.write(6_000_000, "PiconetEngine", 2, 0, 3)
        found = build_times.modules(self.folder)
        engine = found["PiconetEngine"]
        self.assertEqual((engine.frontends, engine.processor, engine.begun, engine.ended), (2, 8, 4, 12))
        lines = build_times.table(found)
        self.assertRegex(lines[1], r"^PiconetEngine +8.0 s +3.0 s +11.0 s$")
        self.assertRegex(lines[-1], r"^all +10.0 s$")

    def test_of_many_modules_the_small_ones_share_a_line(self):
        for number in range(5):
            self.write(1_000_000 + number, f"Module{number}", number, 0, number)
        self.assertRegex("\n".join(build_times.table(build_times.modules(self.folder), 2)), r"3 smaller ones +3.0 s\nall +10.0 s$")

    def test_a_build_may_cost_a_quarter_more_than_the_bound(self):
        self.assertTrue(build_times.verdict(124, 1, 100)[0])
        is_within, told = build_times.verdict(126, 1, 100)
        self.assertFalse(is_within)
        self.assertIn("126 s of a processor, 126.0 times the reference", told)

    def test_a_slow_machine_is_no_dear_build(self):
        self.assertTrue(build_times.verdict(360, 3, 100)[0])

    def test_the_bound_is_there_to_be_read(self):
        self.assertGreater(json.loads(build_times.BOUND.read_text())["demo"], 1)


if __name__ == "__main__":
    unittest.main()
