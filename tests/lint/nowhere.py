#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks tests/count.py, which counts all results: a test that ran in no folder has failed, one
that was skipped in one folder and passed in another has passed, and a program that ended early has
failed."""
import json
import pathlib
import subprocess
import sys
import tempfile

COUNT = pathlib.Path(__file__).resolve().parents[1] / "count.py"


def write(folder, results, names=None):
    """Writes Meson's output files: the results, and the names of all tests."""
    (folder / "meson-logs").mkdir(parents=True)
    lines = [json.dumps({"name": f"ligature:unit / {name}", "result": result, "stdout": text})
             for name, result, text in results]
    (folder / "meson-logs/testlog.json").write_text("\n".join(lines))
    if names:
        (folder / "meson-info").mkdir()
        (folder / "meson-info/intro-tests.json").write_text(
            json.dumps([{"name": name} for name in names]))


def count(*words):
    """Returns the exit status and the last lines."""
    result = subprocess.run([sys.executable, COUNT, *map(str, words)], text=True, check=False,
                            stdout=subprocess.PIPE)
    return result.returncode, result.stdout.splitlines()


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        here, there = work / "build-test", work / "there"
        write(here, [("one", "OK", "1..2\nok 1 a\nok 2 b # SKIP no GPU")], ["one", "two", "three"])
        write(there, [("two", "OK", "1..1\nok 1 c"), ("one", "OK", "1..2\nok 1 a\nok 2 b")])
        status, lines = count("--all", here, here, there)
        assert status == 1 and "  three: ran nowhere" in lines, lines
        assert lines[-1] == "4 passed, 1 failed, 1 skipped", lines
        (work / "three.tap").write_text("1..1\nok 1 d\n")
        early = work / "early"
        write(early, [("three", "ERROR", "1..3\nok 1 d")])
        status, lines = count("--all", here, here, there, early)
        assert status == 1 and "  early: three: error after 1 of 3 subtests" in lines, lines
        whole = work / "whole"
        write(whole, [("three", "OK", "1..1\nok 1 d")])
        status, lines = count("--all", here, here, there, whole, work / "three.tap")
        assert status == 0 and lines[-1] == "6 passed, 0 failed, 1 skipped", lines
        status, lines = count("--all", work / "missing", here)
        assert status == 1 and f"  {work / 'missing'}: not configured" in lines, lines


if __name__ == "__main__":
    main()
