#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the project's identifiers contain no rejected words (README, glossary). Names of
GLib, json-glib and CUDA are exempt, as are variables of their types, and the rank group of context
parallelism, whose name is standard.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REJECTED = {"layer", "layers", "executor", "executors", "manager", "managers",
           "util", "utils", "context", "contexts", "node", "nodes",
           "mend", "mends", "mended", "refuse", "refuses", "refused", "refusal", "refusals", "most",
           "least", "ceiling", "ceilings", "hottest", "rehearse", "rehearsed", "processor", "processors"}
ALLOWED = re.compile(r"_?(g|G|gtk|GTK|Gtk|gdk|Gdk|gsk|Gsk|adw|ADW|Adw|pango|Pango|json|JSON|Json|cu|cuda)(_|[A-Z])|layer_norm|LayerNorm"
                     r"|JsonNode|(\w+_)?nodes?$|context$|LIG_GROUP_CONTEXT$|multiProcessorCount$", re.I)
STRIP = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def find_words(text):
    """Yields line and name of each identifier with a rejected word."""
    def blank(match):
        return "\n" * match.group().count("\n") or " "
    for number, line in enumerate(STRIP.sub(blank, text).splitlines(), 1):
        if line.lstrip().startswith("#include"):
            continue
        for name in re.findall(r"[A-Za-z_]\w*", line):
            if REJECTED.isdisjoint(part.lower() for part in PART.findall(name)):
                continue
            rest = re.sub("layer_?norm|transformer_?layer", "", name, flags=re.I)
            if REJECTED.isdisjoint(part.lower() for part in PART.findall(rest)):
                continue
            if not ALLOWED.match(name):
                yield number, name


def main():
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", "engine/*.[ch]", "kernels/*.[ch]",
                              "app/*.[ch]", "ui/*.[ch]"], capture_output=True, text=True, check=True)
    files, found = listing.stdout.split(), 0
    for file in files:
        for word in set(re.split(r"[-/.]", file)) & REJECTED - {"layer"}:
            print(f"{file}: the name contains '{word}'")
            found += 1
        for number, name in find_words((ROOT / file).read_text()):
            print(f"{file}:{number}: {name}")
            found += 1
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
