#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the sources that include each header of weight.txt, directly or through other headers, and
fails if a header has more than its ceiling there: all of them are recompiled when it changes.

Follows the #include lines of all sources, whatever a build folder is configured to compile. A
source that is compiled several times, like those of kernels/cpu, counts once.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = "tests/lint/weight.txt"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)', re.M)
# The folders in which the compiler looks for headers.
FOLDERS = ("", "engine/include/", "kernels/include/")
# The headers whose families are counted: a new one needs a ceiling.
FAMILIES = re.compile(r"kernels/include/ligature/params[\w-]*\.h$")


def read_ceilings():
    lines = (ROOT / CEILINGS).read_text().splitlines()
    return {path: int(most) for path, most in
            (line.split() for line in lines if line and not line.startswith("#"))}


def read_includes():
    """Returns the project's files that each file includes."""
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", "*.c", "*.h", "*.cu", "*.cuh"],
                             check=True, capture_output=True, text=True)
    files = [file for file in listing.stdout.split() if not file.startswith("tests/lint/")]
    known = set(files)
    return {file: [folder + name for name in INCLUDE.findall((ROOT / file).read_text())
                   for folder in FOLDERS if folder + name in known] for file in files}


def find_read(includes, source):
    """Returns the headers that a source includes."""
    read, ahead = set(), [source]
    while ahead:
        new = set(includes[ahead.pop()]) - read
        read |= new
        ahead += new
    return read


def count_readers(includes):
    counts = dict.fromkeys(includes, 0)
    sources = [file for file in includes if file.endswith((".c", ".cu"))]
    for source in sources:
        for header in find_read(includes, source):
            counts[header] += 1
    return counts, len(sources)


def main():
    ceilings, includes = read_ceilings(), read_includes()
    counts, n_sources = count_readers(includes)
    problems = [f"{CEILINGS}: {header} has no ceiling; add the line `{header} {counts[header]}`"
                for header in includes if FAMILIES.match(header) and header not in ceilings]
    print(f"{n_sources} sources")
    for header, most in ceilings.items():
        if header not in counts:
            problems.append(f"{CEILINGS}: no header {header}; remove its line")
            continue
        count = counts[header]
        print(f"{header:45} {count:5} of at most {most}")
        if count > most:
            problems.append(f"{header}: {count} sources read it, at most {most} may; declare types "
                            "forward in the header that includes it, and include it where its "
                            "names are used")
        elif count < most - max(5, most // 10):
            print(f"  lower its ceiling in {CEILINGS} to {count + max(2, count // 20)}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not n_sources else 0


if __name__ == "__main__":
    sys.exit(main())
