#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the length of files and functions and prints those that are too long.

A function counts from its return type, on the line above its name, to its closing brace.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_LINES = 1000
# The maximum number of lines of a function in each folder. A kernel may be longer, because its
# reading, computing and writing belong together. A test may be longer, because it is a list of
# cases.
FUNCTION_LINES = {"engine/": 60, "app/": 60, "ui/": 60, "kernels/": 120, "tests/": 120}


def find_functions(lines):
    """Yields name, first line and length of each function of a formatted file."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            head = start - 1
            while head > 0 and lines[head - 1] and not lines[head - 1].startswith(("}", "#", "/*")):
                head -= 1
            text = " ".join(lines[head:start - 1])
            name = re.search(r"(\w+) \(", text)
            yield name[1] if name else "?", head + 1, number - head
            start = None


def main():
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", "*.c", "*.h", "*.cu", "*.cuh", "*.py",
                              "*.sh", "*.sql", "*.ui", "setup"],
                             capture_output=True, text=True, check=True)
    offenders, files, functions = [], listing.stdout.split(), 0
    for file in files:
        lines = (ROOT / file).read_text().splitlines()
        if len(lines) > FILE_LINES:
            offenders.append((file, "", len(lines), FILE_LINES))
        most = next((n for folder, n in FUNCTION_LINES.items() if file.startswith(folder)), None)
        if not most or not file.endswith((".c", ".h", ".cu", ".cuh")):
            continue
        for name, line, length in find_functions(lines):
            functions += 1
            if length > most:
                offenders.append((f"{file}:{line}", name, length, most))
    print(f"{len(files)} files, {functions} functions")
    for where, name, length, most in offenders:
        print(f"{where:48} {name:32} {length:4} lines, at most {most}")
    return 1 if offenders or not functions else 0


if __name__ == "__main__":
    sys.exit(main())
