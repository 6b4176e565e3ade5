#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the blocks marked `sh task` of data/doc/command-line.md, as TAP, in order in one folder with
an empty store, and checks each result against JSON documents and files. A task is identified by the
sentence before its block; each has a check, and each check a task."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["LIGATURE_SOURCE"])
LIG = pathlib.Path(os.environ["LIG"])
MODEL = ["data/examples/residual-mlp.lig", "--device", "null:h200", "--fence", "5"]
XOR = ROOT / "data/examples/xor.lig"


def read_tasks():
    """Returns sentence and commands of each task."""
    text = (ROOT / "data/doc/command-line.md").read_text()
    found = re.findall(r"((?:[^\n]+\n)*[^\n]+):\n\n```sh task\n(.*?)```", text, flags=re.S)
    assert len(found) == text.count("```sh task"), "a sentence and a colon must precede each task"
    return [(title.replace("\n", " "), script) for title, script in found]


class Folder:
    """Runs commands in a temporary folder that has the project's data."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        os.symlink(ROOT / "data", self.path / "data")
        self.environment = dict(os.environ, LIGATURE_STORE=f"{path}/runs.db", XDG_DATA_HOME=path,
                                PATH=f"{LIG.parent}:{os.environ['PATH']}", COLUMNS="100")
        self.best = None

    def run(self, *command):
        return subprocess.run(command, cwd=self.path, env=self.environment, check=False, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def document(self, *arguments):
        result = self.run(LIG, *arguments, "--json")
        return json.loads(result.stdout)

    def read(self, name):
        return (self.path / name).read_text()

    def find_best(self):
        runs = self.document("runs", "list", "--kind", "train", "--sort", "best-eval-loss")
        assert len(runs) >= 4, runs
        return min(runs, key=lambda run: self.least(run["run"]))["run"]

    def least(self, run):
        table = self.run(LIG, "runs", "export", run, "--metric", "eval-loss").stdout
        return min(float(line.split(",")[1]) for line in table.splitlines()[1:])


def predict(folder, *plan):
    plan = folder.document("fuse", *plan)
    return sum(group["predicted_us"] for name in ("forward", "backward") for group in plan[name])


def check_gain(output, folder):
    gain = predict(folder, *MODEL) - predict(folder, *MODEL[:-2])
    shown = re.search(r"^would save ≈ ([\d.]+) µs: remove the fence before 5 \(fix 1\)", output, re.M)
    assert shown and abs(float(shown[1]) / gain - 1) < 0.01, (output[:400], gain)


def check_fixed(output, folder):
    assert "fences" not in json.loads(folder.read("fixed.lig")), folder.read("fixed.lig")
    times = [sum(group["predicted_us"] for name in ("forward", "backward") for group in plan[name])
             for plan in (folder.document("fuse", *MODEL), folder.document("fuse", "fixed.lig",
                                                                            "--device", "null:h200"))]
    assert times[1] < times[0], times


def check_reasons(output, _):
    assert "add-extra-input at 5" in output, output
    assert "forward-linear-bias-add: there is a fence" in output, output


def check_table(output, folder):
    rejected = [verdict for verdict in folder.document("fuse", *MODEL)["verdicts"]
               if not verdict["taken"]]
    lines = [line.split("\t") for line in output.splitlines()]
    assert len(lines) == len(rejected) > 3, (len(lines), len(rejected))
    assert [line[0] for line in lines] == [verdict["fusion"] for verdict in rejected], lines


def check_pair(output, _):
    assert "null:h200 compared with null:a100: × " in output.splitlines()[0] and "A null:a100" in output, output
    assert "NVIDIA A100" in output and "NVIDIA H200" in output, output


def check_totals(output, _):
    for name in ("A100", "H100", "H200"):
        assert f"NVIDIA {name}" in output, output
    for row in ("kernels", "memory", "step"):
        assert re.search(f"^{row} ", output, re.M), output


def check_job(_, folder):
    assert "ops" in json.loads(folder.read("check.json"))
    failed = folder.run(LIG, "check", "reshape(7) ! linear(3)", "--input", "4x8", "--json")
    assert failed.returncode == 1 and json.loads(failed.stdout)["problems"], failed


def check_difference(_, folder):
    text = folder.read("steps.diff")
    assert any(line.startswith("<") for line in text.splitlines()), text
    assert any(line.startswith(">") for line in text.splitlines()), text


def check_rates(output, folder):
    groups = folder.document("sweep", "--resume", "last")["groups"]
    rows = [line.split() for line in output.splitlines()[1:3]]
    assert [float(row[0]) for row in rows] == [float(group["settings"]["lr"]) for group in groups]
    assert sorted(float(row[0]) for row in rows) == [0.003, 0.01], output
    assert all(abs(float(row[1]) / group["mean"] - 1) < 0.01 for row, group in zip(rows, groups))


def check_compared(output, folder):
    for run in folder.document("runs", "list", "--name", "rates"):
        assert run["run"][:8] in output, output
    assert re.search(r"^lr +0\.0", output, re.M) and re.search(r"^seed ", output, re.M), output


def check_best(output, folder):
    rows = output.splitlines()
    assert len(rows) == 2 and rows[1].split()[0] == folder.find_best()[:8], output
    assert abs(float(rows[1].split()[-1]) / folder.least(folder.find_best()) - 1) < 1e-4, output


def check_star(_, folder):
    starred = folder.document("runs", "list", "--starred")
    assert [run["run"] for run in starred] == [folder.find_best()], starred
    folder.best = starred[0]["run"]


def check_curve(output, folder):
    table = folder.run(LIG, "runs", "export", folder.best, "--metric", "loss").stdout
    rows = [line.split(",") for line in table.splitlines()[1:]]
    first = next(step for step, loss in rows if float(loss) < 1)
    assert output.split() == [first] and int(first) > 1, (output, first)


def check_followed(_, folder):
    rows = [line.split() for line in folder.read("curve.txt").splitlines()]
    steps = json.loads(XOR.read_text())["train"]["steps"]
    assert [int(step) for step, _ in rows] == list(range(1, steps + 1)), len(rows)
    last = folder.document("runs", "show", "night")["loss"]["last"]
    assert abs(float(rows[-1][1]) - last) <= 1e-6 * abs(last), (rows[-1], last)


def check_continued(output, folder):
    shown = folder.document("runs", "show", "night")
    assert re.search(r"done: steps \d+ to 2500 in ", output), output
    losses = [metric["count"] for metric in shown["metrics"] if metric["name"] == "loss"]
    assert losses == [2500], shown["metrics"]
    whole = folder.document("train", "data/examples/xor.lig", "--data",
                            "csv:data/examples/xor.csv?validation=0", "--steps", "2500",
                            "--name", "once")
    assert whole["loss"]["last"] == shown["loss"]["last"], (whole["loss"], shown["loss"])


def check_unfinished(output, folder):
    assert len(output.splitlines()) <= 1, output
    assert not folder.document("runs", "list", "--since", "yesterday", "--status", "interrupted")
    assert len(folder.document("runs", "list", "--since", "yesterday", "--status", "done")) == 6


def check_report(_, folder):
    text = folder.read("night.html")
    assert text.startswith("<!DOCTYPE html>") and "<svg" in text and "http://" not in re.sub(
        r'xmlns(:\w+)?="[^"]*"', "", text), text[:200]


def check_repeated(output, folder):
    result = folder.document("runs", "repeat", "night.html")
    assert "bitwise identical" in output and result["outcome"] == "same", (output, result)


def check_policy(output, folder):
    assert [line.split()[0] for line in output.splitlines()[1:3]] == ["none", "all"], output
    assert len(folder.document("runs", "list", "--kind", "profile")) == 2, output


def check_deleted(_, folder):
    left = folder.document("runs", "list")
    assert [run["run"] for run in left] == [folder.best], left
    files = [file.name for file in folder.path.rglob("*.safetensors")]
    assert files == [f"{folder.best}.safetensors"], files


# The sentence of a task begins with these words.
CHECKS = [
    ("The change that would save most", check_gain),
    ("The same change, made in a new file", check_fixed),
    ("The reasons why fusions at one op were rejected", check_reasons),
    ("The rejections and their gains", check_table),
    ("An A100 next to an H200", check_pair),
    ("The times, the kernels and the memory", check_totals),
    ("A CI job", check_job),
    ("The steps of a plan that an edit changes", check_difference),
    ("Two learning rates compared", check_rates),
    ("The settings and results in which the runs of a sweep differ", check_compared),
    ("The run with the best validation loss", check_best),
    ("A star for that run", check_star),
    ("Its loss curve in another tool", check_curve),
    ("The loss of a run while it trains", check_followed),
    ("Last night's run continued", check_continued),
    ("The runs since yesterday that did not finish", check_unfinished),
    ("A report to send", check_report),
    ("The same run on this machine", check_repeated),
    ("The fastest policy", check_policy),
    ("All runs deleted except the starred", check_deleted),
]


def try_task(folder, check, script):
    result = folder.run("bash", "-euo", "pipefail", "-c", script)
    assert result.returncode == 0, f"exit code {result.returncode}: {result.stderr[-400:]}"
    check(result.stdout, folder)


def main():
    tasks = read_tasks()
    print(f"1..{len(tasks) + 1}")
    named = len(tasks) == len(CHECKS) and all(
        title.startswith(start) for (title, _), (start, _) in zip(tasks, CHECKS))
    print(f"{'ok' if named else 'not ok'} 1 - each task has a check")
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        for number, ((title, script), (_, check)) in enumerate(zip(tasks, CHECKS), 2):
            try:
                try_task(folder, check, script)
                print(f"ok {number} - {title}")
            except (AssertionError, LookupError, OSError, StopIteration, TypeError, ValueError) as error:
                print(f"not ok {number} - {title}")
                print("\n".join(f"# {line}" for line in repr(error).split("\\n")))


if __name__ == "__main__":
    sys.exit(main())
