#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each counted noun has a singular and a plural, so that no text contains `1 groups`.

A text with a number before a noun in the plural must be in ngettext() or g_dngettext(). A text that
is not translated must choose the ending itself: `%d step%s`. Limits, and numbers beyond them, are
larger than one. Texts that only programs compare are exempt.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNREAD = {"engine/plan/text.c", "engine/state/state.c"}
LITERAL = r'"(?:\\.|[^"\\\n])*"'
# A text including the macros between its parts: "%" G_GINT64_FORMAT " bytes".
TEXT = re.compile(rf"{LITERAL}(?:\s*(?:G_\w+_FORMAT|PRI\w+|[A-Z_]+\s*(?={LITERAL}))?\s*{LITERAL})*")
COMMENT = re.compile(rf"{LITERAL}|'(?:\\.|[^'\\\n])'|/\*.*?\*/|//[^\n]*", re.S)
CALL = re.compile(r"\bn?(?:g_d)?n?gettext \(")
NUMBER = r"%(?:\d+\$)?-?\d*(?:l|ll|z)?[udi]"
# Words ending in s after a number that are not counted nouns.
OTHER = {"is", "was", "has", "does", "its", "this", "as", "less", "us", "ms", "ns", "times", "belongs",
         "comes", "overlaps", "covers", "gives", "takes", "begins", "ends", "microseconds", "class", "axis"}
COUNTED = re.compile(rf"(more than |at most |at least )?{NUMBER} ((?:[a-z-]+ ){{0,2}}?)([a-z-]+s)\b(?!/|.* at most )")
# Texts with a formatted number as a string before one of these nouns.
WRITTEN = re.compile(r"()%s ((?:[a-z-]+ ){0,1}?)(steps|groups|operations|ops|kernels|runs|samples|rows|files|tokens"
                     r"|images|parameters|labels|repetitions)\b(?!/)")


def blank(match):
    text = match.group()
    return text if text[0] in "\"'" else re.sub(r"[^\n]", " ", text)


def find_calls(source):
    """Yields the positions at which the arguments of each ngettext() begin and end."""
    spans = []
    for match in CALL.finditer(source):
        if "ngettext" not in match.group():
            continue
        depth, at = 1, match.end()
        while depth and at < len(source):
            literal = re.compile(LITERAL).match(source, at)
            if literal:
                at = literal.end()
                continue
            depth += {"(": 1, ")": -1}.get(source[at], 0)
            at += 1
        spans.append((match.start(), at))
    return spans


def join(text):
    """Returns the text as one printf format; each macro becomes a number format."""
    text = re.sub(r'"\s*(?:G_G\w+_FORMAT|PRI\w+)\s*"', "d", text)
    return re.sub(rf'"\s*(?:[A-Z_]+\s*)?"', "", text)[1:-1]


def find_counted(source):
    calls = find_calls(source)
    for match in TEXT.finditer(source):
        if any(start <= match.start() < end for start, end in calls):
            continue
        text = join(match.group())
        for pattern in (COUNTED, WRITTEN):
            for found in pattern.finditer(text):
                words = (found.group(2) + found.group(3)).split()
                if not found.group(1) and OTHER.isdisjoint(words):
                    yield source.count("\n", 0, match.start()) + 1, found.group()


def check_itself():
    bad = ['f ("%u groups")', 'f ("%s: %u extra inputs")', 'f ("%" G_GINT64_FORMAT " bytes")',
           'f (_ ("all %d repetitions"))', 'f (_ ("%s steps"))']
    good = ['f (ngettext ("%u group", "%u groups", n), n)', 'f ("%d step%s", n, s)', 'f ("op %d is bad")',
            'g_dngettext (D, "(%u) group", "%u groups", n)', 'f ("more than %d ops")', 'f ("%d samples/s")']
    for text in bad:
        assert list(find_counted(text)), text
    for text in good:
        assert not list(find_counted(text)), text


def main():
    check_itself()
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", "engine/*.[ch]", "app/*.[ch]", "ui/*.[ch]"],
                             capture_output=True, text=True, check=True)
    files, count = listing.stdout.split(), 0
    for file in set(files) - UNREAD:
        source = COMMENT.sub(blank, (ROOT / file).read_text())
        for line, text in find_counted(source):
            print(f"{file}:{line}: {text}")
            count += 1
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
