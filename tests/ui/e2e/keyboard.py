#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Build, fuse, train, save with only the keyboard, from an empty window to a file and a run in the
store. No action is called by its name here: only keys are pressed and the screen is read."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import lig, main, program, wait  # noqa: E402
from hands import rows  # noqa: E402


def add(app, name):
    """Ctrl+K, the beginning of a name, Return."""
    app.key("ctrl+k")
    app.type(name)
    app.key("Return")


def list_runs(home):
    return json.loads(lig(home, "runs", "list", "--json"))


def test_build_fuse_train_save(home):
    path = home / "typed.lig"
    with program(home) as app:
        app.first_frame()
        add(app, "linear")
        add(app, "gelu")
        add(app, "linear")
        add(app, "mean-squared")
        wait(lambda: rows(app) == ["Linear", "GELU", "Linear", "Mean squared error"],
             "the four rows")
        app.find(name=re.compile("fused forward as"))
        app.key("F5")
        wait(lambda: len(app.x_windows()) > 1, "the question for data")
        app.focus()
        app.key("Return")
        runs = wait(lambda: [run for run in list_runs(home) if run["status"] == "running"],
                    "a run in the store", 60)
        app.key("shift+F5")
        wait(lambda: list_runs(home)[0]["status"] != "running", "the end of the run", 60)
        assert list_runs(home)[0]["run"] == runs[0]["run"]
        app.key("ctrl+s")
        wait(lambda: len(app.x_windows()) > 1, "the file chooser")
        app.focus()
        app.key("ctrl+a")
        app.type(str(path))
        app.key("Return")
        wait(path.exists, "the file")
        app.focus()
        app.says("^typed — Ligature$")
        app.key("ctrl+q")
        wait(lambda: app.process.poll() is not None, "the end of the program")
    ops = [op["op"] for op in json.loads(path.read_text())["ops"]]
    assert ops == ["linear", "gelu", "linear", "mean-squared-error"], ops


def test_quick_entry(home):
    with program(home) as app:
        app.first_frame()
        app.key("ctrl+e")
        app.type("layer-norm ! linear(32) ! swiglu")
        app.key("Return")
        wait(lambda: rows(app) == ["Layer norm", "Linear", "SwiGLU"], "the three rows")


def test_arrange(home):
    with program(home) as app:
        app.first_frame()
        for name in ("gelu", "relu", "silu"):
            add(app, name)
        wait(lambda: len(rows(app)) == 3, "three rows")
        first = rows(app)
        app.key("Escape")
        # From the search into the score, to the last row.
        for _ in range(40):
            if any(thing.has("focused") for thing in app.look(name=re.compile(r"row \d of 3"))):
                break
            app.key("Tab")
        app.key("Home", "alt+Down")
        wait(lambda: rows(app) == [first[1], first[0], first[2]], "the first row moved down")
        app.key("ctrl+a", "ctrl+c", "ctrl+v")
        wait(lambda: len(rows(app)) == 6, "six rows")
        app.key("ctrl+z")
        wait(lambda: len(rows(app)) == 3, "three rows again")


def test_find(home):
    with program(home) as app:
        app.first_frame()
        for name in ("gelu", "relu", "silu", "relu"):
            add(app, name)
        wait(lambda: len(rows(app)) == 4, "four rows")
        app.key("alt+7", "ctrl+f")
        app.type("relu")
        app.says(r"^2 rows$")
        selected = lambda: [i for i, thing in enumerate(app.look(name=re.compile(r"row \d of 4")))
                            if thing.has("selected")]
        app.key("Home", "Return")
        first = wait(selected, "a row that is selected")
        app.key("Return")
        wait(lambda: selected() and selected() != first, "the other row")
        app.key("ctrl+a")
        app.type("nothing like it")
        app.says("^None$")
        app.key("Escape", "Home")
        wait(lambda: selected() == [0], "the first row, with the keyboard")


def test_verdict_card(home):
    """Return explains a row; Tab goes through the card's buttons and stays in it."""
    with program(home) as app:
        app.first_frame()
        app.key("ctrl+e")
        app.type("layer-norm ! linear(32) ! gelu ! linear(16)")
        app.key("Return")
        wait(lambda: len(rows(app)) == 4, "four rows")
        app.click(app.find(name=re.compile("row 2 of 4, fused forward as [Ll]inear . bias . GELU")))
        app.key("f")
        wait(lambda: not app.look(name=re.compile("fused forward as [Ll]inear . bias . GELU")),
             "the forbidden fusion to go")
        app.key("f")
        app.find(name=re.compile("row 2 of 4, fused forward as [Ll]inear . bias . GELU"))
        app.key("Return")
        buttons = re.compile("^(Choose|Fence|Forbid|Force|[0-9]+ other fusion)")
        app.find("push button", re.compile("Forbid"))
        for _ in range(12):
            app.key("Tab")
            assert any(thing.has("focused") for thing in app.look("push button", buttons))
        app.key("Escape")
        app.find(name=re.compile("row 2 of 4"))


if __name__ == "__main__":
    main([test_build_fuse_train_save, test_quick_entry, test_arrange,
          test_verdict_card, test_find])
