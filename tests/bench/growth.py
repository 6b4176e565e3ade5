#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how commands grow with the number of ops or runs.

Runs each command with a quarter of the ops or runs and with all of them, and fails if the time
grows faster than with the power EXPONENT, or if a command takes longer than SECONDS or more than
MEGABYTES with all. LIG names the program."""

import argparse
import json
import math
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

EXPONENT, SECONDS, MEGABYTES = 1.35, 15, 2000
LIG = os.environ.get("LIG", "build/app/lig")
OPS = (["check"], ["check", "--json"], ["plan"], ["plan", "--text"], ["plan", "--json"], ["fuse"],
       ["fuse", "--json"], ["fuse", "--device", "null:h200"], ["report", "-o", "plan.html"],
       ["report", "-o", "plan.md"])
RUNS = (["list"], ["list", "--json"],
        ["delete", "--all", "--yes", "--keep-checkpoints"])


def run(command, folder):
    """Returns the CPU seconds, which other programs do not affect, and the megabytes of a
    command."""
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: exit code {child.returncode}\n{error}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def write_sequence(path, count):
    """Writes a sequence of about that many ops; each linear counts as two."""
    ops = [{"op": "layer-norm"}, {"op": "linear", "out-features": 8}, {"op": "gelu"}]
    document = {"ligature": 1, "input": {"shape": [4, 8], "dtype": "fp32"}, "ops": ops * (count // 4)}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)


def copy_runs(path, count):
    """Makes that many copies of the only run in a store."""
    store = sqlite3.connect(path)
    columns = [row[1] for row in store.execute("PRAGMA table_info (run)") if row[1] != "id"]
    values = ["printf ('%08x-0000-4000-8000-%012x', i * 2654435761 % 4294967296, i)"
              if column == "uuid" else f'"{column}"' for column in columns]
    names = ", ".join(f'"{column}"' for column in columns)
    store.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                  f"INSERT INTO run ({names}) SELECT {', '.join(values)} FROM run, n", (count - 1,))
    store.commit()
    store.close()


def judge(name, count, small, large):
    """Prints a line and returns whether the command is within the limits."""
    # Both times include the start of the program, which hides growth of short times.
    exponent = math.log(large[0] / small[0], 4)
    fine = exponent <= EXPONENT and large[0] <= SECONDS and large[1] <= MEGABYTES
    print(f"{'ok  ' if fine else 'FAIL'} {name:45} {count:7} {large[0]:6.2f} s {large[1]:6.0f} MB "
          f"exponent {exponent:.2f}", flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100000, help="ops and runs")
    count = parser.parse_args().count
    fine = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    program = os.path.abspath(LIG)
    with tempfile.TemporaryDirectory() as folder:
        for words in OPS:
            found = []
            for size in (count // 4, count):
                write_sequence(f"{folder}/long.lig", size)
                device = [] if "--device" in words else ["--device", "null"]
                found.append(run([program, words[0], "long.lig", *words[1:], *device], folder))
            fine &= judge(" ".join(words), count, *found)
        for words in RUNS:
            found = []
            for size in (count // 4, count):
                store = f"{folder}/{size}-{len(found)}-{'-'.join(words)}.db"
                run([program, "train", "linear(3) ! cross-entropy", "--input", "4x8", "--data",
                     "synthetic", "--steps", "2", "--device", "cpu", "--store", store], folder)
                copy_runs(store, size)
                found.append(run([program, "runs", *words, "--store", store], folder))
            fine &= judge("runs " + " ".join(words), count, *found)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
