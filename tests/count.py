#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the results of tests from Meson's test logs: each subtest of TAP programs, other tests as
one.

Usage: count.py (BUILD-FOLDER | FILE.tap)... Lists the skipped tests with reasons, then the failed
ones; the last line is `N passed, N failed, N skipped`. Fails if any test failed, if a folder has no
log, or if no test ran.
"""
import json
import pathlib
import re
import sys

LINE = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)\s*(?:#\s*(SKIP|TODO)\S*\s*(.*))?$", re.I)
PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\S*\s*(.*))?$", re.I)


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def add_line(self, name, match):
        failed, number, title, directive, reason = match.groups()
        where = f"{name} {title or number or ''}".rstrip()
        directive = (directive or "").upper()
        if directive == "SKIP":
            self.skipped.append((where, reason or "no reason given"))
        elif failed and directive != "TODO":
            self.failed.append((where, "not ok"))
        else:
            self.passed += 1

    def add_tap(self, name, test):
        """Adds the lines of a TAP program, and a failure if it ended badly or early without one."""
        failed_before, lines, plan = len(self.failed), 0, None
        for text in test.get("stdout", "").splitlines():
            if match := PLAN.match(text):
                plan = int(match[1])
                if plan == 0:
                    self.skipped.append((name, match[2] or "no reason given"))
            elif match := LINE.match(text):
                lines += 1
                self.add_line(name, match)
        good = test["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
        if len(self.failed) == failed_before and (not good or plan != lines):
            extent = f"{lines} of {'?' if plan is None else plan} subtests"
            self.failed.append((name, f"{test['result'].lower()} after {extent}"))

    def add(self, folder, test):
        name = test["name"].rsplit(" / ", 1)[-1]
        if folder != "build-test":
            name = f"{folder}: {name}"
        is_tap = any(PLAN.match(text) or LINE.match(text)
                     for text in test.get("stdout", "").splitlines())
        if is_tap:
            self.add_tap(name, test)
        elif test["result"] == "OK":
            self.passed += 1
        elif test["result"] == "SKIP":
            reason = (test.get("stdout") or "").strip().splitlines()
            self.skipped.append((name, reason[-1] if reason else "no reason given"))
        else:
            self.failed.append((name, test["result"].lower()))


def main():
    count = Count()
    for folder in sys.argv[1:]:
        path = pathlib.Path(folder)
        if path.suffix == ".tap":
            count.add_tap(path.stem, {"stdout": path.read_text(), "result": "OK"})
            continue
        log = pathlib.Path(folder) / "meson-logs" / "testlog.json"
        try:
            tests = [json.loads(line) for line in log.read_text().splitlines()]
        except OSError:
            tests = []
        if not tests:
            count.failed.append((folder, "no test ran"))
        for test in tests:
            count.add(pathlib.Path(folder).name, test)
    for title, entries in ("Skipped", count.skipped), ("Failed", count.failed):
        if entries:
            print(f"{title}:")
        for name, reason in entries:
            print(f"  {name}: {reason}")
    print(f"{count.passed} passed, {len(count.failed)} failed, {len(count.skipped)} skipped")
    return 1 if count.failed or count.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
