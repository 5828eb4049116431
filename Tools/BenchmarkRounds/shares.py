"""Processes that each get the same share of the processors, as devices that are alike would have."""
import os
import time

from processes import Failed

ROOT = "/sys/fs/cgroup"


class EqualShares:
    """Control groups, one a process, each with half a processor: three of them leave none of two processors short. Needs root."""

    # Short, or what one process had to wait for the next would be the queue between them, not the work of either.
    PERIOD_US = 2_000
    QUOTA_US = 1_000
    # Against whatever else runs: a half that others take some of is none. A hundred times what a group has by itself.
    SHARES, WEIGHT = 102_400, 10_000

    def __init__(self):
        self.groups = []

    def __enter__(self):
        return self

    def add(self, process):
        # Version 1 has a hierarchy for each controller, version 2 one for all.
        isFirstVersion = os.path.isdir(os.path.join(ROOT, "cpu"))
        parent = os.path.join(ROOT, "cpu") if isFirstVersion else ROOT
        group = os.path.join(parent, f"piconet-benchmark-{os.getpid()}-{len(self.groups)}")
        try:
            if not isFirstVersion:
                self.write(parent, "cgroup.subtree_control", "+cpu")
            os.mkdir(group)
            self.groups.append(group)
            if isFirstVersion:
                self.write(group, "cpu.cfs_period_us", self.PERIOD_US)
                self.write(group, "cpu.cfs_quota_us", self.QUOTA_US)
                self.write(group, "cpu.shares", self.SHARES)
            else:
                self.write(group, "cpu.max", f"{self.QUOTA_US} {self.PERIOD_US}")
                self.write(group, "cpu.weight", self.WEIGHT)
            self.write(group, "cgroup.procs", process.process.pid)
        except OSError as error:
            raise Failed(f"no equal shares of the processors: {error} (control groups need root)") from None

    @staticmethod
    def write(group, name, value):
        with open(os.path.join(group, name), "w") as file:
            file.write(str(value))

    def __exit__(self, *_):
        """Once the processes have ended."""
        for group in self.groups:
            deadline = time.monotonic() + 2
            while True:
                try:
                    os.rmdir(group)
                    break
                except OSError:
                    # The kernel lets go of a process a moment after it was waited for.
                    if time.monotonic() > deadline:
                        break
                    time.sleep(0.01)
