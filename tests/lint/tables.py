#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tables.py recompute|recipes|parallel: prints a table of data/doc in Markdown. `lig` must be on the
path."""
import json
import subprocess
import sys

GPT2 = ["data/examples/gpt2-124m.lig", "--device", "null:h200", "--input", "64x1024:int32"]
LLAMA = ["data/examples/llama-1b.lig", "--device", "null:h200", "--input", "16x2048:int32",
         "--optimizer", "adamw", "--ranks", "8"]


def plan(*arguments):
    done = subprocess.run(["lig", "plan", *arguments, "--json"], capture_output=True, text=True,
                          check=False)
    document = json.loads(done.stdout)
    if "error" in document:
        sys.exit(f"{' '.join(arguments)}: {document['error']['message']}")
    return document


def digits(number):
    """Three digits, as lig prints them."""
    return f"{number:.{max(0, 3 - len(str(int(number))))}f}"


def show(*rows):
    for number, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if number == 0:
            print("|" + "---|" * len(row))


def time_of_step(document):
    return sum(step["predicted_us"] for step in document["steps"]) / 1e3


def recompute():
    rows = []
    for level in ("none", "cheap", "all"):
        one = plan(*GPT2, "--recompute", level)
        # lig plan calls their number that of recomputed values.
        again = [step for step in one["steps"] if step["again"]]
        rows.append([f"`{level}`", f"{digits(one['arena_bytes'] / 1e9)} GB", str(len(again)),
                     f"{digits(sum(step['predicted_us'] for step in again) / 1e3)} ms",
                     f"{digits(time_of_step(one))} ms"])
    show(["`--recompute`", "memory of values", "recomputed values", "time to recompute", "step"],
         *rows)


def recipes():
    rows = []
    for name in ("none", "fp8-delayed", "fp8-current", "fp8-rows", "fp8-block"):
        one = plan(*GPT2, "--recipe", name)
        rows.append([f"`{name}`", f"{digits(time_of_step(one))} ms",
                     f"{digits(one['arena_bytes'] / 1e9)} GB"])
    show(["`--recipe`", "step", "memory of values"], *rows)


def parallel():
    rows = []
    for layout, more in (("data=8", []), ("data=8", ["--shard-optimizer"]), ("data=4,tensor=2", []),
                         ("data=2,tensor=4", []), ("tensor=8", []), ("data=4,context=2", [])):
        one = plan(*LLAMA, "--parallel", layout, *more)["ranks"]
        rows.append([f"`{' '.join([layout, *more])}`", f"{digits(one['memory_bytes'] / 1e9)} GB",
                     f"{digits(one['collective_bytes'] / 1e9)} GB",
                     f"{digits(one['exposed_us'] / 1e3)} ms", f"{digits(one['step_us'] / 1e3)} ms"])
    show(["parallelism", "memory", "communicated", "exposed communication", "step"], *rows)


if __name__ == "__main__":
    {"recompute": recompute, "recipes": recipes, "parallel": parallel}[sys.argv[1]]()
