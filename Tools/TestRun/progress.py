"""Which step of how many a run is at: on a terminal in one line, which is renewed; elsewhere in a line for each step that begins."""
import shutil
import threading
import time

from summary import clock

INTERVAL = 1.0
WIPE = "\r\x1b[K"


class Progress:
    """Steps may run side by side, and begin and end on any thread.
    - output: a text stream.
    - now: the seconds of a clock that never goes back.
    - time_of_day: the time as a person reads it."""

    def __init__(self, output, is_terminal, now=time.monotonic, time_of_day=lambda: time.strftime("%H:%M:%S"),
                 width=lambda: shutil.get_terminal_size().columns):
        self.output, self.is_terminal = output, is_terminal
        self.now, self.time_of_day, self.width = now, time_of_day, width
        self.total, self.ended = 0, 0
        # name: (number, when it began, how long it took last time or None, what else there is to tell)
        self.under_way = {}
        self.lock = threading.RLock()
        self.is_over = threading.Event()
        if is_terminal:
            threading.Thread(target=self._renew, daemon=True).start()

    def begin(self, name, last=None, note=None):
        """note: asked for a few words each time that the line is drawn."""
        with self.lock:
            number = self.ended + len(self.under_way) + 1
            self.under_way[name] = (number, self.now(), last, note)
            if self.is_terminal:
                self._draw()
            else:
                usual = f", last time {clock(last)}" if last is not None else ""
                self._write(f"-- {number}/{max(self.total, number)} begins at {self.time_of_day()}{usual}: {name}\n")

    def end(self, name):
        with self.lock:
            if self.under_way.pop(name, None) is not None:
                self.ended += 1

    def say(self, line):
        """A line that stays, above the one that is renewed."""
        with self.lock:
            self._write((WIPE if self.is_terminal else "") + line + "\n")
            if self.is_terminal and self.under_way and not self.is_over.is_set():
                self._draw()

    def close(self):
        with self.lock:
            if self.is_terminal and not self.is_over.is_set():
                self._write(WIPE)
            self.is_over.set()

    def line(self):
        """What is under way, the one that began first before the others."""
        steps = []
        for name, (_, begun, last, note) in sorted(self.under_way.items(), key=lambda item: item[1][1]):
            usual = f" of {clock(last)} last time" if last is not None else ""
            said = note() if note else ""
            steps.append(f"{name} {clock(self.now() - begun)}{usual}{' ' + said if said else ''}")
        return f"{self.ended}/{self.total} done; now {'; '.join(steps)}" if steps else ""

    def _draw(self):
        self._write(WIPE + self.line()[:max(1, self.width() - 1)])

    def _write(self, text):
        self.output.write(text)
        self.output.flush()

    def _renew(self):
        while not self.is_over.wait(INTERVAL):
            with self.lock:
                if self.under_way and not self.is_over.is_set():
                    self._draw()
