#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of data/doc/json.md, as TAP, and compares each output with the result of Python
for the same documents. Without jq all are skipped."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["LIGATURE_SOURCE"])
LIG = pathlib.Path(os.environ["LIG"])
MODEL = ["data/examples/residual-mlp.lig", "--device", "null:h200"]


def read_examples():
    """Returns title, kind and commands of each example."""
    text = (ROOT / "data/doc/json.md").read_text()
    return re.findall(r"((?:[^\n]+\n)*[^\n]+):\n\n```sh (jq|schema)\n(.*?)```", text, flags=re.S)


class Folder:
    """Runs commands in a temporary folder that has the project's data."""

    def __init__(self, path):
        self.path = path
        os.symlink(ROOT / "data", f"{path}/data")
        self.environment = dict(os.environ, LIGATURE_STORE=f"{path}/runs.db", XDG_DATA_HOME=path,
                                PATH=f"{LIG.parent}:{os.environ['PATH']}")

    def run(self, *command):
        return subprocess.run(command, cwd=self.path, env=self.environment, check=False, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def document(self, *arguments):
        return json.loads(self.run(LIG, *arguments, "--json").stdout)


def check_total(lines, folder):
    steps = folder.document("plan", *MODEL)["steps"]
    total = sum(step["predicted_us"] for step in steps if step["pass"] == "forward")
    assert len(lines) == 1 and abs(float(lines[0]) - total) < 1e-6, (lines, total)


def check_recomputed(lines, folder):
    steps = folder.document("plan", "data/examples/gpt2-124m.lig", "--device", "null:h200",
                            "--recompute", "all")["steps"]
    again = sum(step["predicted_us"] for step in steps if step["again"])
    share = 100 * again / sum(step["predicted_us"] for step in steps)
    assert 0 < share < 50 and abs(float(lines[0]) - share) < 1e-6, (lines, share)


def check_fit(lines, folder):
    plan = folder.document("plan", "data/examples/gpt2-124m.lig", "--device", "null:h200")
    card = json.loads((ROOT / "data/devices/h200.json").read_text(encoding="utf-8"))["memory"]
    needed, available, reserve = (float(line) for line in lines[0].split()
                                  if line.replace(".", "").isdigit())
    workspaces = (needed - plan["arena_bytes"] - plan["state_bytes"]) / 2**25
    assert workspaces in (1, 2) and reserve == 2**30 and available == card - 2**30, lines


def check_fixes(lines, folder):
    def predict(*fences):
        plan = folder.document("fuse", *MODEL, *fences)
        return sum(group["predicted_us"] for name in ("forward", "backward") for group in plan[name])
    all_fences = ("--fence", "1", "--fence", "5")
    gains = [predict(*all_fences) - predict(*fences) for fences in (all_fences[:2], all_fences[2:])]
    shown = [float(line.split()[0]) for line in lines]
    assert len(shown) == 2 and shown == sorted(shown, reverse=True), shown
    for one, other in zip(shown, sorted(gains, reverse=True)):
        assert abs(one - other) < 1e-6, (shown, gains)


def check_kernels(lines, folder):
    steps = folder.document("plan", *MODEL)["steps"]
    moved = sorted((step["read"] + step["written"] for step in steps), reverse=True)[:3]
    assert [int(line.split()[0]) for line in lines] == moved, (lines, moved)


def check_losses(lines, folder):
    assert [int(line.split("\t")[0]) for line in lines] == list(range(1, 21)), lines
    last = folder.document("runs", "show", "last")["loss"]["last"]
    assert abs(float(lines[-1].split("\t")[1]) - last) < 1e-6, (lines[-1], last)


def check_rates(lines, folder):
    groups = folder.document("sweep", "--resume", "last")["groups"]
    expected = [[group["settings"]["lr"], group["mean"]] for group in groups]
    assert [[float(cell) for cell in line.split("\t")] for line in lines] == expected, lines
    assert sorted(rate for rate, _ in expected) == [0.001, 0.01], expected


def find_best(folder):
    runs = [run for run in folder.document("runs", "list") if run["eval"]["loss"] is not None]
    assert len(runs) == 5, runs
    return min(runs, key=lambda run: run["eval"]["loss"])


def check_best(lines, folder):
    best = find_best(folder)
    run, loss = lines[0].split()
    assert len(lines) == 1 and run == best["run"] and float(loss) == best["eval"]["loss"], lines


def check_curve(lines, folder):
    shown = folder.document("runs", "show", find_best(folder)["run"])
    count, = (metric["count"] for metric in shown["metrics"] if metric["name"] == "loss")
    step, loss = lines[-1].split(",")
    assert len(lines) == count and int(step) == count, (lines, count)
    assert float(loss) == shown["loss"]["last"], lines[-1]


def check_roofline(lines, folder):
    shares = [int(line.split(" %")[0]) for line in lines]
    assert len(lines) == 3 and shares == sorted(shares), lines


def check_limits(lines, folder):
    shares = [float(line.split()[-5]) / float(line.split()[-1]) for line in lines]
    assert len(lines) == 3 and shares == sorted(shares, reverse=True) and shares[0] < 1, lines


def check_memory(lines, folder):
    devices = [device for device in folder.document("devices") if "memory" in device]
    assert lines == [f"{one['device']} {one['memory']} B" for one in devices], lines


def check_message(lines, folder):
    assert len(lines) == 1 and "'gleu'" in lines[0], lines


def check_nothing(lines, folder):
    assert not lines, lines


CHECKS = [check_total, check_recomputed, check_fit, check_fixes, check_kernels, check_losses,
          check_rates, check_best, check_curve, check_roofline, check_limits, check_memory,
          check_message, check_total, check_nothing]
FAILING = {check_message}


def try_example(folder, check, script):
    result = folder.run("bash", "-euo", "pipefail", "-c", script)
    expected = 1 if check in FAILING else 0
    assert result.returncode == expected, f"exit code {result.returncode}: {result.stderr[-400:]}"
    check(result.stdout.splitlines(), folder)


def main():
    if not shutil.which("jq"):
        print("1..0 # SKIP jq is not installed")
        return
    examples = read_examples()
    assert len(examples) == len(CHECKS), [title for title, _, _ in examples]
    print(f"1..{len(examples)}")
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        for number, ((title, kind, script), check) in enumerate(zip(examples, CHECKS), 1):
            title = title.replace("\n", " ")
            if kind == "schema" and folder.run("python3", "-c", "import jsonschema").returncode:
                print(f"ok {number} - {title} # SKIP python3-jsonschema is not installed")
                continue
            try:
                try_example(folder, check, script)
                print(f"ok {number} - {title}")
            except (AssertionError, ValueError) as error:
                print(f"not ok {number} - {title}")
                print("\n".join(f"# {line}" for line in str(error).splitlines()))


if __name__ == "__main__":
    sys.exit(main())
