# SPDX-License-Identifier: MIT
"""Controls the program `turns` over pipes."""
import os
import select
import subprocess
import tempfile


class Ligature:
    """A process whose programs take turns with others on a device."""

    def __init__(self, program, environment=None):
        self.program = program.split()
        self.environment = dict(os.environ, **(environment or {}))
        self.environment.setdefault("LIGATURE_STORE", os.path.join(tempfile.mkdtemp(), "bench.db"))
        self.process, self.options = None, {}
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, env=self.environment)
        self.options = {}

    def stop(self):
        self.process.kill()
        self.process.wait()

    def ask(self, line, limit=600):
        """Returns the answer to a line; ends the process if it takes too long."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        try:
            ready, _, _ = select.select([self.process.stdout], [], [], limit)
        except BaseException:  # a later answer would be taken for that of another line
            self.stop()
            raise
        answer = self.process.stdout.readline().strip() if ready else ""
        if not ready:
            self.stop()
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"{line}: {answer or ('turns has ended' if ready else f'{limit} s')}")
        return answer

    def set(self, **options):
        """Sets options for programs that are loaded later."""
        for name, value in options.items():
            if self.options.get(name) != value:
                self.ask(f"option {name} {value}")
                self.options[name] = value

    def load(self, device, shape, policy, expression, limit=600):
        """Returns the number of a program, its preparation time in seconds, and the fused
        groups."""
        answer = self.ask(f"load {device} {shape} {policy} {expression}", limit)
        number, seconds, *groups = answer.split(" ", 2)
        return int(number), float(seconds), groups[0] if groups else ""

    def run(self, number, count, limit=600):
        """Returns the microseconds of one run."""
        return float(self.ask(f"run {number} {count}", limit))
