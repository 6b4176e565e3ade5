#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The code blocks of data/doc/tutorial.md are whole programs that tests build and run, each followed by
its output (compared by tests/library/tutorial.py)."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["tests/example/train.c", "tests/example/generate.c", "tests/example/walk.c",
            "tests/example/own-op.c", "tests/library/explain.py", "tests/library/xor.py"]


def main():
    text = (ROOT / "data/doc/tutorial.md").read_text()
    blocks = re.findall(r"^```(?:c|python)\n(.*?)^```\n\n((?:(?!```)[^\n]*\n)*)(```text)?", text, re.M | re.S)
    faults = 0
    for code, _, output in blocks:
        first = code.splitlines()[0]
        if not output:
            print(f"no output follows the program that begins with {first}")
            faults += 1
    for path in PROGRAMS:
        # Without the licence and the comment or docstring before the first include or import.
        program = re.search(r"^(?:#include|import) .*", (ROOT / path).read_text(), re.M | re.S)[0]
        if [code for code, _, _ in blocks].count(program) != 1:
            print(f"{path} is not shown from its first include or import to its end")
            faults += 1
    if len(blocks) != len(PROGRAMS):
        print(f"{len(blocks)} blocks of code, {len(PROGRAMS)} programs")
        faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
