#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pictures that data/doc/diagrams.py draws are the committed ones, and each is in a document."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "data/doc/pictures"
MARK = b"Made by data/doc/diagrams.py"


def main():
    documents = "".join(path.read_text() for path in sorted((ROOT / "data/doc").glob("*.md")))
    installed = (ROOT / "data/meson.build").read_text()
    faults = [] if "'doc/pictures'" in installed else ["data/meson.build does not install the pictures"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "data/doc/diagrams.py", folder], check=True)
        drawn = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    committed = {path.name: path.read_bytes() for path in PICTURES.glob("*.svg")}
    committed = {name: content for name, content in committed.items()
                 if name in drawn or MARK in content}
    for name in sorted(drawn.keys() | committed.keys()):
        if drawn.get(name) != committed.get(name):
            faults.append(f"data/doc/pictures/{name} is not what data/doc/diagrams.py draws; run it")
        if f"pictures/{name}" not in documents:
            faults.append(f"data/doc/pictures/{name} is in no document")
    for fault in faults:
        print(fault)
    print(f"{len(drawn)} pictures, {len(faults)} faults")
    return 1 if faults or not drawn else 0


if __name__ == "__main__":
    sys.exit(main())
