#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds one thing of each kind, compares the numbers of files and edits with CONTRIBUTING.md, and
builds and runs the result.

Each folder of tests/lint/adding is a kind of thing. It contains the new files, at their paths from
the root, and `edits`, a line `FILE: OLD => NEW` for each edit of an existing file (`\\n` begins a
line). All are added to one scratch copy of the sources, which is built without the window and CUDA.
A kind without a folder has no recipe yet. With the argument `keep` the scratch copy is not deleted.
"""
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "tests/lint/adding"
# New files of each kind and edits of existing files; adjacent lines are one edit.
COSTS = {"op": (1, 1), "fusion": (1, 1), "optimizer": (1, 1), "dataset": (1, 1), "report": (1, 1),
         "command": (1, 1), "activation": (1, 3), "backend": (3, 4), "dtype": (0, 4),
         "matmul": (1, 1), "loss": (1, 1), "attention": (1, 1)}
# Ops that compute the same as a built-in op: (the added op, the built-in op).
TWINS = [("dense", "basic-linear"), ("surprise", "cross-entropy"),
         ("focus(4)", "attention(4, kv-heads=2)"), ("focus", "attention")]
# The modules that are built in addition to the program and the tests.
MODULES = {"backend": "kernels/rocm/ligature-rocm.so"}
# Tests that run for all entries of a registry.
TESTS = ["sequence-ops", "sequence-tables", "fusions", "optimizers", "data-kinds", "report-formats",
         "kernels-dtype", "kernels-formulas", "kernels-pointwise", "tensor-file"]
SEQUENCE = "constant-scale(2) ! constant-scale(3) ! negate ! linear(2) ! cross-entropy"


def run(*command, status=0, **options):
    """Returns the output, both streams, of a command that must exit with the status."""
    result = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **options)
    if result.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: exit status {result.returncode}, expected {status}"
                 f"\n{result.stdout[-4000:]}")
    return result.stdout


def read(lig, *words):
    """Returns the JSON document that a command prints."""
    command = [str(word) for word in (lig, *words, "--json")]
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr}")
    return json.loads(result.stdout)


def expect(part, text):
    """Checks that the text contains the part; a line may be wrapped within it."""
    if part not in text and part not in " ".join(text.split()):
        sys.exit(f"'{part}' is missing in:\n{text}")


def copy_sources(scratch):
    listing = run(ROOT / "tests/lint/sources.sh").split("\n")
    for file in filter(None, listing):
        target = scratch / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, target)


def edit(scratch, line):
    """Makes one edit; returns the number of changed blocks of adjacent lines."""
    file, words = line.split(": ", 1)
    old, new = (text.replace("\\n", "\n") for text in words.split(" => ", 1))
    before = (scratch / file).read_text()
    if before.count(old) != 1:
        sys.exit(f"{file} has '{old}' {before.count(old)} times, expected once")
    after = before.replace(old, new)
    (scratch / file).write_text(after)
    changes = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return sum(change[0] != "equal" for change in changes.get_opcodes())


def add(scratch, recipe):
    """Adds one thing; returns the number of new files and of edits."""
    files, edits = 0, 0
    for path in sorted(recipe.rglob("*")):
        place = path.relative_to(recipe)
        if path.is_dir():
            continue
        if str(place) == "edits":
            edits += sum(edit(scratch, line) for line in path.read_text().splitlines())
            continue
        if (scratch / place).exists():
            sys.exit(f"{place} of the recipe {recipe.name} exists already")
        (scratch / place).parent.mkdir(exist_ok=True)
        shutil.copy2(path, scratch / place)
        files += 1
    return files, edits


def build(scratch, folder):
    """Configures and builds; with the plain build type ccache finds objects of other folders."""
    options = ["-Dcuda=disabled", "-Dgui=disabled"]
    known = (scratch / "meson_options.txt").read_text()
    for name, value in ("introspection", "disabled"), ("cpu-levels", ""):
        if name in known:
            options.append(f"-D{name}={value}")
    run("meson", "setup", "--buildtype=plain", *options, folder, scratch)
    run("ninja", "-C", folder, "app/lig", *MODULES.values(), *(f"tests/test-{name}" for name in TESTS))


def try_op(lig, work):
    expect("Changes the sign", run(lig, "ops", "negate"))
    expect("y = -x", run(lig, "ops", "negate"))


def try_activation(lig, work):
    expect("y = x sigmoid (2 x)", run(lig, "ops", "dswish"))
    plan = read(lig, "fuse", "bias ! dswish", "--input", "8x4", "--policy", "all")
    expect("forward-bias-activation", json.dumps(plan["forward"]))


def try_fusion(lig, work):
    plan = read(lig, "fuse", SEQUENCE, "--input", "8x4", "--policy", "all")
    expect("forward-scale-scale", json.dumps(plan["forward"]))


def train(lig, work, *options, device="cpu"):
    result = read(lig, "train", *options, "--device", device, "--store", work / "runs.db")
    if result["status"] != "done" or not result["loss"]["last"] < result["loss"]["first"]:
        sys.exit(f"{' '.join(options)}: {json.dumps(result)}")
    return result


def try_optimizer(lig, work):
    sequence = "linear(2) ! mean-squared-error"
    options = ["--input", "8x4", "--data", "synthetic?samples=8", "--optimizer", "adam", "--lr", "0.05"]
    result = train(lig, work, sequence, *options, "--steps", "30", "--square-share", "0.99")
    longer = read(lig, "train", "--resume", result["checkpoint"], "--steps", "40", "--store",
                  work / "runs.db")
    if longer["steps"] != 40:
        sys.exit(f"resumed: {json.dumps(longer)}")
    expect("optimizer.adam-squares.0.weight",
           pathlib.Path(result["checkpoint"]).read_bytes().decode("latin-1"))
    rejected = run(lig, "train", sequence, *options, "--mean-share", "1", status=2)
    expect("--mean-share is '1', expected a number from 0 to 0.9999999", rejected)
    expect("--optimizer sgd|adamw|adam", run(lig, "train", "--help"))


def try_dataset(lig, work):
    sequence = "linear(32, init-std=0.5) ! gelu ! linear(2) ! cross-entropy"
    train(lig, work, sequence, "--batch", "14", "--data", "parity?bits=4", "--steps", "200",
          "--lr", "0.02")
    rejected = run(lig, "train", sequence, "--batch", "8", "--data", "parity?bits=21", status=2)
    expect("bits is '21', expected a whole number from 1 to 20", rejected)
    expect("Parity of numbers", run(lig, "train", "--help"))


def try_report(lig, work):
    run(lig, "report", SEQUENCE, "--input", "8x4", "-o", work / "x.names")
    expect("constant-scale\nconstant-scale\nnegate\n", (work / "x.names").read_text())
    expect("One name in each line", run(lig, "report", "--help"))


def try_command(lig, work):
    expect("3", run(lig, "count", "linear(8) ! gelu ! negate"))
    expect("Counts the ops of a sequence", run(lig, "--help"))


def try_activation(lig, work):
    expect("y = x^2", run(lig, "ops", "square"))
    plan = read(lig, "fuse", "bias ! square", "--input", "8x4", "--policy", "all", "--device", "cpu")
    expect("bias_square", json.dumps(plan["forward"]))
    expect("bias_square_backward", json.dumps(plan["backward"]))


def try_backend(lig, work):
    """The device of the added module is listed, described by a profile, chosen and used for
    training."""
    devices = {device["device"]: device for device in read(lig, "devices")}
    expect("AMD Example", devices["rocm:0"]["name"])
    expect("cpu, cuda:N, rocm:N or null[:DESCRIPTION]", run(lig, "fuse", "--help"))
    train(lig, work, "linear(2) ! mean-squared-error", "--input", "8x4", "--data",
          "synthetic?samples=8", "--steps", "30", "--lr", "0.05", device="rocm:0")
    rejected = run(lig, "fuse", "gelu", "--input", "8x4", "--device", "rocm:7", status=1)
    expect("rocm:7 cannot be used: there is 1 GPU, number 0", rejected)
    expect("rocm:0", json.dumps(read(lig, "plan", "gelu", "--input", "8x4")))
    profile = work / "example.json"
    run(lig, "devices", "rocm:0", "-o", profile)
    expect('"backend": "rocm"', profile.read_text())


def name_twins(text):
    for added, known in TWINS:
        text = text.replace(added, known)
    return text


def expect_twin(lig, sequence, *options):
    """An op that is recognized by its traits has the plan of a built-in op with the same traits."""
    for policy in "none", "all":
        words = [*options, "--policy", policy, "--text"]
        plan = name_twins(run(lig, "plan", sequence, *words))
        known = run(lig, "plan", name_twins(sequence), *words)
        if plan != known or "step" not in plan:
            lines = difflib.unified_diff(known.split("\n"), plan.split("\n"), lineterm="")
            sys.exit("\n".join([f"{sequence} {' '.join(words)}:", *lines]))


def expect_reports(lig, work, title, sequence, *options):
    """Reports name the op, and a plan with it computes correct results."""
    for form in "html", "md", "svg", "dot", "trace.json":
        report = work / f"{title}.{form}"
        run(lig, "report", sequence, *options, "--device", "null:h200", "-o", report)
        if title.lower() not in report.read_text().lower():
            sys.exit(f"{report.name} does not name {title}")
    run(lig, "verify", sequence, *options, "--device", "cpu", "--seeds", "1", "--store",
        work / "runs.db")


def try_matmul(lig, work):
    """Recipes quantize its operands, ranks shard its weight, which may be tied to another op's, and
    fusions include it."""
    h200, pair = ["--device", "null:h200"], "dense(64) ! gelu ! dense(64)"
    for recipe in "fp8-delayed", "fp8-current", "fp8-rows", "fp8-block":
        expect_twin(lig, pair, "--input", "64x64", *h200, "--recipe", recipe)
    for recipe in "mxfp8", "nvfp4":
        expect_twin(lig, pair, "--input", "64x64:bf16", "--device", "null:b200", "--recipe", recipe)
    plan = read(lig, "fuse", pair, "--input", "64x64", *h200, "--recipe", "fp8-rows")
    recipes = [op["recipe"] for op in plan["ops"] if op["op"] == "dense"]
    if recipes != ["fp8-rows", "fp8-rows"]:
        sys.exit(f"recipes of the matmuls: {recipes}")
    ranks = ["--ranks", "2", "--parallel", "tensor=2"]
    expect_twin(lig, "all-reduce(of=gradient) ! dense(64, parallel=column) ! gelu ! "
                "dense(64, parallel=row) ! all-reduce", "--input", "64x64", *h200, *ranks)
    expect_twin(lig, "embedding(16, vocabulary=32) ! dense(32, tied=0) ! cross-entropy", "--input",
                "4x8:int32", *h200, *ranks)
    expect_twin(lig, "block(2, recompute=all) { dense(64) ! gelu ! dense(32) } ! cross-entropy",
                "--input", "64x32", *h200)
    expect_reports(lig, work, "Dense", "dense(8) ! gelu ! dense(4) ! cross-entropy", "--input",
                   "8x4")


def try_loss(lig, work):
    """Ranks shard its classes, and training computes the accuracy."""
    h200 = ["--input", "4x8:int32", "--device", "null:h200"]
    sequence = "embedding(64, vocabulary=64) ! linear(64) ! surprise"
    expect_twin(lig, sequence, *h200, "--eval")
    expect_twin(lig, sequence, *h200, "--ranks", "2", "--parallel", "tensor=2", "--recipe",
                "fp8-rows")
    expect_twin(lig, sequence, *h200, "--ranks", "2", "--shard-optimizer", "--optimizer",
                "adamw")
    result = train(lig, work, "linear(8) ! gelu ! linear(4) ! surprise", "--input", "16x8", "--data",
                   "synthetic?samples=64", "--steps", "40", "--lr", "0.01")
    if not result["eval"]["accuracy"] >= 0:
        sys.exit(f"no accuracy: {json.dumps(result)}")
    expect_reports(lig, work, "Surprise", "linear(8) ! surprise", "--input", "8x4")


def try_attention(lig, work):
    """Its kernels are predicted as attention, and ranks shard its heads and its sequence."""
    sequence, h200 = "linear(128) ! focus(4) ! linear(64)", ["--device", "null:h200"]
    expect_twin(lig, sequence, "--input", "4x2048x64:bf16", *h200)
    expect_twin(lig, "block(2, recompute=cheap) { linear(64) ! focus(4) ! linear(32) }", "--input",
                "4x16x32", *h200)
    expect_twin(lig, "embedding(64) ! linear(128, parallel=column, sections=[2, 1, 1]) ! focus(4) ! "
                "linear(64, parallel=row) ! cross-entropy", "--input", "4x8:int32", *h200, "--ranks",
                "2", "--parallel", "tensor=2")
    plan = read(lig, "plan", sequence, "--input", "4x2048x64:bf16", *h200)
    if not all(step.get("attention") for step in plan["steps"] if "attention" in step["kernel"]):
        sys.exit(f"no words on attention: {json.dumps(plan['steps'])}")
    plan = read(lig, "plan", sequence, "--input", "4x2048x64:bf16", *h200, "--ranks", "2",
                "--parallel", "context=2")
    expect("ring-attention", json.dumps(plan["ops"]))
    expect_reports(lig, work, "Focus", "linear(32) ! focus(4) ! linear(16)", "--input", "2x4x16")


def try_dtype(lig, work):
    """Its tests iterate over the table of types."""


def main(keep):
    if not shutil.which("meson") or not shutil.which("ninja"):
        print("meson or ninja is missing")
        return 77
    work = pathlib.Path(tempfile.mkdtemp(prefix="ligature-adding-"))
    os.environ.update(XDG_DATA_HOME=str(work / "home"), XDG_CACHE_HOME=str(work / "cache"),
                      CCACHE_DIR=os.environ.get("CCACHE_DIR", str(pathlib.Path.home() / ".cache/ccache")))
    try:
        return add_all(work)
    finally:
        if not keep:
            shutil.rmtree(work)


def check_page():
    """The code that CONTRIBUTING.md shows is that of the recipe of an op, and lines of kernel-list.h."""
    blocks = re.findall(r"^```c\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
    sources = [(ROOT / path).read_text() for path in
               ("tests/lint/adding/op/engine/ops/negate.c", "kernels/kernel-list.h")]
    for block in blocks:
        if not any(block in source for source in sources):
            sys.exit(f"this block of CONTRIBUTING.md is in no source:\n{block}")
    if len(blocks) < 2:
        sys.exit("CONTRIBUTING.md shows no op")


def check_lints(scratch, recipes):
    """Texts without a translation are accepted, and no other lint reports one of the new files."""
    for lint in ["potfiles.sh", "translations.sh"]:
        before = subprocess.run([ROOT / "tests/lint" / lint, "plain"], stdout=subprocess.DEVNULL)
        run(scratch / "tests/lint" / lint, "plain", status=before.returncode)
    new = [str(path.relative_to(recipe)) for recipe in recipes for path in recipe.rglob("*.c")]
    for lint in ["rooms.py", "families.py", "spdx.sh", "budget.py"]:
        result = subprocess.run([scratch / "tests/lint" / lint], text=True, stdout=subprocess.PIPE)
        for line in result.stdout.splitlines():
            if any(file in line for file in new):
                sys.exit(f"{lint}: {line}")


def add_all(work):
    scratch, folder = work / "ligature", work / "build"
    recipes = sorted(path for path in RECIPES.iterdir() if path.is_dir())
    if not recipes:
        sys.exit("no recipe found")
    check_page()
    copy_sources(scratch)
    failed = False
    for recipe in recipes:
        cost = add(scratch, recipe)
        print(f"{recipe.name:12} {cost[0]} new, {cost[1]} edited")
        if cost != COSTS[recipe.name]:
            print(f"{recipe.name:12} expected {COSTS[recipe.name]}")
            failed = True
    build(scratch, folder)
    for recipe in recipes:
        globals()["try_" + recipe.name](folder / "app/lig", work)
    counted = re.search(r"^Ok: +(\d+)", run("meson", "test", "-C", folder, "--no-rebuild", *TESTS), re.M)
    expect(f"{len(TESTS)} tests", f"{counted[1] if counted else 0} tests")
    check_lints(scratch, recipes)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main("keep" in sys.argv))
