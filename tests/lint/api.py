#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the public functions that nothing outside the engine uses: no program, example, binding,
op or fusion, and no document names them. Such a function must become private or have a reason in
api-kept.txt; the number of those without one is limited by the ceiling there, which is only
lowered. --list prints them.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = "tests/lint/api-kept.txt"
# The users of the library outside the engine.
USERS = ("app/*.[ch]", "ui/*.[ch]", "tests/example/*.c", "tests/library/*", "data/doc/*.md", "README.md",
         "engine/ops/*.[ch]", "engine/fusions/*.[ch]")
# Part of each type: called by the macros of GLib and by bindings.
OF_TYPES = re.compile(r"_(?:get_type|ref|unref|copy|free|new|quark)$")
DECLARED = re.compile(r"^LIG_API\b[^;{]*?\b(lig_\w+) ?\(", re.M)


def list_files(*patterns):
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", *patterns], check=True,
                             capture_output=True, text=True)
    return listing.stdout.split()


def read_declared():
    """Returns the public functions by the header that declares them."""
    return {name: file for file in list_files("engine/include/*.h")
            for name in DECLARED.findall((ROOT / file).read_text())}


def read_used():
    return set(re.findall(r"\blig_\w+", " ".join((ROOT / file).read_text() for file in list_files(*USERS))))


def read_kept():
    """Returns the ceiling, and the functions that have a reason: lines like `lig_name: reason`."""
    lines = [line for line in (ROOT / KEPT).read_text().splitlines() if line and not line.startswith("#")]
    return int(lines[0].split()[1]), [line.split(": ", 1)[0] for line in lines[1:]]


def main():
    declared, used = read_declared(), read_used()
    most, kept = read_kept()
    unused = {name: file for name, file in declared.items() if name not in used and not OF_TYPES.search(name)}
    problems = [f"{KEPT}: {name}() needs no reason" for name in kept if name not in unused]
    left = [name for name in unused if name not in kept]
    print(f"{len(declared)} public functions; {len(kept)} of the engine's alone have a reason, {len(left)} of "
          f"at most {most} have none")
    if len(left) > most or "--list" in sys.argv:
        print("\n".join(f"  {unused[name]}: {name}" for name in left))
    if len(left) > most:
        problems.append(f"make the function private, or give its reason in {KEPT}")
    elif len(left) < most:
        problems.append(f"{KEPT}: the ceiling is {most}, it can be lowered to {len(left)}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
