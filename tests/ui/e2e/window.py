#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The window as a user and the desktop see it: screen reader, files from the shell,
several windows in one process, a broken file, a killed program, a damaged store."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, lig, main, program, run, wait  # noqa: E402

PAGES = ("Sequence", "Plan", "Run", "Profile", "Try", "History", "Devices")
EXAMPLE = SOURCE / "data/examples/layer-norm-mlp.lig"


def test_screen_reader(home):
    with program(home, EXAMPLE) as app:
        app.find("frame", "layer-norm-mlp — Ligature")
        for title in PAGES:
            tab = app.find("page tab", title)
            assert tab.has("focusable") and "click" in tab.actions(), tab
        assert app.find("page tab", "Sequence").has("selected")
        app.find("page tab", "History").act("click")
        wait(lambda: app.look("page tab", "History")[0].has("selected"), "the History page")
        app.find("push button", "Main menu")
        # Each button, or the choice that it belongs to, has a name.
        nameless = [f"{thing} {thing.description} at {thing.box()}" for thing in app.look("push button")
                    if thing.has("focusable") and not thing.is_named()
                    and not thing.parent().is_named()]
        assert not nameless, nameless


def test_pages(home):
    with program(home) as app:
        for title in PAGES:
            app.activate("win.page", title.lower())
            state = wait(lambda: title.lower() in app.call("/org/ligature/Ligature/window/1",
                                                           "Describe", "page"), title)
            assert state
        run("xdotool", "key", "alt+2")
        wait(lambda: "'plan'" in app.call("/org/ligature/Ligature/window/1", "Describe", "page"),
             "the Plan page by its key")


def test_shell(home):
    """A second call of the program opens a tab of the first."""
    other = home / "other.lig"
    other.write_text('{"ligature":1,"name":"other","ops":[{"op":"gelu"}]}')
    with program(home, EXAMPLE) as app:
        app.says("^layer-norm-mlp — Ligature$")
        second = subprocess.run([os.environ["LIGATURE"], other], env=app.environment, timeout=20,
                                check=True)
        assert second.returncode == 0
        app.says("^other — Ligature$")
        assert len(app.x_windows()) == 1
        app.activate("win.close-tab")
        app.says("^layer-norm-mlp — Ligature$")
        subprocess.run([os.environ["LIGATURE"], "--new-window"], env=app.environment, timeout=20,
                       check=True)
        wait(lambda: len(app.x_windows()) == 2, "two windows")
        # Nothing is unsaved, so no question is asked.
        app.activate("app.quit")
        wait(lambda: app.process.poll() is not None, "the end of the program")
        assert app.process.returncode == 0


def test_version(home):
    said = subprocess.run([os.environ["LIGATURE"], "--version"], check=True, text=True,
                          capture_output=True).stdout
    assert re.fullmatch(r"ligature \d+\.\d+\.\d+\n", said), said


def test_broken_file(home):
    broken = home / "broken.lig"
    broken.write_text('{"ligature":1,"ops":[{"op":"gelu"},{"op":"linear","out-features":"x"}]}')
    with program(home, broken) as app:
        app.says("cannot be opened")
        app.says("Expected a whole number")
        app.says(re.escape("$.ops[1].out-features"))
        app.find("push button", re.compile("Open another"))
        app.find("push button", re.compile("Copy the message")).act("click")
        app.says("Copied")
        assert not app.is_enabled("undo")


def test_missing_file(home):
    with program(home, home / "nothing.lig") as app:
        app.says("cannot be opened")
        app.says("No such file")


def test_compare_with(home):
    """Another file is chosen and compared; a broken one is reported, and nothing is pinned."""
    broken, other = home / "broken.lig", SOURCE / "data/examples/layer-norm-mlp.lig"
    broken.write_text('{"ligature": 1, "ops": [{"op": "nothing"}]}')
    with program(home, SOURCE / "data/examples/residual-mlp.lig") as app:
        app.find(name=re.compile("fused forward as"))
        for path, answer in ((broken, "op 'nothing' is unknown"),
                             (other, r"\| current .* memory .*groups? differ")):
            app.activate("win.compare-with")
            wait(lambda: len(app.x_windows()) > 1, "the file chooser")
            app.focus()
            app.type(str(path))
            app.key("Return")
            wait(lambda: len(app.x_windows()) == 1, "the end of the file chooser")
            app.says(answer)
        app.find(name="layer-norm-mlp.lig")


def test_edit_and_save(home):
    """Actions over the bus, as a script would use them."""
    path = home / "made.lig"
    with program(home) as app:
        for name in ("layer-norm", "linear", "gelu"):
            app.activate("win.insert-op", name)
        app.says("^• Untitled — Ligature$")
        app.activate("win.save-to", path)
        app.says("^made — Ligature$")
        saved = json.loads(path.read_text())
        assert [op["op"] for op in saved["ops"]] == ["layer-norm", "linear", "gelu"]
        app.activate("win.undo")
        app.says("^• made — Ligature$")
        app.export(home / "report.md")
        assert "linear" in (home / "report.md").read_text()


def test_typing_comes_first(home):
    """Keys of the sequence have no effect while a text has the focus."""
    with program(home, EXAMPLE) as app:
        app.says("^layer-norm-mlp — Ligature$")
        app.activate("win.select-all")
        app.activate("win.save-as")
        wait(lambda: len(app.x_windows()) > 1, "the file chooser")
        app.focus()
        app.key("ctrl+a", "Delete", "ctrl+x", "ctrl+v", "m")
        app.key("Escape")
        wait(lambda: len(app.x_windows()) == 1, "the file chooser to go")
        app.says("^layer-norm-mlp — Ligature$")


