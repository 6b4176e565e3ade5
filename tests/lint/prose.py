#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The prose of the project follows the rules of CONTRIBUTING.md, as far as a script can tell.

Reads comments, messages, interface texts and documents, and prints each sentence that opens with
What, Who or Where without being a question, each word that has a plainer alternative, and, with
codespell installed, each misspelling.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATTERNS = ["*.c", "*.h", "*.cu", "*.cuh", "*.py", "*.sh", "*.css", "*.sql", "*.md", "*.ui", "*.in",
            "*.build", "setup"]
# A pattern, and its replacement.
PLAINER = [
    (r"(?:^|[.:;!] +)(?:What|Who|Whom|Whose|Where)\b(?! (?:is|are|does|do|did|was|were|can|if)\b[^.]*\?)(?![^.]*\?)",
     "name the subject first"),
    (r"\banew\b", "again, afresh"),
    (r"\bmeanwhile\b", "in parallel, in the meantime"),
    (r"\b(?:stands|stood)\b(?! for\b)", "is, appears, is listed"),
    (r"\blies\b", "is, is stored"),
    (r"\b(?:tells|told)\b", "reports, says, distinguishes"),
    (r"\bheed(?:s|ed|less)?\b", "respect, consider"),
    (r"\bpolite(?:ly)?\b", "name the behaviour"),
    (r"\btroubles?\b", "error, problem"),
    (r"\bsettle[sd]?\b", "decide, wait until stable"),
    (r"\bwanted by\b|\bnobody wants\b|\bwho wants\b", "used by, requested by"),
    (r"\b(?:is|are|was|were) not there\b|\b(?:that|which|what) (?:is|are|was|were) there\b",
     "missing, available, exists"),
    (r"\bwhat is no(?:t|ne)?\b", "name the thing"),
    (r"\b[Ww]hat (?:is|was|are) (?:said|meant|left|given|asked)\b", "name the thing"),
    (r"\bside by side\b", "in parallel, concurrently"),
    (r"\bof late\b|\bwherever\b|\bwhence\b|\bthence\b|\bnought\b|\bwhomever\b", "use a plain word"),
    (r"\bthe news\b|\bnews go\b", "notification, change"),
    (r"\bgoes? on with\b|\bwent on with\b", "continues"),
    (r"\bmatrix products?\b", "matmul"),
    (r"\bmend(?:s|ed|ing)?\b", "fix"),
    (r"\brefus(?:e[sd]?|ing|als?)\b", "reject, is not supported"),
    (r"\btak(?:e|es|en|ing) apart\b", "expand"),
    (r"\brehears(?:e[sd]?|als?)\b", "warm up, autotune"),
    (r"\bcomput(?:e[sd]?|ing) again\b", "recompute"),
    (r"\boptimizer's arrays\b", "optimizer state"),
    (r"\bin one reading\b", "in one pass over memory"),
    (r"\bthe other way\b(?! a?round)", "otherwise"),
    (r"\b[Tt]he present\b", "current"),
    (r"\btravel(?:s|led)?\b", "is sent"),
]
# Turns that are right in some places: a name for prose.txt, a pattern, and what to write instead.
COUNTED = {
    "training": (r"\btrainings\b|\b[Aa] training\b(?! (?:run|step|data|loop|loss|batch))", "run, training run"),
    "processor": (r"\b(?<!multi)processors?\b", "CPU"),
    "own": (r"\bown (?:kernel|matmul)s?\b", "built-in kernel"),
    "alone": (r"\balone\b", "only, by itself, unfused"),
    "beside": (r"\bbeside\b", "next to, concurrently with"),
    "as": (r", as\b(?! (?:if|well|long|soon|in|of|by|with|for|many|much|few|an?|the same|is|are|on|at)\b)", "because"),
    "is-no": (r"\b(?:is|are|was|were) no\b(?! (?:longer|more|less|other))", "is not a"),
    "behind": (r"\bbehind\b", "after, past the end"),
    "left-out": (r"\bl(?:eft|eaves?) out\b", "omitted"),
    "go-on": (r"\bgo(?:es)? on\b|\bwent on\b", "continue"),
    "add-up": (r"\badd(?:s|ed)? up\b", "sum"),
    "likewise": (r"\blikewise\b", "say it again, or combine"),
    "nobody": (r"\bnobody\b", "name the subject"),
    "held-out": (r"\bheld out\b", "validation"),
}
COUNTED = {name: (re.compile(pattern), remedy) for name, (pattern, remedy) in COUNTED.items()}
LIMITS = pathlib.Path(__file__).with_name("prose.txt")
RECORDS = "tests/bench/results/"
PLAINER = [(re.compile(pattern), remedy) for pattern, remedy in PLAINER]
C_TOKEN = re.compile(r'/\*(?P<block>.*?)\*/|//(?P<line>[^\n]*)|(?P<text>"(?:\\.|[^"\\\n])*"'
                     r'(?:\s*"(?:\\.|[^"\\\n])*")*)|\'(?:\\.|[^\'\\\n])\'', re.S)
