#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Takes the pictures of data/doc/window.md, light, in data/doc/pictures:

    LIGATURE_BUILD=build tests/ui/e2e/manual.py

Names of tests after it take only some: test_sequence, test_run; LIGATURE_SCHEME=prefer-dark takes dark
ones. It is no test itself: look at the
pictures before they are committed. Those of pages with measured times differ on each machine.
"""
import json
import os
import pathlib
import random
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
    return program(home, file,
                   ADW_DEBUG_COLOR_SCHEME=os.environ.get("LIGATURE_SCHEME", "prefer-light"))


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


def take(app, name, size=(1280, 800), colours=64):
    """Takes a picture of the window, with few colours; the pointer is moved out of it."""
    run("xdotool", "windowsize", "--sync", app.x_window, *size)
    run("xdotool", "mousemove", size[0] - 1, size[1] - 1)
    time.sleep(3)
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.png"
    app.picture(path)
    add_popups(app, path)
    run("mogrify", "-strip", "+dither", "-colors", colours, "-define", "png:compression-level=9", path)
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
        app.click(app.find("push button", re.compile("^List the runs")))
        time.sleep(1)
        app.click(app.look(name="xor")[0])
        app.key("shift+Down", "shift+Down")
        take(app, "history")


def test_try_text(home):
    """A model of bytes that has read the documents of the project for some minutes."""
    prose = home / "prose.txt"
    prose.write_text("".join(path.read_text() for path in sorted((SOURCE / "data/doc").glob("*.md"))))
    lig(home, "train", EXAMPLES / "gpt2-tiny.lig", "--data", f"text:{prose}", "--steps", "2000", "--lr",
        "0.003", "--device", "cpu", "--checkpoint", home / "gpt2-tiny.safetensors")
    with open_window(home, EXAMPLES / "gpt2-tiny.lig", "cpu") as app:
        app.says("^gpt2-tiny — Ligature$")
        app.activate("win.page", "try")
        app.says("tokens at once$")
        run("xdotool", "windowsize", "--sync", app.x_window, 1280, 800)
        time.sleep(1)
        app.click(app.find("slider", "Temperature"), (0.25, 0.5))
        app.click(app.find("spin button", "Continuations"), (0.2, 0.5))
        app.key("ctrl+a", "3", "Return")
        app.click(app.find("text", "Prompt"))
        app.type("The window shows ")
        app.key("Return")
        app.says("at the limit", 60)
        time.sleep(3)
        app.click(app.look("log")[0], (0.5, 0.02))
        app.key("Home", *["Right"] * 13)
        take(app, "try-text", colours=256)


def make_penguins(path):
    """Writes made-up birds of three kinds that overlap."""
    draw = random.Random(4)
    kinds = {"Adelie": (150, (38.8, 18.3, 190, 3700), (2.7, 1.2, 6.5, 460)),
             "Chinstrap": (68, (48.8, 18.4, 196, 3733), (3.3, 1.1, 7.1, 384)),
             "Gentoo": (124, (47.5, 15.0, 217, 5076), (3.1, 1.0, 6.5, 504))}
    lines = []
    for kind, (count, means, deviations) in kinds.items():
        for _ in range(count):
            shared = draw.gauss(0, 1)
            a, b, c, d = (mean + 1.25 * deviation * (0.6 * shared + 0.8 * draw.gauss(0, 1))
                          for mean, deviation in zip(means, deviations))
            lines.append(f"{a:.1f},{b:.1f},{c:.0f},{round(d / 25) * 25},{kind}")
    draw.shuffle(lines)
    titles = "bill length (mm),bill depth (mm),flipper length (mm),body mass (g),species"
    path.write_text("\n".join([titles, *lines]) + "\n")


def test_try_rows(home):
    make_penguins(home / "penguins.csv")
    (home / "penguins.lig").write_text(json.dumps({
        "ligature": 1, "name": "penguins", "input": {"shape": [32, 4], "dtype": "fp32"},
        "ops": [{"op": "linear", "out-features": 16}, {"op": "gelu"}, {"op": "dropout", "p": 0.1},
                {"op": "linear", "out-features": 3}, {"op": "cross-entropy"}]}))
    data = f"csv:{home}/penguins.csv?validation=0.2&standardize=true&split=stratified"
    lig(home, "train", home / "penguins.lig", "--data", data, "--steps", "300", "--lr", "0.005",
        "--device", "cpu", "--checkpoint", home / "penguins.safetensors")
    with open_window(home, home / "penguins.lig", "cpu") as app:
        app.says("^penguins — Ligature$")
        app.activate("win.page", "try")
        app.says("^Worst first")
        run("xdotool", "windowsize", "--sync", app.x_window, 1280, 800)
        time.sleep(1)
        app.click(app.find("push button", re.compile("^Adelie, predicted as Chinstrap")))
        app.says("^Adelie, predicted as Chinstrap: [0-9]* rows?$")
        app.click(app.find("list item", re.compile("^Row .*: Adelie, predicted Chin")))
        take(app, "try-rows", colours=256)


def test_devices(home):
    with open_window(home, EXAMPLES / "residual-mlp.lig", "null:h200") as app:
        app.says("^residual-mlp — Ligature$")
        app.activate("win.page", "devices")
        take(app, "devices")


if __name__ == "__main__":
    main([test_sequence, test_card, test_blocks, test_plan, test_run, test_profile, test_try_text,
          test_try_rows, test_history, test_devices])