def test_keys(home):
    with program(home, EXAMPLE) as app:
        app.says("^layer-norm-mlp — Ligature$")
        app.activate("win.select-all")
        app.key("Delete")
        app.says("Deleted 4 operations")
        app.says("^• layer-norm-mlp — Ligature$")
        app.key("ctrl+z")
        app.says("^layer-norm-mlp — Ligature$")
        app.activate("win.select-all")
        app.key("ctrl+c", "ctrl+v")
        app.says("^• layer-norm-mlp — Ligature$")


def test_close_asks(home):
    path = home / "made.lig"
    path.write_text('{"ligature":1,"ops":[{"op":"gelu"}]}')
    with program(home, path) as app:
        app.says("^made — Ligature$")
        app.activate("win.insert-op", "relu")
        app.key("ctrl+w")
        app.says("^Save “made”")
        app.focus()
        app.find("push button", re.compile("Save$")).act("click")
        wait(lambda: app.process.poll() is not None, "the end of the program")
    assert len(json.loads(path.read_text())["ops"]) == 2


def test_killed(home):
    """Edits survive kill -9, are offered once, and are complete."""
    with program(home) as app:
        app.activate("win.insert-op", "layer-norm")
        app.activate("win.insert-op", "gelu")
        app.says("^• Untitled — Ligature$")
        time.sleep(1)
        app.kill()
    with program(home) as app:
        app.says("unsaved edits")
        app.find("push button", re.compile("Restore")).act("click")
        app.says("^• Untitled — Ligature$")
        app.activate("win.save-to", home / "restored.lig")
        wait((home / "restored.lig").exists, "the file")
        app.says("^restored — Ligature$")
    ops = json.loads((home / "restored.lig").read_text())["ops"]
    assert [op["op"] for op in ops] == ["layer-norm", "gelu"]
    with program(home) as app:
        app.first_frame()
        time.sleep(1.5)
        assert not app.look(name=re.compile("unsaved edit"))


def test_newer_store(home):
    """A store of a later release is left unchanged, and the window reports it and works."""
    lig(home, "train", "linear(4) ! mean-squared-error", "--input", "4x4", "--data", "synthetic",
        "--steps", 1, "--device", "cpu", "--checkpoint", home / "one.safetensors")
    with sqlite3.connect(home / "store.db") as store:
        store.execute("PRAGMA user_version = 999")
    before = (home / "store.db").read_bytes()
    with program(home) as app:
        app.says("Nothing can be stored.*schema version 999")
        app.find("push button", re.compile("Choose another store"))
        app.activate("win.insert-op", "gelu")
        app.activate("win.save-to", home / "made.lig")
        wait((home / "made.lig").exists, "the file")
    assert (home / "store.db").read_bytes() == before


def test_corrupt_store(home):
    (home / "store.db").write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    with program(home) as app:
        app.says("set aside")
        app.activate("win.insert-op", "gelu")
        app.says("^• Untitled — Ligature$")


def test_no_store(home):
    """A file that was never a database is not a damaged store: it stays unchanged."""
    notes = "what I wrote down\n" * 400
    (home / "store.db").write_text(notes)
    with program(home) as app:
        app.says("Nothing can be stored")
        app.find("push button", re.compile("Choose another store"))
        app.activate("win.insert-op", "gelu")
        app.says("^• Untitled — Ligature$")
    assert (home / "store.db").read_text() == notes
    assert not list(home.glob("store.db*-*")), list(home.iterdir())


def test_window_state(home):
    with program(home) as app:
        run("xdotool", "windowsize", "--sync", app.x_window, 900, 620)
        time.sleep(0.5)
        app.key("ctrl+w")
        wait(lambda: app.process.poll() is not None, "the end of the program")
    with program(home) as app:
        time.sleep(0.5)
        info = run("xwininfo", "-id", app.x_window)
        width = int(re.search(r"Width: (\d+)", info)[1])
        assert abs(width - 900) <= 12, info


def test_reopen(home):
    """A start without files opens those of the last session and shows the same one; the menu of
    Open has them, too."""
    files = []
    for name in ("one", "two_2", "three"):
        files.append(home / f"{name}.lig")
        model = json.loads(EXAMPLE.read_text())
        files[-1].write_text(json.dumps(dict(model, name=name)))
    with program(home, *files) as app:
        app.says("^three — Ligature$")
        app.activate("app.open-file", files[1])
        app.says("^two_2 — Ligature$")
        time.sleep(0.5)
        app.key("ctrl+q")
        wait(lambda: app.process.poll() is not None, "the end")
    files[0].unlink()
    with program(home) as app:
        app.says("^two_2 — Ligature$")
        app.find(name="three")
        assert not app.look(name="one"), "a file that is gone"
        app.click(app.find(name="More ways to begin"))
        app.find(name=re.compile("^three.lig — "))
        app.find(name=re.compile("^two_2.lig — "))
        app.key("Escape")
        time.sleep(0.5)
    settings = home / "config/glib-2.0/settings/keyfile"
    text = settings.read_text()
    settings.write_text(text.replace("[org/ligature/Ligature]",
                                     "[org/ligature/Ligature]\nreopen=false"))
    with program(home) as app:
        app.says("^Untitled — Ligature$")
        assert not app.look(name="three")


if __name__ == "__main__":
    main([test_screen_reader, test_pages, test_shell, test_version, test_broken_file,
      test_missing_file, test_compare_with, test_edit_and_save, test_typing_comes_first, test_keys, test_close_asks,
      test_killed, test_newer_store, test_corrupt_store, test_no_store, test_window_state,
      test_reopen])
