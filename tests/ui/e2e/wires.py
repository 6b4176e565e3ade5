#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A real pointer on channels: drawn from a port into a block, clicked, renamed, disconnected; and a
problem fixed by its button."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import main, program, run, wait  # noqa: E402

OPS = [{"op": "make-extra-output"}, {"op": "gelu"},
       {"op": "block", "repeat": 2, "ops": [{"op": "add-extra-input"}]}, {"op": "add-extra-input"}]


def write(home, ops):
    file = home / "wires.lig"
    file.write_text(json.dumps({"ligature": 1, "input": {"shape": [64, 64], "dtype": "fp32"},
                                "ops": ops}))
    return file


def row(app, number):
    return app.find(name=re.compile(rf"\brow {number} of \d+"))


def port(app, number):
    """The port of a row is to its left."""
    left, middle = app.place(row(app, number), (0, 0.5))
    return left - 12, middle


def channel(app, name, end):
    return app.find(name=f"Branch {name} from Make branch at 0 to Add branch at {end}")


def channels(app):
    return app.look(name=re.compile("^Branch "))


def test_into_block(home):
    with program(home, write(home, OPS)) as app:
        wait(lambda: app.look(name=re.compile(r"\brow 5 of 5")), "the open block")
        app.drag(port(app, 1), app.place(row(app, 4)))
        channel(app, "residual", "2.0.0")
        app.drag(port(app, 5), app.place(row(app, 1)))
        channel(app, "residual", "3")
        app.key("ctrl+z", "ctrl+z")
        wait(lambda: not channels(app), "no channel")


def test_ports(home):
    """A channel ends on a port, at the edge of its square too; an added op is offered the open end."""
    with program(home, write(home, OPS)) as app:
        wait(lambda: app.look(name=re.compile(r"\brow 5 of 5")), "the open block")
        app.drag(port(app, 1), port(app, 4))
        channel(app, "residual", "2.0.0")
        x, y = port(app, 5)
        app.drag((x + 10, y - 10), port(app, 1))
        channel(app, "residual", "3")
    ops = [{"op": "make-extra-output", "to": "r"}, {"op": "gelu"}]
    with program(home, write(home, ops)) as app:
        app.click(row(app, 2))
        app.activate("win.insert-op", "add-extra-input")
        app.says("Make branch at 0 has an open branch")
        app.click(app.find(name=re.compile("^_?Connect$")))
        channel(app, "r", "2")


def test_channel(home):
    ops = [{"op": "make-extra-output", "to": "r"}, *[{"op": "gelu"}] * 3,
           {"op": "add-extra-input", "from": "r"}]
    with program(home, write(home, ops)) as app:
        x, y = app.place(channel(app, "r", "4"))
        run("xdotool", "mousemove", x, y, "click", "--repeat", 2, "--delay", 60, 1)
        app.find(name="Name of the branch")
        app.key("ctrl+a")
        app.type("skip")
        app.key("Return")
        app.click(channel(app, "skip", "4"))
        app.key("Delete")
        app.says("Disconnected “skip”")
        wait(lambda: not channels(app), "no channel")
        app.key("ctrl+z")
        found = channel(app, "skip", "4")
        run("xdotool", "mousemove", *app.place(found), "click", 3)
        app.find(name="Rename…")
        app.key("Escape")


def click_settled(app, role, name):
    """Clicks a thing once the list that contains it has stopped moving."""
    def is_settled():
        before = app.find(role, name).box()
        time.sleep(0.2)
        return app.find(role, name).box() == before
    wait(is_settled, f"{name} at rest")
    app.click(app.find(role, name))


def test_fix(home):
    ops = [{"op": "linear", "out-features": 64, "in-features": 9}, {"op": "gelu"},
           {"op": "layer-norm", "normalized-shape": [5]}]
    with program(home, write(home, ops)) as app:
        app.says("^2 problems$")
        click_settled(app, "push button", "Set in-features to 64 at 0")
        app.says("^1 problem$")
        click_settled(app, "push button", "Omit normalized-shape at 2")
        # The bar keeps its text while it is hidden, the list does not.
        wait(lambda: not app.look(name=re.compile("^Omit")), "no problem")
        app.says("^• wires — Ligature$")


if __name__ == "__main__":
    main([test_into_block, test_ports, test_channel, test_fix])
