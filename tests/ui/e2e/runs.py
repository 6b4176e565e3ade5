#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs and profiles as a user sees them: the final losses and the link to the charts, a
report of the run, a comparison of policies with its noise, data that does not fit."""
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, lig, main, program, wait  # noqa: E402


def write(path, **members):
    path.write_text(json.dumps({"ligature": 1, **members}))
    return path


def small(home):
    return write(home / "small.lig", name="small", input={"shape": [64, 32], "dtype": "fp32"},
                 ops=[{"op": "layer-norm"}, {"op": "linear", "out-features": 64}, {"op": "gelu"},
                      {"op": "linear", "out-features": 4}, {"op": "cross-entropy"}],
                 train={"data": "synthetic?samples=2000", "steps": 200})


def test_finished(home):
    with program(home, small(home)) as app:
        app.says("^small — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.key("F5")
        # The toast closes after ten seconds, so it and its button are read first.
        toast = app.says("^small is trained: ", 60)
        losses = re.search(r"loss \S+ · validation loss \S+", toast.name)[0]
        app.click(toast.near("push button", "^Show charts"))
        app.says(r"^Done: 200 steps in .* · " + re.escape(losses) + r" · accuracy [\d.]+ %")
        validation = losses.split(" · ")[1]
        app.says("^" + re.escape(validation))
        app.find(name="Export a report of this run")
        report = home / "run.md"
        app.export(report)
        text = report.read_text()
    assert "# Run: small" in text and "## Measured times" in text, text[:500]
    assert len(re.findall(r"^\| \d+ \|.*\| \d[\d.e-]* \| \d[\d.e-]* \|$", text, re.M)) >= 20, text


def test_killed(home):
    """The window is killed while it trains: the run saves itself, and the next window continues it."""
    long = write(home / "long.lig", name="long", input={"shape": [64, 32], "dtype": "fp32"},
                 ops=[{"op": "linear", "out-features": 64}, {"op": "gelu"},
                      {"op": "linear", "out-features": 4}, {"op": "cross-entropy"}],
                 train={"data": "synthetic?samples=2000", "steps": 1000000})
    with program(home, long) as app:
        app.says("^long — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.key("F5")
        app.says(r"^[\d,]+ of 1,000,000 · ", 60)
        app.kill()
    with program(home) as app:
        notice = app.says(r"^Training of “long” .* was interrupted. It can continue from step .+ of", 60)
        step = int(re.sub(r"\D", "", re.search(r"step (.+) of", notice.name)[1]))
        app.key("alt+3")
        app.says(r"^Interrupted after [\d,]+ of 1,000,000 steps")
        app.click(notice.near("push button", "Continue$"))
        app.says(r"^[\d,]+ of 1,000,000 · ", 60)
        app.says("long — Ligature$")
        runs = json.loads(lig(home, "runs", "list", "--json"))
        assert len(runs) == 1 and runs[0]["status"] == "running", runs
        assert runs[0]["last_step"] >= step > 0, (step, runs)


def test_compare(home):
    """Median, quartiles and count of every policy, and the difference or none."""
    with program(home, small(home)) as app:
        app.says("^small — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.key("alt+4")
        app.says("^≈ ")
        app.click(app.find(name="Compare policies"))
        app.says("^least time$", 60)
        app.says(r"· 15 runs$")
        others = app.look(name=re.compile(r"^(no difference \(noise .* %\)|.* (more|the) time)$"))
        assert len(others) == 2, others
        quartiles = app.look(name=re.compile(r"^[\d.]+( [nµm]?s)?(–[\d.]+)? [nµm]?s$"))
        assert len(quartiles) >= 12, quartiles


def test_misfit(home):
    """A file next to the model is proposed, and rejected with both sizes before it is used."""
    write(home / "letters.lig", input={"shape": [32, 16], "dtype": "int32"},
          ops=[{"op": "embedding", "features": 8}, {"op": "reshape", "shape": [-1, 128]},
               {"op": "linear", "out-features": 256}, {"op": "cross-entropy"}])
    shutil.copy(SOURCE / "data/examples/xor.csv", home / "letters.csv")
    with program(home, home / "letters.lig") as app:
        app.says("^letters — Ligature$")
        app.find(name=re.compile("^Embedding"))
        # Without the sidebars the bar has room for the button of the data.
        app.key("F9")
        app.click(app.find(name=re.compile("^Data: ")))
        wait(lambda: len(app.x_windows()) > 1, "the chooser")
        app.says("^letters.csv gives 2 numbers; the model wants 16 whole tokens$")
        app.find(name="Table: a .csv file of numbers")
        app.focus()
        app.key("Escape")
        wait(lambda: len(app.x_windows()) == 1, "the end of the chooser")


if __name__ == "__main__":
    main([test_finished, test_compare, test_misfit, test_killed])
