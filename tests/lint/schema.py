#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that data/doc/store.md is the output of engine/store/document.py for the schema, and that
the script rejects a table or column without a comment."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORE = ROOT / "engine/store"


def run(folder):
    return subprocess.run([sys.executable, folder / "document.py", "-"], capture_output=True,
                          text=True)


def main():
    made = run(STORE)
    if made.returncode != 0 or made.stdout != (ROOT / "data/doc/store.md").read_text():
        sys.exit(made.stderr or "data/doc/store.md is older than the schema; run "
                 "engine/store/document.py")
    schema = (STORE / "schema.sql").read_text()
    cases = {"column bytes of timing": (r"(  bytes REAL,) --.*", r"\1"),
             "column last_loss of run": (r"(ADD COLUMN last_loss REAL;) --.*", r"\1"),
             "table tag": (r"-- Tags that users.*\n", "")}
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder) / "engine/store"
        shutil.copytree(STORE, scratch)
        for name, (pattern, text) in cases.items():
            changed, count = re.subn(pattern, text, schema)
            (scratch / "schema.sql").write_text(changed)
            failed = run(scratch)
            if count != 1 or failed.returncode == 0 or name not in failed.stderr:
                sys.exit(f"{name} without a comment was not rejected: {failed.stderr}")


if __name__ == "__main__":
    main()
