#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The code blocks of data/doc/tutorial.md are parts of the programs that tests build and run."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {"c": ["tests/example/train.c", "tests/example/walk.c", "tests/example/own-op.c"],
           "python": ["tests/library/embed.py"]}


def main():
    text = (ROOT / "data/doc/tutorial.md").read_text()
    counts = dict.fromkeys(SOURCES, 0)
    faults = 0
    for language, code in re.findall(r"^```(c|python)\n(.*?)^```$", text, re.M | re.S):
        counts[language] += 1
        if not any(code in (ROOT / path).read_text() for path in SOURCES[language]):
            print(f"this block is in none of {', '.join(SOURCES[language])}:\n{code}")
            faults += 1
    # The tutorial must show all code between the marks of each program.
    for path in sum(SOURCES.values(), []):
        shown = re.findall(r"tutorial\.md shows the code from here on[^\n]*\n+(.*?)\n+[^\n]*"
                           r"tutorial\.md shows the code up to here", (ROOT / path).read_text(), re.S)
        if not shown:
            print(f"{path}: no code is marked as shown in the tutorial")
            faults += 1
        for part in shown:
            if part.strip("\n") not in text:
                print(f"{path}: this is not shown:\n{part}")
                faults += 1
    if min(counts.values()) < 3:
        print(f"only {counts} blocks")
        faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
