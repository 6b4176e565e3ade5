#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Training on two ranks as a user does it: the choice, the loss, pause, stop, a rank that dies,
and a window that is killed."""
import json
import os
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Missing, lig, main, program, wait  # noqa: E402


def endless(home):
    if not shutil.which("mpirun"):
        raise Missing("there is no mpirun")
    path = home / "small.lig"
    path.write_text(json.dumps({
        "ligature": 1, "name": "small", "input": {"shape": [64, 32], "dtype": "fp32"},
        "ops": [{"op": "linear", "out-features": 64}, {"op": "gelu"},
                {"op": "linear", "out-features": 4}, {"op": "cross-entropy"}],
        "train": {"data": "synthetic?samples=2000", "steps": 100000000}}))
    return path


def press_tab_to(app, role, name):
    """Moves the focus forward until a thing has it."""
    for _ in range(60):
        if any(thing.has("focused") for thing in app.look(role, name)):
            return
        app.key("Tab")
    raise AssertionError(f"Tab does not reach {name}")


def begin(app):
    """The ranks are the last group of the settings, which is closed at first."""
    app.says("^small — Ligature$")
    app.find(name=re.compile("fused forward as"))
    app.key("F9")
    app.click(app.find(name=re.compile("^Training settings")))
    time.sleep(0.5)
    press_tab_to(app, "push button", "Ranks")
    app.key("space")
    press_tab_to(app, "spin button", "Ranks")
    app.key("ctrl+a")
    app.type("2")
    app.key("Return", "Escape")
    app.says("^2 ranks · ")
    app.key("F5")
    app.says(r"^loss \d", 60)


def list_processes(above):
    """All descendants of a process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == above and state != "Z":
            found += [int(name), *list_processes(int(name))]
    return found


def last(home):
    return json.loads(lig(home, "runs", "show", "last", "--json"))


def test_control(home):
    with program(home, endless(home)) as app:
        begin(app)
        app.activate("win.pause")
        app.says("^Paused at ")
        app.find(name="Continue", role="push button")
        app.activate("win.pause")
        app.says(r" left$|of 100,000,000$")
        app.activate("win.page", "run")
        app.says(" · 2 ranks · ")
        app.activate("win.stop")
        app.says("^Cancelled after ")
        wait(lambda: not list_processes(app.process.pid), "the end of the ranks")
    found = last(home)
    assert found["status"] == "cancelled" and found["inputs"]["ranks"] == 2, found
    assert re.search(r"^ranks +2$", lig(home, "runs", "show", "last"), re.M)


def test_killed_rank(home):
    with program(home, endless(home)) as app:
        begin(app)
        os.kill(max(list_processes(app.process.pid)), signal.SIGKILL)
        app.says(r"^ranks: rank \d on .* ended")
    assert last(home)["status"] == "failed"


def test_killed_window(home):
    with program(home, endless(home)) as app:
        begin(app)
        ranks = list_processes(app.process.pid)
        assert len(ranks) >= 4, ranks
        app.kill()
        wait(lambda: not any(os.path.exists(f"/proc/{rank}") for rank in ranks), "the end of the ranks")
    assert last(home)["status"] == "interrupted"


if __name__ == "__main__":
    main([test_control, test_killed_rank, test_killed_window])
