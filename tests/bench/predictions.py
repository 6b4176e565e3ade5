#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares predictions with a GPU: for each sequence the groups of the plan for a device
description with those of the plan that is measured on the GPU, and the times of the passes. For
comparison it prints the error of roofline-only predictions, in plans with every applicable fusion.

    python3 tests/bench/predictions.py [--lig build/app/lig] [--device cuda:0] [--profile h200]
                                       [--only NAME,NAME] [-o FILE.json]

With --recorded FILE.json, a result of -o, it needs no GPU: it prints the table of data/doc/gpu.md,
current predictions next to the recorded times.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

MLP = ("make-extra-output(to=r) ! {norm} ! linear({wide}{bias}) ! {unit} ! linear({features}{bias})"
       " ! add-extra-input(from=r)")


def mlp(features, wide, unit, norm="layer-norm", bias=""):
    return MLP.format(norm=norm, wide=wide, unit=unit, features=features, bias=bias)


# name: the sequence and its input
CASES = {
    "A": (mlp(4096, 28672, "swiglu", bias=", bias=false"), "16384x4096:bf16"),
    "B": (mlp(4096, 16384, "gelu"), "8192x4096:bf16"),
    "C": (mlp(768, 3072, "gelu"), "8192x768:bf16"),
    "D": (mlp(1024, 5632, "swiglu", "rms-norm", ", bias=false"), "2048x1024:bf16"),
    "E": (mlp(256, 1024, "gelu"), "256x256:bf16"),
    "residual-mlp, 512": ("data/examples/residual-mlp.lig", "512x768:bf16"),
    "residual-mlp, 2048": ("data/examples/residual-mlp.lig", "2048x768:bf16"),
    "residual-mlp, 16384": ("data/examples/residual-mlp.lig", "16384x768:bf16"),
    "classifier, 64": ("data/examples/classifier.lig", "64x784:fp32"),
    "classifier, 4096": ("data/examples/classifier.lig", "4096x784:fp32"),
    "byte-model, 256": ("data/examples/byte-model.lig", "256x16:int32"),
    "byte-model, 4096": ("data/examples/byte-model.lig", "4096x16:int32"),
}
# The names of sequences that --recorded prints.
TITLES = {
    "A": "MLP 4096-14336, SwiGLU, LayerNorm, 16384 tokens",
    "B": "MLP 4096-16384, GELU, LayerNorm, 8192 tokens",
    "C": "MLP 768-3072, GELU, LayerNorm, 8192 tokens",
    "D": "MLP 1024-2816, SwiGLU, RMSNorm, 2048 tokens",
    "E": "MLP 256-1024, GELU, LayerNorm, 256 tokens",
}
PASSES = ("forward", "backward")


def run(lig, *arguments):
    result = subprocess.run([lig, *arguments, "--json"], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"lig {' '.join(arguments)}: {result.stderr}")
    return json.loads(result.stdout)


def groups(plan, name):
    """The groups of a pass that have kernels, as pairs of the fusion and its ops."""
    return {(group["fusion"], tuple(group["ops"])) for group in plan[name] if group["kernels"]}


def seconds(plan, name, key):
    times = [group[key] for group in plan[name] if group["kernels"]]
    return None if None in times else sum(times)


def bare(profile, folder):
    """Writes the profile without costs; returns the name of the device that it describes."""
    path = profile if profile.endswith(".json") else f"data/devices/{profile}.json"
    with open(path, encoding="utf-8") as file:
        facts = json.load(file)
    facts.pop("costs", None)
    path = os.path.join(folder, "bare.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(facts, file)
    return "null:" + path


def compare(options, name, device):
    sequence, shape = CASES[name]
    common = ("fuse", sequence, "--input", shape, "--device")
    predicted = run(options.lig, *common, "null:" + options.profile)
    before = run(options.lig, *common, device, "--policy", "all")
    measured = run(options.lig, *common, options.device, "--policy", "measured")
    both = [groups(predicted, one) & groups(measured, one) for one in PASSES]
    result = {
        "name": name,
        "agree": sum(len(some) for some in both),
        "groups": sum(len(groups(measured, one)) for one in PASSES),
    }
    for one in PASSES:
        result[one] = {
            "predicted_us": seconds(predicted, one, "predicted_us"),
            "measured_us": seconds(measured, one, "measured_us"),
            "peak_rates_us": seconds(before, one, "predicted_us"),
        }
    return result


def error(times, key):
    if not times[key] or not times["measured_us"]:
        return "-"
    return f"{100 * (times[key] / times['measured_us'] - 1):+.0f} %"


def show(result):
    cells = [f"{result['name']:<20}{result['agree']:>3}/{result['groups']:<3}"]
    for one in PASSES:
        times = result[one]
        cells.append(f"{times['predicted_us']:>9.1f}{times['measured_us'] or 0:>9.1f}"
                     f"{error(times, 'predicted_us'):>7}{error(times, 'peak_rates_us'):>7}")
    print("  ".join(cells), flush=True)


def show_recorded(options, device):
    """Prints predictions next to the measured times of a file, as a table in Markdown."""
    with open(options.recorded, encoding="utf-8") as file:
        records = {record["name"]: record for record in json.load(file)}
    columns = ["predicted", "measured", "error", "roofline"]
    print("| " + " | ".join(["sequence", "forward " + columns[0], *columns[1:],
                             "backward " + columns[0], *columns[1:]]) + " |")
    print("|" + "---|" * 9)
    for name, (sequence, shape) in CASES.items():
        common = ("fuse", sequence, "--input", shape, "--device")
        predicted = run(options.lig, *common, "null:" + options.profile)
        before = run(options.lig, *common, device, "--policy", "all")
        cells = [TITLES.get(name) or "{}, batch {}".format(*name.split(", "))]
        for one in PASSES:
            times = {"predicted_us": seconds(predicted, one, "predicted_us"),
                     "measured_us": records[name][one]["measured_us"],
                     "peak_rates_us": seconds(before, one, "predicted_us")}
            cells += [f"{times[key]:.1f}" if times[key] < 1000 else f"{times[key]:.0f}"
                      for key in ("predicted_us", "measured_us")]
            cells += [error(times, "predicted_us"), error(times, "peak_rates_us")]
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--lig", default="build/app/lig")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--profile", default="h200", help="a shipped profile, or a file")
    parser.add_argument("--only", help="names of sequences, separated by commas")
    parser.add_argument("-o", "--output", help="a JSON file for the results")
    parser.add_argument("--recorded", help="a file that -o wrote: compare with it, without a GPU")
    options = parser.parse_args()
    if options.recorded:
        with tempfile.TemporaryDirectory() as folder:
            show_recorded(options, bare(options.profile, folder))
        return
    chosen = options.only.split(",") if options.only else list(CASES)
    heading = f"{'predicted':>9}{'measured':>9}{'error':>7}{'before':>7}"
    print(f"{'':<20}groups  {'forward, us':<32}  backward, us")
    print(f"{'':<20}{'':>7}  {heading}  {heading}")
    with tempfile.TemporaryDirectory() as folder:
        device = bare(options.profile, folder)
        results = []
        for name in chosen:
            results.append(compare(options, name, device))
            show(results[-1])
    agree, all_groups = (sum(one[key] for one in results) for key in ("agree", "groups"))
    print(f"{agree} of {all_groups} groups agree: {100 * agree / max(all_groups, 1):.0f} %")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
