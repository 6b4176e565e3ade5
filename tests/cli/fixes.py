#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Applies the edits that `lig fuse` recommends for device descriptions and checks, as TAP, that the
edited plan is predicted to save as much as was promised, and that several edits together do.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["LIGATURE_SOURCE"])
LIG = os.environ["LIG"]
UNITS = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}
BLOCK = ("block(12){ make-extra-output ! layer-norm ! linear(3072) ! gelu ! linear(768) ! "
         "add-extra-input }")
EXAMPLE = str(ROOT / "data/examples/residual-mlp.lig")
WRITTEN = ("--input", "--fence", "--forbid", "--force")  # options that an edit writes into the file

# A sequence, options, and the minimum number of recommended edits.
CASES = [
    (EXAMPLE, [], 0),
    (EXAMPLE, ["--fence", "3"], 1),
    (EXAMPLE, ["--fence", "3", "--fence", "4"], 0),
    (EXAMPLE, ["--policy", "all"], 2),
    (EXAMPLE, ["--policy", "all", "--dtype", "fp32"], 1),
    (EXAMPLE, ["--policy", "none"], 0),
    (EXAMPLE, ["--forbid", "forward-linear-bias-add", "--forbid", "backward-add-norm"], 2),
    (BLOCK, ["--input", "2048x768:bf16", "--fence", "0.0.3"], 1),
    (BLOCK, ["--input", "2048x768:bf16", "--policy", "all"], 1),
    ("linear(512) ! gelu ! linear(64) ! relu ! linear(512) ! gelu ! linear(64)",
     ["--input", "4096x64:bf16", "--fence", "1", "--fence", "3", "--fence", "5"], 1),
]


def fuse(sequence, options, *more):
    command = [LIG, "fuse", sequence, "--device", "null:h200", *options, *more]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def predict(sequence, options):
    plan = json.loads(fuse(sequence, options, "--json"))
    return sum(group["predicted_us"] or 0 for side in ("forward", "backward")
               for group in plan[side])


def keep(options):
    pairs = list(zip(options[::2], options[1::2]))
    return [word for pair in pairs if pair[0] not in WRITTEN for word in pair]


def microseconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def read(text):
    """Returns the promised sum, and the recommended edits as number, gain, and whether it is an
    alternative."""
    head = text.split("\n\n")[0].replace("\n  fix", "\nfix").replace("\n  ", " ")
    time = r"≈ ([0-9.]+ (?:ns|µs|ms|s))"
    single = re.search(rf"^would save {time}: .*\(fix ([0-9]+)\)", head, re.M)
    if single:
        return None, [(single[2], microseconds(single[1]), False)]
    total = re.search(rf"^would save {time}(?: together)?:", head, re.M)
    edits = re.findall(rf"^fix ([0-9]+) +{time} +(or )?", head, re.M)
    return (microseconds(total[1]) if total else None,
            [(number, microseconds(gain), bool(instead)) for number, gain, instead in edits])


def check(case):
    sequence, options, least = case
    problems = []
    total, edits = read(fuse(sequence, options))
    before = predict(sequence, options)
    if len(edits) < least:
        problems.append(f"{len(edits)} edits are recommended, expected {least}")
    with tempfile.TemporaryDirectory() as folder:
        file, other = f"{folder}/one.lig", f"{folder}/other.lig"
        for number, gain, _ in edits:
            fuse(sequence, options, "--apply-fix", number, "-o", file)
            saved = before - predict(file, keep(options))
            if abs(saved - gain) > 0.006 * gain:
                problems.append(f"fix {number} saves {saved:.3f} us, promised {gain}")
        together = [number for number, _, instead in edits if not instead]
        plain = sum(gain for _, gain, instead in edits if not instead)
        if total and len(together) == 1 and abs(total - plain) > 0.006 * plain:
            problems.append(f"the sum is {total} us, but the one edit saves {plain}")
        if total and len(together) == 2:
            fuse(sequence, options, "--apply-fix", together[0], "-o", file)
            rest = json.loads(fuse(file, keep(options), "--json"))["verdicts"]
            wanted = [verdict["fix"]["text"] for verdict in
                      json.loads(fuse(sequence, options, "--json"))["verdicts"]
                      if verdict["fix"] and str(verdict["fix"]["number"]) == together[1]][0]
            numbers = [verdict["fix"]["number"] for verdict in rest
                       if verdict["fix"] and verdict["fix"]["text"] == wanted]
            if numbers:
                fuse(file, keep(options), "--apply-fix", str(numbers[0]), "-o", other)
                saved = before - predict(other, keep(options))
                if abs(saved - total) > 0.006 * total:
                    problems.append(f"together they save {saved:.3f} us, promised {total}")
    return problems


def check_reasons():
    """If a reason remains after an edit, it is named instead of a gain."""
    text = fuse(EXAMPLE, ["--fence", "3"], "--why", "3").replace("\n      ", " ")
    backward = text.split("\nbackward\n")[1].split("\n  ")
    at = [i for i, line in enumerate(backward) if "backward-bias-gelu-linear:" in line][0]
    remedy = backward[at + 1].strip()
    start = "fix 1: remove the fence before 3; it would then be rejected: Bias of Linear at 2 is already in "
    if not remedy.startswith(start):
        return [f"the remedy is '{remedy}'"]
    loss = fuse("linear(8) ! gelu", ["--input", "123456789x8", "--policy", "all"])
    if "saves −" in loss or "%)" in loss.split("\n")[1] or "slower than unfused" not in loss:
        return ["a loss is called a saving"]
    if "\nPolicy none applies only forced fusions" not in fuse(EXAMPLE, ["--policy", "none"]):
        return ["policy none is said to have no fix"]
    rejected = [verdict for verdict in json.loads(fuse(EXAMPLE, ["--fence", "3"], "--json"))["verdicts"]
               if verdict["fusion"] == "backward-bias-gelu-linear" and verdict["paths"][0] == "2"]
    if rejected[0]["fix"]["gain_us"] is not None:
        return [f"the JSON document promises {rejected[0]['fix']['gain_us']} us"]
    return []


print(f"1..{len(CASES) + 1}")
failed = False
for at, case in enumerate([*CASES, None], 1):
    found = check(case) if case else check_reasons()
    name = "the reason that remains"
    if case:
        file = pathlib.Path(case[0]).name if case[0] == EXAMPLE else case[0][:20]
        name = " ".join([file, *case[1]])
    failed |= bool(found)
    print(f"{'not ok' if found else 'ok'} {at} - {name.replace('#', '')}")
    for problem in found:
        print(f"# {problem}")
sys.exit(failed)
