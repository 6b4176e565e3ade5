#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every function of a public header has its own comment block with each argument and
the return value. The bindings and the reference are made from these blocks.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = sorted([*ROOT.glob("engine/include/ligature/*.h"),
                  *ROOT.glob("kernels/include/ligature/*.h")])
BLOCK = re.compile(r"/\*\*\n \* (\w+):.*?\n(.*?)\*/\n", re.S)
FUNCTION = re.compile(r"^LIG_API\s+([^;{]*?)(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)[^;()]*(?:\([^()]*\))?;",
                      re.S | re.M)


def strip_comments(text):
    """Returns the text with comments blanked, at the same offsets."""
    return re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)


def arguments(text):
    for argument in re.split(r",(?![^()]*\))", text):
        argument = argument.strip()
        if argument in ("void", "..."):
            continue
        name = re.search(r"(\w+)\s*(?:\[\w*\])?$", argument)
        # An error needs no description: the return value reports it.
        if name and name[1] != "error":
            yield name[1]


def check(header):
    text = header.read_text()
    blocks = {match[1]: match for match in BLOCK.finditer(text)}
    for match in FUNCTION.finditer(strip_comments(text)):
        returned, name, listed = match[1].strip(), match[2], match[3]
        if name.endswith("_get_type") or "G_DECLARE" in match[0]:
            continue
        block = blocks.get(name)
        # The block must be directly before the declaration.
        if not block or text[block.end():match.start()].strip():
            yield name, "no comment block of its own"
            continue
        for argument in arguments(listed):
            if not re.search(rf"^ \* @{argument}: *(\(.*?\): *)?\S", block[2], re.M):
                yield name, f"@{argument}: is missing"
        if returned != "void" and not re.search(r"^ \* Returns: *\S", block[2], re.M):
            yield name, "Returns: is missing"


def main():
    found, functions = 0, 0
    for header in HEADERS:
        functions += len(FUNCTION.findall(strip_comments(header.read_text())))
        for name, fault in check(header):
            print(f"{header.relative_to(ROOT)}: {name}: {fault}")
            found += 1
    if functions < 200:
        print(f"only {functions} functions were found in {len(HEADERS)} headers")
    return 1 if found or functions < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
