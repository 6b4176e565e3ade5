#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the files of each room that call each other in a circle, directly or through other files,
and fails if a room has more of them than its ceiling in circles.txt. A file in a circle cannot be
understood, tested or replaced without all others in it.

Usage: circles.py BUILD [ROOM]

Reads the symbols of the object files of a build folder: a file calls another if it uses a function
that the other defines. With a room also prints each call of its circles.
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = "tests/lint/circles.txt"
# The folders of object files, and the prefix of their sources.
FOLDERS = {"engine/libligature-inside.a.p": "engine/", "app/lig.p": "app/", "ui/libligature-ui.a.p": "ui/",
           "ui/libligature-document.a.p": "ui/", "app/libligature-app.a.p": "app/"}


def read_ceilings():
    lines = (ROOT / CEILINGS).read_text().splitlines()
    return {room: int(most) for room, most in
            (line.split() for line in lines if line and not line.startswith("#"))}


def find_sources():
    """Returns the sources by the names that Meson gives their objects, which have _ for /."""
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", "engine/*.c", "app/*.c", "ui/*.c"],
                             check=True, capture_output=True, text=True)
    return {file.replace("/", "_"): file for file in listing.stdout.split()}


def list_objects(build):
    """Returns the object files by source."""
    sources, found = find_sources(), {}
    for folder, prefix in FOLDERS.items():
        for path in (build / folder).glob("*.c.o"):
            source = sources.get((prefix + path.name[:-2]).replace("/", "_"))
            if source:
                found.setdefault(source, path)
    return found


def read_symbols(objects):
    """Returns the functions that each source defines, and the symbols that it uses of others."""
    defined, used = {}, collections.defaultdict(set)
    by_path = {str(path): source for source, path in objects.items()}
    result = subprocess.run(["nm", "-A", "--format=posix", *by_path], check=True, capture_output=True,
                            text=True)
    for line in result.stdout.splitlines():
        match = re.match(r"(.*?): (\S+) (\w)", line)
        if match and match[3] == "T":
            defined[match[2]] = by_path[match[1]]
        elif match and match[3] == "U":
            used[by_path[match[1]]].add(match[2])
    return defined, used


def find_calls(objects):
    """Returns, by source, the functions that it calls by the source that defines them."""
    defined, used = read_symbols(objects)
    calls = {source: collections.defaultdict(set) for source in objects}
    for source, symbols in used.items():
        for symbol in symbols & defined.keys():
            calls[source][defined[symbol]].add(symbol)
    return calls


def find_circles(calls, files):
    """Returns the circles among these files, the largest first: those that reach each other."""
    def reach(start):
        found, ahead = set(), [start]
        while ahead:
            new = {file for file in calls[ahead.pop()] if file in files} - found
            found |= new
            ahead += new
        return found
    reached = {file: reach(file) for file in files}
    circles = {frozenset(other for other in files if other in reached[file] and file in reached[other])
               for file in files if file in reached[file]}
    return sorted((circle for circle in circles if len(circle) > 1), key=lambda c: (-len(c), sorted(c)))


def show(calls, circle):
    for file in sorted(circle):
        for other in sorted(set(calls[file]) & circle):
            print(f"  {file} -> {other}: {' '.join(sorted(calls[file][other]))}")


def main():
    build = Path(sys.argv[1])
    objects = list_objects(build)
    calls, ceilings, problems = find_calls(objects), read_ceilings(), []
    rooms = collections.defaultdict(set)
    for file in objects:
        rooms[str(Path(file).parent)].add(file)
    for room, files in sorted(rooms.items()):
        circles = find_circles(calls, files)
        count, most = sum(map(len, circles)), ceilings.pop(room, 0)
        if count or most:
            print(f"{room:20} {count:3} of at most {most}: {' + '.join(str(len(c)) for c in circles)}")
        if count > most:
            problems.append(f"{room}: {count} files call each other in circles, at most {most} may; "
                            f"`tests/lint/circles.py BUILD {room}` lists the calls; move a function down")
        elif count < most:
            problems.append(f"{CEILINGS}: {room} has {most}, it can be lowered to {count}")
        if room in sys.argv[2:]:
            for circle in circles:
                print(f" {len(circle)}: {' '.join(sorted(Path(file).name for file in circle))}")
                show(calls, circle)
    problems += [f"{CEILINGS}: there is no room {room}" for room in ceilings if not (ROOT / room).is_dir()]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
