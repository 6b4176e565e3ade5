# SPDX-License-Identifier: MIT
"""A terminal for tests: the program runs on a pseudo-terminal, and a screen keeps its text.

The screen supports what the program uses: \\r, \\n and the sequences that clear. A line that is
longer than the screen is wrapped; when the screen is resized, it is wrapped again, as in most
terminals, or each row is cut, as in the others."""
import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time
import unicodedata


def width(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in 'WF' else 1


class Screen:
    """Paragraphs of cells; a paragraph takes as many rows as it needs."""

    def __init__(self, columns, rewraps=True):
        self.columns, self.rewraps = columns, rewraps
        self.lines, self.line, self.cell = [[]], 0, 0
        self.rest = ''

    def resize(self, columns):
        if not self.rewraps:
            rows, at = [], 0
            for number, line in enumerate(self.lines):
                pieces = [line[i:i + self.columns] for i in range(0, len(line), self.columns)] or [[]]
                if number == self.line:
                    at = len(rows) + self.cell // self.columns
                    self.cell = min(self.cell % self.columns, columns - 1)
                rows += [piece[:columns] for piece in pieces]
            self.lines, self.line = rows, at
        self.columns = columns

    def put(self, character):
        line = self.lines[self.line]
        count = width(character)
        if count == 0:
            if self.cell > 0:
                line[self.cell - 1] += character
            return
        line += [' '] * (self.cell + count - len(line))
        line[self.cell:self.cell + count] = [character] + [''] * (count - 1)
        self.cell += count

    def clear(self, below):
        del self.lines[self.line][self.cell:]
        if below:
            del self.lines[self.line + 1:]

    def feed(self, text):
        text, self.rest = self.rest + text, ''
        position = 0
        while position < len(text):
            found = re.compile(r'\x1b\[([0-9;]*)([A-Za-z])').match(text, position)
            character = text[position]
            if found:
                assert found.group(2) in 'JKm' and found.group(1) in ('', '0', '1'), repr(found.group())
                if found.group(2) in 'JK':
                    self.clear(found.group(2) == 'J')
                position = found.end()
                continue
            if character == '\x1b':
                assert len(text) - position < 8, repr(text[position:position + 20])
                self.rest = text[position:]
                return
            if character == '\r':
                self.cell -= self.cell % self.columns
            elif character == '\n':
                self.line, self.cell = self.line + 1, 0
                if self.line == len(self.lines):
                    self.lines.append([])
            else:
                self.put(character)
            position += 1

    def rows(self):
        """The rows of text, without empty ones at the end."""
        rows = []
        for line in self.lines:
            pieces = [line[i:i + self.columns] for i in range(0, len(line), self.columns)] or [[]]
            rows += [''.join(piece).rstrip() for piece in pieces]
        while rows and not rows[-1]:
            rows.pop()
        return rows


def resize(descriptor, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))


# Those of the current test.
terminals = []


class Terminal:
    """Runs a program in the foreground of a pseudo-terminal. A process between this one and the
    program plays the shell, so that the program can be stopped, and continued by resume()."""

    def __init__(self, argv, columns=80, rewraps=True, term='xterm', background=False, **variables):
        self.screen, self.raw, self.code = Screen(columns, rewraps), '', None
        terminals.append(self)
        self.events, write = os.pipe()
        order, self.orders = os.pipe()
        self.pid, self.master = os.forkpty()
        if self.pid == 0:
            # An exception here, for example after a hang-up, must not continue the tests.
            try:
                os.environ['TERM'] = term
                for name in ('CI', 'COLUMNS', 'LINES'):
                    os.environ.pop(name, None)
                os.environ.update(variables)
                resize(0, columns)
                self.play_shell(argv, write, order, background)
            finally:
                os._exit(1)
        os.close(write)
        os.close(order)
        self.program = int(os.read(self.events, 16))

    @staticmethod
    def play_shell(argv, write, order, background):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            if not background:
                os.tcsetpgrp(0, os.getpid())
            # A background job of a script inherits ignored signals, unlike a shell's own.
            for number in (signal.SIGTTOU, signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT,
                           signal.SIGTSTP, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            os.execv(argv[0], argv)
        os.write(write, b'%d\n' % child)
        while True:
            status = os.waitpid(child, os.WUNTRACED)[1]
            stopped = os.WIFSTOPPED(status)
            os.tcsetpgrp(0, os.getpgrp())
            os.write(write, b'stopped\n' if stopped
                     else b'%d\n' % (os.WEXITSTATUS(status) if os.WIFEXITED(status)
                                     else -os.WTERMSIG(status)))
            if not stopped:
                os._exit(0)
            os.read(order, 1)
            os.tcsetpgrp(0, child)
            os.kill(child, signal.SIGCONT)

    def read(self, until, seconds=30):
        """Reads until the predicate holds; fails after some seconds."""
        end = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < end, 'timeout; the screen:\n' + '\n'.join(self.screen.rows())
            sources = [source for source in (self.master, self.events) if source is not None]
            ready = select.select(sources, [], [], 0.1)[0]
            if self.master in ready:
                self.read_text()
            elif self.events in ready:
                event = os.read(self.events, 64).decode().split()
                self.code = event[-1] if event else self.code or 'gone'

    def read_text(self):
        try:
            text = os.read(self.master, 65536).decode('utf-8', 'replace')
        except OSError:
            self.close()
            return
        self.raw += text
        self.screen.feed(text)

    def close(self):
        """Hangs up and ends a program that still runs."""
        if self.master is None:
            return
        if self.code is None or self.code == 'stopped':
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.program, signal.SIGKILL)
        os.close(self.master)
        self.master = None

    def wait_for(self, pattern):
        """Waits until a row of the screen matches."""
        self.read(lambda: any(re.search(pattern, row) for row in self.screen.rows()))

    def wait_for_updates(self, count):
        """Waits until the program wrote that many times to the beginning of the line."""
        goal = self.raw.count('\r') + 2 * count
        self.read(lambda: self.raw.count('\r') >= goal)

    def resize(self, columns):
        resize(self.master, columns)
        self.screen.resize(columns)

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_stopped(self):
        self.read(lambda: self.code == 'stopped')
        self.code = None

    def resume(self):
        os.write(self.orders, b'x')

    def finish(self):
        """Waits for the end and returns the exit code, negative for a signal."""
        self.read(lambda: self.code is not None)
        self.close()
        os.waitpid(self.pid, 0)
        return int(self.code)


def run(tests):
    """Runs functions as tests in TAP."""
    print('1..%d' % len(tests))
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test()
            print('ok %d %s' % (number, test.__name__))
        except Exception as error:  # every failure is reported as one
            failed += 1
            for line in ('%s: %s' % (type(error).__name__, error)).splitlines():
                print('# ' + line)
            print('not ok %d %s' % (number, test.__name__))
        while terminals:
            terminals.pop().close()
        sys.stdout.flush()
    sys.exit(failed > 0)
