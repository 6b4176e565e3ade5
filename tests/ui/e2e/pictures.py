#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares every page, in light and dark, with its stored picture.

pictures.py --update writes the stored pictures, after they were looked at: they are in
tests/ui/e2e/pictures. They are compared at a quarter of their size, blurred a little: other
machines draw letters by other pixels, but a missing column, a wrong colour or a page that did not
fill is seen. With another font it is skipped. Times are predicted for a described GPU, and what
the Devices page says of this machine's CPU and the Try page of the age of its model is painted over:
no figure is the machine's own.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

UPDATE = "--update" in sys.argv
if UPDATE:
    sys.argv.remove("--update")
    os.environ["LIGATURE_UPDATE"] = "1"
UPDATE = UPDATE or os.environ.get("LIGATURE_UPDATE") == "1"

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, Missing, lig, main, program, run, wait  # noqa: E402

STORED = pathlib.Path(__file__).resolve().parent / "pictures"
EXAMPLE = SOURCE / "data/examples/residual-mlp.lig"
PAGES = ("sequence", "plan", "run", "profile", "try", "history", "devices")
# Of the greatest difference there could be, root mean square. The same page again differs by 0.000
# on one machine; one operation more in the plan, the least of the faults tried below, by 0.024.
TOLERANCE = 0.02
SIZE = "360x225"


def shrink(picture, to):
    run("convert", picture, "-resize", f"{SIZE}!", "-blur", "0x1", "-alpha", "off", to)


def difference(one, other):
    """From 0 to 1."""
    done = subprocess.run(["compare", "-metric", "RMSE", one, other, "null:"], text=True,
                          capture_output=True)
    found = re.search(r"\(([\d.e-]+)\)", done.stderr)
    assert found, done.stderr
    return float(found[1])


def choose_gpu(home):
    settings = home / "config/glib-2.0/settings"
    settings.mkdir(parents=True)
    (settings / "keyfile").write_text("[org/ligature/Ligature]\ndevice='null:h200'\n")


def wait_until_still(app, picture):
    """Takes the picture once it no longer changes: a loaded machine draws and compiles late."""
    before = picture.with_suffix(".before.png")
    run("xdotool", "mousemove", 1439, 899)
    time.sleep(1.5)
    app.picture(before)

    def is_still():
        time.sleep(0.5)
        app.picture(picture)
        still = difference(picture, before) == 0
        os.replace(picture, before)
        return still
    wait(is_still, "the window to be still")
    os.replace(before, picture)


def hide(app, page, picture):
    """This machine's devices: from its heading to that of the described ones."""
    if page == "devices":
        top = app.place(app.find(name="On this computer"))[1] - app.frame()[1]
        end = app.place(app.find(name="Plan only"))[1] - app.frame()[1]
        run("mogrify", "-fill", "gray", "-draw", f"rectangle 0,{top + 20} 1440,{end - 20}", picture)
    if page == "try":
        place = app.place(app.find(name=re.compile(" ago$|just now$")))[1] - app.frame()[1]
        run("mogrify", "-fill", "gray", "-draw", f"rectangle 0,{place - 9} 1440,{place + 9}", picture)


def make_runs(home):
    """Adds runs to the history."""
    for name, steps in (("narrow", 20), ("wide", 30)):
        width = 8 if name == "narrow" else 32
        lig(home, "train", f"linear({width}) ! gelu ! linear(4) ! mean-squared-error", "--input",
            "16x8", "--data", "synthetic", "--steps", steps, "--name", name, "--device", "cpu",
            "--checkpoint", home / f"{name}.safetensors")


def make_model(home):
    """A model of rows, which the page Try finds."""
    rows = home / "rows.csv"
    lines = [f"{i % 9},{i % 7},{'large' if i % 9 > 4 else 'small'}" for i in range(60)]
    rows.write_text("\n".join(["length,width,size", *lines]) + "\n")
    lig(home, "train", "linear(2) ! cross-entropy", "--input", "16x2", "--data", f"csv:{rows}",
        "--steps", 20, "--name", "sizes", "--device", "cpu", "--checkpoint",
        home / "sizes.safetensors")


def look_at_all(home, scheme):
    if "Cantarell" not in run("fc-match", "Cantarell", check=False):
        raise Missing("the font Cantarell is not installed")
    choose_gpu(home)
    make_model(home)
    make_runs(home)
    wrong = []
    with program(home, EXAMPLE, ADW_DEBUG_COLOR_SCHEME=scheme) as app:
        app.says("residual-mlp — Ligature$")
        app.says("H200")
        run("xdotool", "windowsize", "--sync", app.x_window, 1440, 900)
        for page in PAGES:
            app.activate("win.page", page)
            if page == "try":
                app.says("^Worst first")
            shown = home / f"{page}.png"
            small = home / f"{page}-small.png"
            stored = STORED / f"{page}-{scheme.removeprefix('prefer-').removeprefix('force-')}.png"
            wait_until_still(app, shown)
            hide(app, page, shown)
            shrink(shown, small)
            if UPDATE:
                STORED.mkdir(exist_ok=True)
                os.replace(small, stored)
                continue
            if not stored.exists():
                wrong.append(f"{stored.name} is missing")
                continue
            far = difference(small, stored)
            print(f"# {stored.name}: {far:.4f}")
            if far > TOLERANCE:
                wrong.append(f"{stored.name} differs by {far:.3f}, at most {TOLERANCE}")
                keep = os.environ.get("LIGATURE_KEEP")
                if keep:
                    os.replace(shown, pathlib.Path(keep) / stored.name)
    assert not wrong, "; ".join(wrong)


def test_light(home):
    look_at_all(home, "prefer-light")


def test_dark(home):
    look_at_all(home, "prefer-dark")


def tell_apart(home, scheme):
    """Tests the comparison: it passes equal pictures and finds each of these faults."""
    count = 0
    choose_gpu(home)
    with program(home, EXAMPLE, ADW_DEBUG_COLOR_SCHEME=scheme) as app:
        app.says("residual-mlp — Ligature$")
        app.says("H200")
        run("xdotool", "windowsize", "--sync", app.x_window, 1440, 900)

        def shoot():
            nonlocal count
            count += 1
            wait_until_still(app, home / "shown.png")
            shrink(home / "shown.png", home / f"{count}.png")
            return home / f"{count}.png"

        app.activate("win.page", "plan")
        plan = shoot()
        app.activate("win.page", "sequence")
        sequence = shoot()
        app.activate("win.sidebars")
        faults = {"no sidebars": difference(shoot(), sequence)}
        app.activate("win.sidebars")
        same = difference(shoot(), sequence)
        app.activate("win.insert-op", "gelu")
        faults["one row more"] = difference(shoot(), sequence)
        app.activate("win.page", "plan")
        faults["one step more"] = difference(shoot(), plan)
    print(f"# the same {same:.4f}, " + ", ".join(f"{k} {v:.4f}" for k, v in faults.items()))
    assert same < TOLERANCE / 2, same
    assert all(far > TOLERANCE for far in faults.values()), faults


def test_tells_apart_light(home):
    tell_apart(home, "prefer-light")


def test_tells_apart_dark(home):
    tell_apart(home, "prefer-dark")


if __name__ == "__main__":
    main([test_light, test_dark, test_tells_apart_light, test_tells_apart_dark])
