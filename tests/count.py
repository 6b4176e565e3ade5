#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the results of tests from Meson's test logs: each subtest of TAP programs, other tests as
one.

Usage: count.py [--all BUILD-FOLDER] (BUILD-FOLDER | FILE.tap)...

Lists the skipped tests with reasons, then the failed ones; the last line is `N passed, N failed, N
skipped`. A test that was skipped in one folder and passed in another of the same name counts as passed.
Fails if any test failed, if a folder has no log, or if no test ran; with --all also if a test of that
folder, which need not have run any, ran in no folder.
"""
import argparse
import json
import pathlib
import re
import sys

LINE = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)\s*(?:#\s*(SKIP|TODO)\S*\s*(.*))?$", re.I)
# How many of the last lines of a failed test are listed.
NOTES = 12
PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\S*\s*(.*))?$", re.I)


def short_name(test):
    """Returns the name without the project and the suites, which Meson's log writes before it."""
    return test["name"].rsplit(" / ", 1)[-1]


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []
        self.ran = set()

    def add_line(self, name, match, notes):
        failed, number, title, directive, reason = match.groups()
        where = f"{name} {title or number or ''}".rstrip()
        directive = (directive or "").upper()
        if directive == "SKIP":
            self.skipped.append((where, reason or "no reason given"))
        elif failed and directive != "TODO":
            self.failed.append((where, "\n    ".join(["not ok"] + notes[-NOTES:])))
        else:
            self.passed.append(where)

    def add_tap(self, name, test):
        """Adds the lines of a TAP program, and a failure if it ended badly or early without one."""
        failed_before, lines, plan, notes = len(self.failed), 0, None, []
        for text in test.get("stdout", "").splitlines():
            if text.startswith("#"):
                notes.append(text)
            elif match := PLAN.match(text):
                plan = int(match[1])
                if plan == 0:
                    self.skipped.append((name, match[2] or "no reason given"))
            elif match := LINE.match(text):
                lines += 1
                self.add_line(name, match, notes + test.get("stderr", "").splitlines())
                notes = []
        good = test["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
        if len(self.failed) == failed_before and (not good or plan != lines):
            extent = f"{lines} of {'?' if plan is None else plan} subtests"
            self.failed.append((name, f"{test['result'].lower()} after {extent}"))

    def add(self, folder, test):
        name = short_name(test)
        self.ran.add(name)
        if folder != "build-test":
            name = f"{folder}: {name}"
        is_tap = any(PLAN.match(text) or LINE.match(text)
                     for text in test.get("stdout", "").splitlines())
        if is_tap:
            self.add_tap(name, test)
        elif test["result"] == "OK":
            self.passed.append(name)
        elif test["result"] == "SKIP":
            reason = (test.get("stdout") or "").strip().splitlines()
            self.skipped.append((name, reason[-1] if reason else "no reason given"))
        else:
            self.failed.append((name, test["result"].lower()))

    def add_folder(self, path):
        try:
            log = (path / "meson-logs" / "testlog.json").read_text()
        except OSError:
            log = ""
        if not log:
            self.failed.append((str(path), "no test ran"))
        for line in log.splitlines():
            self.add(path.name, json.loads(line))

    def check_all(self, path):
        """Adds a failure for each test of a configured folder that ran in none."""
        try:
            tests = json.loads((path / "meson-info" / "intro-tests.json").read_text())
        except OSError:
            tests = []
            self.failed.append((str(path), "not configured"))
        for name in sorted({short_name(test) for test in tests} - self.ran):
            self.failed.append((name, "ran nowhere"))

    def list_skipped(self):
        """Returns the skipped subtests, and the programs that were skipped as a whole, of which none
        passed elsewhere."""
        passed = set(self.passed) | {name.split()[0] for name in self.passed}
        return [entry for entry in self.skipped if entry[0] not in passed]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    count = Count()
    for path in arguments.results:
        if path.suffix == ".tap":
            count.add_tap(path.stem, {"stdout": path.read_text(), "result": "OK"})
        else:
            count.add_folder(path)
    if arguments.all:
        count.check_all(arguments.all)
    skipped = count.list_skipped()
    for title, entries in ("Skipped", skipped), ("Failed", count.failed):
        if entries:
            print(f"{title}:")
        for name, reason in entries:
            print(f"  {name}: {reason}")
    print(f"{len(count.passed)} passed, {len(count.failed)} failed, {len(skipped)} skipped")
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
