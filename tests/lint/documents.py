#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that documents name only existing files, in links and quotes, and existing functions.

A quoted path with a placeholder in capitals (`engine/ops/NAME.c`) needs only its folder.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("app", "data", "engine", "kernels", "po", "tests", "ui")


def exists(path):
    parts = pathlib.PurePosixPath(path).parts
    for index, part in enumerate(parts):
        if re.search(r"[A-Z]{4,}|[*…]", part) and not part.endswith(".md"):
            return (ROOT / pathlib.Path(*parts[:index])).is_dir()
    return (ROOT / path).exists()


def find_missing(document, names):
    text = (ROOT / document).read_text()
    for match in re.finditer(r"\]\(([^)#:]+)\)", text):
        if not (ROOT / document).parent.joinpath(match[1]).exists():
            yield text.count("\n", 0, match.start()) + 1, f"no file {match[1]}"
    prose = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    for match in re.finditer(r"`([^`\n]+)`", prose):
        line = prose.count("\n", 0, match.start()) + 1
        quoted = match[1]
        if re.fullmatch(rf"(?:{'|'.join(ROOMS)})/[\w./*…-]*", quoted) and not exists(quoted):
            yield line, f"no file {quoted}"
        for name in re.findall(r"\blig_\w+(?= ?\(\))", quoted):
            if name not in names:
                yield line, f"no function {name}()"


def main():
    def listing(*patterns):
        return subprocess.run([ROOT / "tests/lint/sources.sh", *patterns], capture_output=True,
                              text=True, check=True).stdout.split()
    names = set()
    for source in listing("engine/*.[ch]", "kernels/*.[ch]", "app/*.[ch]", "ui/*.[ch]"):
        names.update(re.findall(r"\blig_\w+", (ROOT / source).read_text()))
    documents, count = listing("*.md"), 0
    for document in documents:
        for line, problem in find_missing(document, names):
            print(f"{document}:{line}: {problem}")
            count += 1
    print(f"{len(documents)} documents, {len(names)} names, {count} missing")
    return 1 if count or not documents or not names else 0


if __name__ == "__main__":
    sys.exit(main())
