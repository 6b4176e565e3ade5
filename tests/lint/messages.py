#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The messages of the library do not mention the command line: they name settings and fields.
Reports are exempt, because they contain the command that reproduces them."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRIP = re.compile(r"/\*.*?\*/", re.S)
OPTION = re.compile(r"(^|[ ';`])--[a-z]|\b(see|with|by) lig [a-z]")


def main():
    files = [path for path in sorted(ROOT.glob("engine/*/*.c")) if path.parent.name != "report"]
    faults = 0
    for path in files:
        text = STRIP.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
        for number, line in enumerate(text.splitlines(), 1):
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
                if OPTION.search(literal):
                    print(f"{path.relative_to(ROOT)}:{number}: {literal}")
                    faults += 1
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
