#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the numbers that documents quote with what commands print, as TAP without numbers.

figures.py FOLDER DOCUMENT...: runs in FOLDER, which has the files of the project, with `lig` on the
path. The comment `<!-- figures: COMMAND -->` belongs to the paragraph or the table after it.
A table must be the output of the command; LIGATURE_REGENERATE renews it. In a paragraph, each
number with a unit must be one that the command prints. Elsewhere the guides have no number of bytes
or seconds in prose, and no block of output without the `sh quote` that makes it (readme.sh compares
these).
"""
import os
import pathlib
import re
import subprocess
import sys

# The documents whose numbers are all printed by commands; gpu.md also has those of data sheets.
GUIDES = ("README.md", "command-line.md", "parallel.md", "recipes.md", "runs.md", "tutorial.md",
          "window.md", "json.md")
FIGURES = re.compile(r"<!-- figures:(.*?)-->\n\n?((?:[^\n]+\n)+)", re.S)
NUMBER = re.compile(r"\d[\d.,]*\s(?:[kMGT]?B|[mnµ]s|%|values)(?!\w)")
# Units that prose uses only for what commands print.
STRAY = re.compile(r"\s(?:[kMGT]?B|[mnµ]s)$")
BLOCK = re.compile(r"^```([^\n]*)\n.*?^```$", re.M | re.S)


def find_numbers(text):
    """Returns the numbers with units of a text, each with one space before its unit."""
    return [re.sub(r"\s+", " ", number) for number in NUMBER.findall(text)]


def find_stray(document, text):
    """Yields numbers that no command prints, and outputs that no command makes."""
    bare = FIGURES.sub("", text)
    bare = re.sub(r"<!--.*?-->", "", BLOCK.sub("", bare), flags=re.S)
    bare = re.sub(r"`[^`\n]*`", "", bare)
    if document.name in GUIDES:
        for number in filter(STRAY.search, find_numbers(bare)):
            yield f"'{number}' is quoted without the command that prints it"
    # The programs of the tutorial are run by tests/library/shown.py.
    makers = ("sh quote", "c", "python") if document.name == "tutorial.md" else ("sh quote",)
    before = None
    for kind in BLOCK.findall(text):
        if document.name in GUIDES and kind in ("text", "") and before not in makers:
            yield f"a block of output follows a block '{before}' instead of 'sh quote'"
        before = kind


def compare(command, part, folder):
    """Returns the faults of a paragraph or table, and the output of its command."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, text=True,
                          env=dict(os.environ, COLUMNS="80"), capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0 or not done.stdout:
        return [f"exit code {done.returncode}: {done.stderr}"], done.stdout
    if part.startswith("|"):
        shown, made = part.splitlines(), done.stdout.splitlines()
        return [f"the table has {line}" for line in shown if line not in made] + [
            f"the command prints {line}" for line in made if line not in shown], done.stdout
    printed = find_numbers(done.stdout)
    quoted = find_numbers(part)
    if not quoted:
        return ["no number with a unit is quoted"], done.stdout
    return [f"'{number}' is none of {', '.join(printed)}" for number in quoted
            if number not in printed], done.stdout


def check_itself():
    name = pathlib.Path("README.md")
    assert list(find_stray(name, "It takes 3.5 GB.\n"))
    assert list(find_stray(name, "```text\na\n```\n"))
    assert not list(find_stray(name, "`3.5 GB`\n\n<!-- figures: true -->\n\nIt takes 3.5 GB.\n"))
    assert compare("echo 3.5 GB", "It takes\n3.5 GB\n", ".")[0] == []
    assert compare("echo 3.5 GB", "It takes 3.6 GB\n", ".")[0]


def main():
    check_itself()
    folder = sys.argv[1]
    for document in map(pathlib.Path, sys.argv[2:]):
        text = document.read_text(encoding="utf-8")
        for command, part in FIGURES.findall(text):
            faults, output = compare(command.strip(), part, folder)
            if faults and part.startswith("|") and os.environ.get("LIGATURE_REGENERATE"):
                document.write_text(document.read_text(encoding="utf-8").replace(part, output),
                                    encoding="utf-8")
                faults = []
            title = command.strip().splitlines()[0]
            print(f"{'not ok' if faults else 'ok'} - {document.name}: the figures of {title}")
            print("".join(f"# {fault}\n" for fault in faults), end="")
        stray = list(find_stray(document, text))
        print(f"{'not ok' if stray else 'ok'} - {document.name}: each figure has its command")
        print("".join(f"# {fault}\n" for fault in stray), end="")


if __name__ == "__main__":
    main()
