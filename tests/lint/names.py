#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no two visible types, enumerators, macros or functions share a name.

Names that begin with Lig or LIG_ are checked everywhere, others only if two headers define them:
two source files may use the same private name. Equal definitions count as one.
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Names that sources in several folders of engine may share, because the folder gives the context:
# engine/report/csv.c, engine/graph/step.c.
SHARED_STEMS = {"attention", "check", "choice", "csv", "file", "json", "memory", "names", "op", "ports", "problems", "quantized",
                "quantizers", "range", "registry", "run", "shares", "step", "text", "tuning", "verdicts"}


def list_sources():
    out = subprocess.run(["tests/lint/sources.sh", "*.h", "*.c", "*.cu", "*.cuh"], cwd=ROOT,
                         check=True, capture_output=True, text=True).stdout
    return [line for line in out.split() if not line.startswith("tests/")]


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"",
                  lambda match: match[0] if match[0][0] == '"' else " ", text, flags=re.S)


def find_close(text, start):
    """Returns the position after the brace that closes the one at start."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    raise ValueError("a brace is not closed")


def find_macros(text):
    """Yields names and definitions, without macros that the file undefines."""
    undefined = set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.M))
    for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:.*\\\n)*.*)", text, re.M):
        if match[1] not in undefined:
            yield match[1], match[2].replace("\\\n", " ")


def find_types(text):
    """Yields the names of structs, unions, enums, their enumerators, and of other types."""
    for match in re.finditer(r"\b(typedef\s+)?(struct|union|enum)\s*(\w+)?\s*\{", text):
        end = find_close(text, match.end() - 1)
        body = text[match.end():end - 1]
        if match[3]:
            yield f"struct {match[3]}", body
        name = re.match(r"\s*(\w+)\s*;", text[end:]) if match[1] else None
        if name:
            yield name[1], body
        if match[2] == "enum":
            for index, item in enumerate(re.split(r",", body)):
                word = re.fullmatch(r"\s*(\w+)\s*(?:=.*)?", item, re.S)
                if word:
                    yield word[1], f"{item} of {index}"
    for match in re.finditer(r"\btypedef\s+[^;{}]*?\(\*(\w+)\)([^;]*);", text):
        yield match[1], match[0]
    for match in re.finditer(r"\bG_DECLARE_\w+ \((\w+), \w+, (\w+), (\w+)", text):
        yield match[1], "class"
        yield f"{match[2]}_{match[3]}", "cast"


def find_functions(text):
    """Yields the functions that other files can call."""
    for match in re.finditer(r"^(?!.*\bstatic\b)[A-Za-z][^\n;=]*\n(lig_\w+) \([^;{}]*\)\s*\{", text, re.M):
        yield match[1], "function"


def find_shared_stems(paths):
    """Yields names of engine sources that occur in several rooms."""
    rooms = collections.defaultdict(set)
    for path in map(Path, paths):
        if path.parts[0] == "engine" and path.suffix == ".c":
            rooms[path.stem].add(str(path.parent))
    for stem, folders in sorted(rooms.items()):
        if len(folders) > 1 and stem not in SHARED_STEMS:
            yield f"{stem}.c is in {', '.join(sorted(folders))}"
    for stem in sorted(SHARED_STEMS - {stem for stem, folders in rooms.items() if len(folders) > 1}):
        yield f"names.py: {stem} is not the name of several sources"


def find_homonyms(paths):
    """Yields names with different definitions."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in paths:
        text = strip_comments((ROOT / path).read_text())
        for name, definition in [*find_macros(text), *find_types(text)]:
            found[name][" ".join(definition.split())].append(path)
        for name, definition in find_functions(text):
            found[name][f"{definition} of {path}"].append(path)
    for name, definitions in sorted(found.items()):
        places = sorted({place for several in definitions.values() for place in several})
        headers = [place for place in places if place.endswith((".h", ".cuh"))]
        shared = re.match(r"(struct _?)?(Lig[A-Z]|LIG_|lig_)", name) or len(headers) > 1
        if len(definitions) > 1 and len(places) > 1 and shared:
            yield f"{name} is defined differently in {', '.join(places)}"


def main():
    paths = list_sources()
    problems = [*find_homonyms(paths), *find_shared_stems(paths)]
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
