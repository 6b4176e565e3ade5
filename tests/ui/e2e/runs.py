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


def test_two_runs(home):
    """From the page of a run two actions compare it with an earlier one."""
    file = small(home)
    lig(home, "train", file, "--steps", "30", "--lr", "0.002", "--name", "earlier", "-q")
    with program(home, file) as app:
        app.says("^small — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.key("F5")
        app.says("^small is trained: ", 60)
        app.key("alt+3")
        app.click(app.find(name=re.compile("^Compare with…$")))
        app.click(app.find("list item", re.compile("^earlier$")))
        app.says("^2 runs compared$")
        app.says("^Setting · lr$")
        app.says(r"^\d+ differences between 2 runs$")


def formats(app):
    """The formats that the window offers for a report, as endings; closes the question."""
    wait(lambda: len(app.x_windows()) > 1, "the list of formats")
    app.says("^.html$")
    found = {row.name for row in app.look(name=re.compile(r"^\.[a-z.]+$"))}
    app.focus()
    app.key("Escape")
    wait(lambda: len(app.x_windows()) == 1, "the end of the list")
    app.focus()
    return found


def test_sweep(home):
    """A sweep is one row of the history, which opens; its best settings, by the mean, are set in the
    sequence, and its report has the formats that show a sweep."""
    file = small(home)
    lig(home, "train", file, "--steps", "20", "--name", "single", "-q")
    lig(home, "sweep", file, "--steps", "30", "--over", "lr=0.0001,0.05", "--over", "seed=1..2", "-q")
    newest = json.loads(lig(home, "runs", "list", "--limit", "1", "--json"))[0]
    with program(home, file) as app:
        app.says("^small — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.key("alt+6")
        sweep = app.says("^Sweep, 4 runs · small$")
        app.says("^5 runs$")
        app.click(app.find("push button", re.compile("^List the runs")))
        wait(lambda: len(app.look(name=re.compile("^small$"))) >= 4, "the runs of the sweep")
        app.click(app.find(name=re.compile("^single$")))
        app.activate("win.export")
        assert {".html", ".md", ".csv", ".json", ".svg", ".dot", ".trace.json"} <= formats(app)
        app.click(sweep)
        app.says("^4 runs selected$")
        app.click(app.find("push button", re.compile("Show its sweep$")))
        app.says("^Runs finished: 4 of 4$")
        app.activate("win.export")
        found = formats(app)
        assert {".html", ".md", ".csv", ".json", ".svg"} <= found and ".dot" not in found, found
        app.click(app.find("push button", re.compile("Use the best settings$")))
        best = json.loads(lig(home, "report", newest["sweep"], "-o", "-", "--format", "json"))["best"]
        app.says(f"^The sequence now has lr {best['lr']}$")


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


def test_restarted(home):
    """Measured times are shown again by the next window, with their date, until the shape changes or
    the profile is deleted."""
    model = small(home)
    with program(home, model) as app:
        app.says("^predicted for|times unknown|≈ ")
        app.activate("win.page", "profile")
        app.activate("win.profile")
        app.says(r"· 15 runs$", 60)
    with program(home, model) as app:
        app.says(r"measured on this CPU on \d+ \w+$")
        app.says(r"^step [\d.]+ [nµm]?s")
        app.activate("win.page", "profile")
        app.says(r"· measured on \d+ \w+$")
        app.says(r"· 15 runs$")
        app.says(r" rows/s(, \d+ % MFU)?$")
    wide = json.loads(model.read_text())
    wide["input"]["shape"][0] = 128
    other = write(home / "wide.lig", **{key: wide[key] for key in wide if key != "ligature"})
    with program(home, other) as app:
        app.says("^step ≈ ")
        assert not app.look(name=re.compile("measured on this CPU"))
    run = json.loads(lig(home, "runs", "list", "--json"))[0]["run"]
    lig(home, "runs", "delete", run, "--yes")
    with program(home, model) as app:
        app.says("^step ≈ ")
        assert not app.look(name=re.compile("measured on this CPU"))


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
    main([test_finished, test_two_runs, test_sweep, test_compare, test_restarted, test_misfit, test_killed])