HASH = re.compile(r'(?P<hash>(?:^[ \t]*#(?!!)[^\n]*\n?)+)|(?P<doc>"""(?:.*?)""")', re.M | re.S)
SQL = re.compile(r"(?P<hash>(?:^.*?--[^\n]*\n?)+)", re.M)
UI = re.compile(r'translatable="[^"]*"[^>]*>(?P<text>[^<]*)<', re.S)
# Words that codespell takes for misspellings, and a file of German sentences.
SPELT_SO = "gir,inout,linaer,trough"
NOT_ENGLISH = "tests/base/translation.c"


def flatten(text):
    return re.sub(r"\s*\n[ \t]*(?:\*|#|--)?[ \t]*", " ", text).strip(" \t*#-")


def find_prose(file, source):
    """Yields offset and text of each comment and each message of three words or more."""
    if file.endswith(".md"):
        source = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), source, flags=re.M | re.S)
        source = re.sub(r"`[^`\n]*`", "`code`", source)
        for match in re.finditer(r"(?:^(?![ \t]*$).*\n?)+", source, re.M):
            yield match.start(), flatten(match[0])
        return
    if file.endswith((".c", ".h", ".cu", ".cuh", ".css")):
        pattern = C_TOKEN
    elif file.endswith(".sql"):
        pattern = SQL
    elif file.endswith(".ui"):
        pattern = UI
    else:
        pattern = HASH
    for match in pattern.finditer(source):
        kind = match.lastgroup
        if not kind:
            continue
        text = match[kind]
        if kind == "text" and pattern is C_TOKEN:
            text = re.sub(r'"\s*"', "", text)[1:-1]
            if len(re.findall(r"[a-z]{2,} ", text)) < 2:
                continue
        yield match.start(), flatten(text)


def check_prose(file):
    source = (ROOT / file).read_text(encoding="utf-8", errors="replace")
    count = 0
    for offset, text in find_prose(file, source):
        for pattern, remedy in PLAINER:
            for found in pattern.finditer(text):
                line = source.count("\n", 0, offset) + 1
                around = text[max(0, found.start() - 30):found.end() + 40]
                print(f"{file}:{line}: '{found[0].strip()}' ({remedy}): {around}")
                count += 1
    return count


def check_counts(files):
    """Compares the numbers of counted turns with prose.txt; prints the places of one that has grown."""
    limits = dict(line.split() for line in LIMITS.read_text().splitlines() if line[:1] not in "#")
    places = {name: [] for name in COUNTED}
    for file in files:
        source = (ROOT / file).read_text(encoding="utf-8", errors="replace")
        for offset, text in find_prose(file, source):
            for name, (pattern, _) in COUNTED.items():
                places[name] += [f"{file}:{source.count(chr(10), 0, offset) + 1}"] * len(pattern.findall(text))
    count = 0
    for name, found in places.items():
        limit = int(limits.get(name, 0))
        if len(found) > limit:
            print(*found, sep="\n")
            print(f"'{name}' occurs {len(found)} times, at most {limit} are allowed: {COUNTED[name][1]}")
        elif len(found) < limit:
            print(f"{LIMITS.name}: {name} is {limit}, it can be lowered to {len(found)}")
        count += len(found) != limit
    return count


def check_spelling(files):
    if not shutil.which("codespell"):
        print("codespell is not installed: spelling was not checked")
        return 0
    english = [file for file in files if str(file) != NOT_ENGLISH]
    result = subprocess.run(["codespell", "--ignore-words-list", SPELT_SO, *english], cwd=ROOT,
                            capture_output=True, text=True)
    print(result.stdout, end="")
    return len(result.stdout.splitlines())


def check_itself():
    bad = ["What a plan is.", "It ends. Where it lies, nobody knows.", "the text stands in the file"]
    good = ["What does it do?", "NULL stands for nothing.", "Returns what the caller asked for."]
    for text in bad:
        assert any(pattern.search(text) for pattern, _ in PLAINER), text
    for text in good:
        assert not any(pattern.search(text) for pattern, _ in PLAINER), text


def main():
    check_itself()
    prefixes = tuple(sys.argv[1:])
    listing = subprocess.run([ROOT / "tests/lint/sources.sh", *PATTERNS], capture_output=True,
                             text=True, check=True)
    files = [file for file in listing.stdout.split()
             if file.startswith(prefixes or "") and file != "tests/lint/prose.py"]
    written = [file for file in files if not file.startswith(RECORDS) and file != "NEWS"]
    count = sum(check_prose(file) for file in written) + (check_spelling(files) if files else 0)
    count += 0 if prefixes else check_counts(written)
    print(f"{len(files)} files, {count} findings")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
