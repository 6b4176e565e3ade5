#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The window in German: figures have decimal commas, entries, expressions and files decimal points."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import SOURCE, main, program, wait  # noqa: E402

GERMAN = "de_DE.UTF-8"


def make_locale(home):
    """Compiles the locale into a folder, because few systems have it."""
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", home / GERMAN], check=True,
                   capture_output=True)
    return dict(LOCPATH=str(home), LC_ALL=GERMAN, LANGUAGE="de")


def test_figures(home):
    model = json.loads((SOURCE / "data/examples/gpt2-tiny.lig").read_text())
    model["train"]["lr"] = 0.0025
    file = home / "german.lig"
    file.write_text(json.dumps(model))
    with program(home, file, **make_locale(home)) as app:
        app.says(r"^vorwärts.*≈ \d+,\d+ [mµ]s")
        assert not app.look(name=re.compile(r"\d\.\d+ [mµ]s")), "a figure with a decimal point"
        app.activate("win.page", "sequence")
        app.activate("win.insert-op", "dropout")
        app.says("^Dropout.*Zeile|^Zufällig")
        app.activate("win.save")

        def is_saved():
            ops = json.loads(file.read_text())["ops"]
            return any(op["op"] == "dropout" for op in ops)
        wait(is_saved, "the saved file")
        assert json.loads(file.read_text())["train"]["lr"] == 0.0025


if __name__ == "__main__":
    if not shutil.which("localedef") or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        print("1..0 # SKIP localedef or the sources of locales are not installed")
        sys.exit()
    main([test_figures])
