#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An X server of its own for each test.

Usage: display.py COMMAND [ARGUMENT...]    runs the command on the server, and ends with its status
"""
import contextlib
import fcntl
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SCREEN = (1440, 900)


@contextlib.contextmanager
def display():
    """Starts Xvfb on a number that was free, and yields the name of the display. Servers that start
    at the same time take one another's number, and one that gives up removes the other's socket: so
    one starts after the other."""
    with open(pathlib.Path(tempfile.gettempdir()) / f"ligature-display-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server, name = start_alone()
    try:
        yield name
    finally:
        server.terminate()
        server.wait()


def start_alone():
    """Starts a server while no other test starts one, and waits until it responds. A server that
    resets itself when its last client ends would reject the next one for a moment."""
    for _ in range(8):
        reader, writer = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0",
                                   f"{SCREEN[0]}x{SCREEN[1]}x24", "-nolisten", "tcp", "-noreset"],
                                  pass_fds=[writer], stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as answer:
            name = f":{answer.readline().strip()}"
        time.sleep(0.3)
        asked = subprocess.run(["xwininfo", "-root", "-display", name], capture_output=True,
                               check=False)
        if server.poll() is None and asked.returncode == 0:
            return server, name
        server.kill()
        server.wait()
    raise SystemExit("Xvfb does not start")


if __name__ == "__main__":
    with display() as name:
        status = subprocess.run(sys.argv[1:], env=dict(os.environ, DISPLAY=name)).returncode
    sys.exit(status if status >= 0 else 128 - status)
