#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills processes of training runs on two ranks at random moments. After each kill no process of
the run may live longer than LIMIT seconds, the store must open, and the run must continue from its
checkpoint, or start again if it has none, and reach the same loss as without a kill. LIG names the
program.

    LIG=build/app/lig python3 tests/bench/kills.py [--count 200] [--seed 1]
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LIG = os.path.abspath(os.environ.get("LIG", "build/app/lig"))
MODEL = "linear(64, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error"
TRAINING = ["train", MODEL, "--input", "64x32", "--data", "synthetic", "--device", "cpu", "--steps", "3000",
            "--eval-every", "1000", "--checkpoint-every", "100", "--checkpoint", "c.safetensors", "--quiet",
            "--ranks", "2"]
LIMIT = 30


def lig(folder, *words):
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db", XDG_DATA_HOME=folder, OMP_NUM_THREADS="1")
    return subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=300)


def find_loss(folder):
    """Returns the last loss of the newest run, and its status."""
    shown = json.loads(lig(folder, "runs", "show", "last", "--json").stdout)
    return shown["loss"]["last"], shown["eval"]["loss"], shown["status"]


def list_processes(folder):
    """Returns the processes whose working folder is the folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.realpath(f"/proc/{name}/cwd") == os.path.realpath(folder):
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    if file.read().rpartition(")")[2].split()[0] not in "ZX":
                        found.append(int(name))
        except OSError:
            pass
    return sorted(found)


def kill_one(folder, draw, seconds):
    """Starts a run, kills one of its processes after the given seconds, and returns which one."""
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db", XDG_DATA_HOME=folder, OMP_NUM_THREADS="1")
    with subprocess.Popen([LIG, *TRAINING], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
        time.sleep(draw.uniform(0.05, seconds))
        alive = list_processes(folder)
        place = draw.randrange(len(alive)) if alive else -1
        if alive:
            os.kill(alive[place], signal.SIGKILL)
        job.wait(timeout=LIMIT)
    end = time.monotonic() + LIMIT
    while list_processes(folder):
        assert time.monotonic() < end, "processes are left"
        time.sleep(0.02)
    return ("lig", "mpirun", "rank 0", "rank 1")[place] if 0 <= place < 4 else "another"


def check_continues(folder, wanted):
    runs = []
    if os.path.exists(f"{folder}/runs.db"):
        listed = lig(folder, "runs", "list", "--json")
        assert listed.returncode == 0, listed.stderr
        runs = json.loads(listed.stdout)
    if not os.path.exists(f"{folder}/c.safetensors"):
        again, how = lig(folder, *TRAINING), "begun again"
    elif runs and runs[0]["status"] == "done":
        again, how = None, "was done"
    else:
        again, how = lig(folder, "train", "--resume", "c.safetensors", "--checkpoint", "c.safetensors", "--ranks", "2",
                         "--quiet"), "resumed"
    assert again is None or again.returncode == 0, again.stderr
    found = find_loss(folder)
    assert found == (*wanted, "done"), f"{how}: {found}, expected {wanted}"
    return how


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, seen, failed = random.Random(options.seed), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        assert lig(folder, *TRAINING).returncode == 0
        seconds = time.monotonic() - began
        wanted = find_loss(folder)[:2]
    print(f"without a kill: {seconds:.1f} s, losses {wanted}", flush=True)
    for number in range(options.count):
        with tempfile.TemporaryDirectory() as folder:
            victim = how = "?"
            try:
                victim = kill_one(folder, draw, 1.1 * seconds)
                how = check_continues(folder, wanted)
            except (AssertionError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                failed += 1
                print(f"kill {number}, {victim}: {error}", flush=True)
            seen[victim, how] = seen.get((victim, how), 0) + 1
    for (victim, how), count in sorted(seen.items()):
        print(f"{count:4} kills of {victim}: {how}")
    print(f"{options.count} kills, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
