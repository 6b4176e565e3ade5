#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Takes the pictures of data/doc/window.md, light, in data/doc/pictures:

    LIGATURE_BUILD=build tests/ui/e2e/manual.py

Names of tests after it take only some: test_sequence, test_run. It is no test itself: look at the
pictures before they are committed. Those of pages with measured times differ on each machine.
"""
import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, lig, main, program, run  # noqa: E402

PICTURES = SOURCE / "data/doc/pictures"
EXAMPLES = SOURCE / "data/examples"
MAX_BYTES = 150_000


def choose_device(home, device):
    settings = home / "config/glib-2.0/settings"
    settings.mkdir(parents=True)
    (settings / "keyfile").write_text(f"[org/ligature/Ligature]\ndevice='{device}'\n")


def open_window(home, file, device):
    choose_device(home, device)
    return program(home, file, ADW_DEBUG_COLOR_SCHEME="prefer-light")


def find_place(x_window):
    place = run("xdotool", "getwindowgeometry", "--shell", x_window)
    return [int(re.search(rf"^{axis}=(-?\d+)", place, re.M)[1]) for axis in "XY"]


def add_popups(app, path):
    """Cards and menus are windows of their own, whose borders are black without a compositor."""
    left, top = find_place(app.x_window)
    for popup in app.x_windows():
        if popup != app.x_window:
            x, y = find_place(popup)
            card, shadow = (path.with_suffix(f".{layer}.png") for layer in ("card", "shadow"))
            run("import", "-window", popup, card)
            run("convert", card, "-alpha", "set", "-bordercolor", "black", "-border", 1, "-fuzz",
                "4%", "-fill", "none", "-floodfill", "+0+0", "black", "-shave", "1x1", card)
            run("convert", card, "-fill", "gray40", "-colorize", 100, "-channel", "RGBA", "-blur",
                "0x4", shadow)
            for layer in (shadow, card):
                run("convert", path, layer, "-geometry", f"{x - left:+}{y - top:+}", "-composite", path)
                layer.unlink()


def take(app, name, size=(1280, 800)):
    """Takes a picture of the window, with few colours; the pointer is moved out of it."""
    run("xdotool", "windowsize", "--sync", app.x_window, *size)
    run("xdotool", "mousemove", size[0] - 1, size[1] - 1)
    time.sleep(3)
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.png"
    app.picture(path)
    add_popups(app, path)
    run("mogrify", "-strip", "+dither", "-colors", "64", "-define", "png:compression-level=9", path)
    assert path.stat().st_size <= MAX_BYTES, (name, path.stat().st_size)


def test_sequence(home):
    with open_window(home, EXAMPLES / "residual-mlp.lig", "null:h200") as app:
        app.says("^residual-mlp — Ligature$")
        app.find(name=re.compile("fused forward as"))
        take(app, "sequence")


def test_card(home):
    """The card of an op before which a fence rejects a fusion."""
    model = json.loads((EXAMPLES / "residual-mlp.lig").read_text())
    model["fences"] = ["5"]
    (home / "fenced.lig").write_text(json.dumps(model))
    with open_window(home, home / "fenced.lig", "null:h200") as app:
        app.says("^residual-mlp — Ligature$|^fenced — Ligature$")
        row = app.find(name=re.compile("row 5 of 6, "))
        run("xdotool", "windowsize", "--sync", app.x_window, 1280, 900)
        time.sleep(1)
        app.click(row)
        app.key("Return")
        take(app, "card", (1280, 900))


def test_blocks(home):
    with open_window(home, EXAMPLES / "gpt2-124m.lig", "null:h200") as app:
        app.says("^gpt2-124m — Ligature$")
        app.find(name=re.compile("fused forward as"))
        take(app, "blocks")


def test_plan(home):
    with open_window(home, EXAMPLES / "residual-mlp.lig", "null:h200") as app:
        app.says("^residual-mlp — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.activate("win.page", "plan")
        take(app, "plan")


def test_run(home):
    """A model of bytes that reads the documents of the project."""
    model = json.loads((EXAMPLES / "byte-model.lig").read_text())
    model["train"] = {"data": f"text:{SOURCE / 'data/doc'}", "steps": 600, "lr": 0.003, "batch": 64,
                      "schedule": "cosine", "warmup": 50}
    (home / "byte-model.lig").write_text(json.dumps(model))
    with open_window(home, home / "byte-model.lig", "cpu") as app:
        app.says("^byte-model — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.activate("win.page", "run")
        app.key("F5")
        app.says("^Done: 600 steps in ", 120)
        time.sleep(12)  # until the toast is gone
        take(app, "run")


def test_profile(home):
    with open_window(home, EXAMPLES / "residual-mlp.lig", "cpu") as app:
        app.says("^residual-mlp — Ligature$")
        app.find(name=re.compile("fused forward as"))
        app.activate("win.page", "profile")
        app.activate("win.profile")
        app.says("roofline", 90)
        time.sleep(15)
        take(app, "profile")


def test_history(home):
    xor = EXAMPLES / "xor.lig"
    data = f"csv:{EXAMPLES / 'xor.csv'}?validation=0.25"
    lig(home, "sweep", xor, "--data", data, "--batch", "3", "--steps", "300", "--over",
        "lr=0.03,0.01,0.003", "--over", "seed=1..2", "--name", "xor", "--device", "cpu")
    lig(home, "profile", EXAMPLES / "residual-mlp.lig", "--device", "cpu", "--steps", "3")
    with open_window(home, xor, "cpu") as app:
        app.says("^xor — Ligature$")
        app.activate("win.page", "history")
        run("xdotool", "windowsize", "--sync", app.x_window, 1280, 800)
        time.sleep(2)
        app.click(app.look(name="xor")[0])
        app.key("shift+Down", "shift+Down")
        take(app, "history")


def test_devices(home):
    with open_window(home, EXAMPLES / "residual-mlp.lig", "null:h200") as app:
        app.says("^residual-mlp — Ligature$")
        app.activate("win.page", "devices")
        take(app, "devices")


if __name__ == "__main__":
    main([test_sequence, test_card, test_blocks, test_plan, test_run, test_profile, test_history,
          test_devices])
