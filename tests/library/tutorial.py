#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs of data/doc/tutorial.md and compares their output with what it shows, as TAP.

tutorial.py PROGRAM...: compiled programs named example-NAME, and Python programs. Words must be
equal; a number with a decimal point may differ by a tenth, because CPUs round differently.
LIGATURE_REGENERATE=1 renews the tutorial.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ["LIGATURE_SOURCE"])
TUTORIAL = ROOT / "data/doc/tutorial.md"
DECIMAL = re.compile(r"\d+\.\d+")


def find_output(name):
    """Returns the output shown after the sentence that names a program, with its place."""
    text = TUTORIAL.read_text(encoding="utf-8")
    found = re.search(rf"^`{re.escape(name)}` prints[^\n]*:\n\n```text\n(.*?)^```$", text,
                      re.M | re.S)
    assert found, f"the tutorial does not show {name} with its output"
    return found


def is_near(shown, printed):
    numbers = [list(map(float, DECIMAL.findall(text))) for text in (shown, printed)]
    return (DECIMAL.sub("#", shown) == DECIMAL.sub("#", printed)
            and all(abs(one - other) <= 0.1 * abs(other) + 2e-3 for one, other in zip(*numbers)))


def main():
    print(f"1..{len(sys.argv) - 1}")
    for number, path in enumerate(map(pathlib.Path, sys.argv[1:]), 1):
        python = path.suffix == ".py"
        command = ["/usr/bin/python3", path] if python else [path]
        name = (f"tests/library/{path.name}" if python
                else f"tests/example/{path.name.removeprefix('example-')}.c")
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        shown = find_output(name)
        holds = done.returncode == 0 and is_near(shown[1], done.stdout)
        if not holds and done.returncode == 0 and os.environ.get("LIGATURE_REGENERATE"):
            text = shown.string[:shown.start(1)] + done.stdout + shown.string[shown.end(1):]
            TUTORIAL.write_text(text, encoding="utf-8")
            holds = True
        print(f"{'ok' if holds else 'not ok'} {number} - the output of {name}")
        if not holds:
            print("\n".join(f"# {line}" for line in (done.stdout + done.stderr).splitlines()))


if __name__ == "__main__":
    main()
