#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the places outside engine/ops and engine/fusions that know an op or a kernel by its name,
and fails if a room has more of them than its ceiling in op-names.txt: comparisons with a registered
op's name, lists of names that a comparison reads, ops made by lig_op_new(), and comparisons of a
kernel's name. Such a place should ask for a trait of the op or kernel, which a new one can also
have.

Usage: op-names.py [ROOM...]: also lists the places of these rooms.

A plain string is not enough: `bias`, `attention` and `quantize` are also ports, members and
kernels.
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CEILINGS = "tests/lint/op-names.txt"
COMPARISONS = (r"(?:g_str_equal|strcmp|strncmp|g_strcmp0|strstr|g_strv_contains|g_str_has_prefix|"
               r"g_str_has_suffix|lig_op_new|lig_op_info_find)")
COMPARED = re.compile(COMPARISONS + r" ?\(")
# `"gelu"` in a comparison's argument; in a list that is read elsewhere in the file.
STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
LIST = re.compile(r"\bstatic const (?:char \*const|struct \{[^}]*\}) \w+\[\](?:\[\d+\])? ?= ?\{(.*?)\};", re.S)
KERNEL = re.compile(COMPARISONS + r" ?\([^;]*?kernel->(?:info->)?name[^;]*?[;{]")


def read_ceilings():
    """Returns the ceilings of rooms, and the words in files that do not mean ops, each with a
    reason: lines like `engine/x/y.c word: the reason`."""
    lines = [line for line in (ROOT / CEILINGS).read_text().splitlines() if line and not line.startswith("#")]
    exempt = {tuple(line.split(": ")[0].split()) for line in lines if ": " in line}
    return {room: int(most) for room, most in (line.split() for line in lines if ": " not in line)}, exempt


def list_sources(*patterns):
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", *patterns], check=True,
                             capture_output=True, text=True)
    return listing.stdout.split()


def find_names():
    """Returns the names of all ops, from their tables."""
    names = set()
    for file in list_sources("engine/ops/*.c"):
        for table in re.findall(r"LIG_DEFINE_OP ?\(\w+\) = \{(.*?)\n\};", (ROOT / file).read_text(), re.S):
            names.update(re.findall(r'^  \.name = "([\w-]+)"', table, re.M))
            names.update(re.findall(r'^  LIG_\w+ ?\(\s*"([\w-]+)"', table, re.M))
        names.update(re.findall(r'^LIG_DEFINE_\w+ ?\(\w+,\s*"([\w-]+)"', (ROOT / file).read_text(), re.M))
    return names


def read_call(text, start):
    """Returns the arguments of the call whose parenthesis opens at start."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at]
    return text[start:]


def names_in(text, names):
    """Returns the names of ops among the strings of a text."""
    return [string for string in STRING.findall(text) if string in names]


def find_places(text, names):
    """Yields line and name of each place."""
    text = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)
    compares = COMPARED.search(text) is not None
    for match in COMPARED.finditer(text):
        call = read_call(text, match.end() - 1)
        for name in names_in(call, names):
            yield text.count("\n", 0, match.start()) + 1, name
        if re.search(r"kernel->name", call) and STRING.search(call):
            yield text.count("\n", 0, match.start()) + 1, "kernel " + STRING.search(call)[1]
    for match in LIST.finditer(text):
        for name in names_in(match[1], names) if compares else []:
            yield text.count("\n", 0, match.start()) + 1, name


def main():
    names, (ceilings, exempt) = find_names(), read_ceilings()
    rooms, problems, unused = collections.defaultdict(list), [], set(exempt)
    for file in list_sources("engine/*.[ch]", "app/*.[ch]", "ui/*.[ch]"):
        if not file.startswith(("engine/ops/", "engine/fusions/")):
            for line, name in find_places((ROOT / file).read_text(), names):
                if (file, name) in exempt:
                    unused.discard((file, name))
                else:
                    rooms[str(Path(file).parent)].append(f"  {file}:{line}: {name}")
    print(f"{len(names)} ops")
    for room in sorted({*rooms, *ceilings}):
        count, most = len(rooms[room]), ceilings.get(room, 0)
        print(f"{room:20} {count:3} of at most {most}")
        if count > most or room in sys.argv[1:]:
            print("\n".join(rooms[room]))
        if count > most:
            problems.append(f"{room}: {count} names of ops or kernels are known, at most {most} may be; "
                            "ask for a trait, which the op's table has")
        elif count < most:
            problems.append(f"{CEILINGS}: {room} has {most}, it can be lowered to {count}")
    problems += [f"{CEILINGS}: {' '.join(words)} needs no reason" for words in sorted(unused)]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())
