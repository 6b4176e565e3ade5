#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A real pointer: from the palette into a gap, a row to a new position, a fence to another gap; clicks,
and drops at invalid places."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, lig, main, program, run, wait  # noqa: E402

EXAMPLE = SOURCE / "data/examples/layer-norm-mlp.lig"
ROW = re.compile(r"^(.*?),.*\brow (\d+) of (\d+)")


def rows(app):
    """The titles of the rows from top to bottom."""
    found = {}
    for thing in app.look(name=ROW):
        match = ROW.search(thing.name)
        found[int(match[2])] = match[1]
    return [found[number] for number in sorted(found)]


def row(app, number):
    return app.find(name=re.compile(rf"\brow {number} of \d+"))


def gap(app, after):
    return app.find(name="Gap before the first row" if after == 0 else f"Gap after row {after}")


def open_example(app):
    app.says("^layer-norm-mlp — Ligature$")
    wait(lambda: rows(app) == ["Layer norm", "Linear", "GELU", "Linear"], "the four rows")


def test_palette_to_gap(home):
    with program(home, EXAMPLE) as app:
        open_example(app)
        app.drag(app.place(app.find(name="Quick GELU")), app.place(gap(app, 2)))
        wait(lambda: rows(app)[2:3] == ["Quick GELU"], "the new op as the third row")
        assert len(rows(app)) == 5
        app.says("^• layer-norm-mlp — Ligature$")
        app.key("ctrl+z")
        wait(lambda: len(rows(app)) == 4, "four rows again")


def test_reorder(home):
    with program(home, EXAMPLE) as app:
        open_example(app)
        app.drag(app.place(row(app, 3), (0.3, 0.5)), app.place(gap(app, 1)))
        wait(lambda: rows(app) == ["Layer norm", "GELU", "Linear", "Linear"], "GELU second")
        app.key("ctrl+z")
        wait(lambda: rows(app) == ["Layer norm", "Linear", "GELU", "Linear"], "the old order")


def test_fence(home):
    with program(home, EXAMPLE) as app:
        open_example(app)
        app.click(row(app, 3), (0.3, 0.5))
        app.key("m")
        app.find(name=re.compile("row 3 of 4, fence above"))
        app.drag(app.place(gap(app, 2), (0.3, 0.5)), app.place(gap(app, 1), (0.3, 0.5)))
        app.find(name=re.compile("row 2 of 4, fence above"))
        assert not app.look(name=re.compile("row 3 of 4, fence above"))


def test_click_and_delete(home):
    with program(home, EXAMPLE) as app:
        open_example(app)
        app.click(row(app, 2), (0.3, 0.5))
        app.key("Delete")
        app.says("Deleted 1 operation|Deleted Linear")
        wait(lambda: rows(app) == ["Layer norm", "GELU", "Linear"], "three rows")
        app.find("push button", re.compile("Undo")).act("click")
        wait(lambda: len(rows(app)) == 4, "four rows again")


def test_drop_outside(home):
    """A drop that no target accepts changes nothing."""
    with program(home, EXAMPLE) as app:
        open_example(app)
        tab = app.find("page tab", "History")
        app.drag(app.place(app.find(name="Quick GELU")), app.place(tab))
        app.says("^layer-norm-mlp — Ligature$")
        assert len(rows(app)) == 4


def test_tab_outside(home):
    """A tab that is dragged onto a desktop without a window manager gets a window of its own."""
    with program(home, EXAMPLE) as app:
        open_example(app)
        app.key("ctrl+t")
        app.says("^Untitled — Ligature$")
        run("xdotool", "windowsize", app.x_windows()[0], 900, 600)
        time.sleep(1)
        # Tab bars have no accessible tabs in libadwaita 1.2; both halves of the bar are tabs.
        app.drag((200, 62), (1100, 700))
        app.says("^layer-norm-mlp — Ligature$")
        assert len(app.look("frame")) == 2


def test_control_click(home):
    """Control+click adds a run to the selection of the history, and removes it again."""
    for name in ("one", "two", "three"):
        lig(home, "train", "linear(4) ! mean-squared-error", "--input", "16x8", "--data",
            "synthetic", "--steps", 2, "--name", name, "--device", "cpu", "--checkpoint",
            home / f"{name}.safetensors")
    with program(home, EXAMPLE) as app:
        open_example(app)
        app.activate("win.page", "history")
        three = app.place(app.find(name="three"))
        app.click(app.find(name="one"))
        app.find(name="Open its sequence")
        run("xdotool", "keydown", "Control_L")
        try:
            run("xdotool", "mousemove", *three, "click", 1)
            app.says("^2 runs selected$")
            run("xdotool", "mousemove", *three, "click", 1)
            app.find(name="Open its sequence")
        finally:
            run("xdotool", "keyup", "Control_L")


if __name__ == "__main__":
    main([test_palette_to_gap, test_reorder, test_fence, test_click_and_delete, test_drop_outside,
          test_tab_outside, test_control_click])
