#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares forward and backward passes with PyTorch on one GPU: eager, compiled, compiled and
captured, and Ligature's policies, all in turns on random data; medians and ratios.

    python3 tests/bench/gpu-peers.py [--turns build/tests/bench/turns] [--cases A,C]
                                     [--recipes fp8-delayed,fp8-rows] [-o FILE.json]
"""
import argparse
import datetime
import json
import random
import statistics
import subprocess
import sys

from ligature import Ligature

# The maximum ratio to PyTorch's time with each recipe.
RECIPES = {
    "fp8-delayed": {"A": .575, "B": .575, "C": .85, "D": 1.0},
    "fp8-current": {"A": .59, "B": .60, "C": .85, "D": 1.0},
    "fp8-rows": {"A": .575, "B": .575, "C": .85, "D": 1.0},
    "fp8-block": {"A": .68, "B": .70, "C": .85, "D": 1.0},
}
# name: tokens, features, hidden, norm, gated, bias, required ratio to the best of PyTorch
CASES = {
    "A": (16384, 4096, 14336, "layer-norm", True, False, 0.99),
    "B": (8192, 4096, 16384, "layer-norm", False, True, 0.96),
    "C": (8192, 768, 3072, "layer-norm", False, True, 0.85),
    "D": (2048, 1024, 2816, "rms-norm", True, False, 0.90),
    "E": (256, 256, 1024, "layer-norm", False, True, 0.90),
}
POLICIES = ("none", "all", "measured")


def expression(case):
    _, features, hidden, norm, gated, bias, _ = CASES[case]
    more = "" if bias else ", bias=false"
    width, unit = (2 * hidden, "swiglu") if gated else (hidden, "gelu")
    return (f"make-extra-output(to=r) ! {norm} ! linear({width}{more}) ! {unit} ! "
            f"linear({features}{more}) ! add-extra-input(from=r)")


def model(torch, case):
    _, features, hidden, norm, gated, bias, _ = CASES[case]

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            make = torch.nn.LayerNorm if norm == "layer-norm" else torch.nn.RMSNorm
            self.norm = make(features, eps=1e-5)
            self.first = torch.nn.Linear(features, 2 * hidden if gated else hidden, bias=bias)
            self.second = torch.nn.Linear(hidden, features, bias=bias)

        def forward(self, x):
            h = self.first(self.norm(x))
            if gated:
                gate, linear = h.chunk(2, dim=-1)
                h = torch.nn.functional.silu(gate) * linear
            else:
                h = torch.nn.functional.gelu(h, approximate="tanh")
            return x + self.second(h)

    return Block().to(device="cuda", dtype=torch.bfloat16)


class Peer:
    """One way of PyTorch to run one case."""

    def __init__(self, torch, case, way):
        tokens, features = CASES[case][:2]
        self.torch = torch
        torch.manual_seed(0)
        self.block = model(torch, case)
        self.x = (torch.rand(tokens, features, device="cuda") * 2 - 1).bfloat16().requires_grad_()
        self.dy = (torch.rand(tokens, features, device="cuda") * 2 - 1).bfloat16()
        self.call = torch.compile(self.block) if way != "eager" else self.block
        self.once = self.step
        for _ in range(3):
            self.step()
        if way == "graph":
            self.capture()

    def step(self):
        for parameter in self.block.parameters():
            parameter.grad = None
        self.x.grad = None
        self.call(self.x).backward(self.dy)

    def capture(self):
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        self.once = graph.replay

    def run(self, count):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            self.once()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / count


def compare(torch, ligature, case, rounds, ways, recipes):
    contenders, notes = {}, {}
    for way in ways:
        peer = Peer(torch, case, way)
        contenders[way] = peer.run
    plans = [(policy, policy, "none") for policy in POLICIES]
    for name, policy, recipe in plans + [(recipe, "measured", recipe) for recipe in recipes]:
        tokens, features = CASES[case][:2]
        ligature.set(recipe=recipe)
        number, seconds, groups = ligature.load("cuda:0", f"{tokens}x{features}:bf16", policy,
                                                expression(case))
        notes[name] = {"compile_s": seconds, "groups": groups, "number": number}
        contenders[name] = lambda count, number=number: ligature.run(number, count)
    # A turn warms the GPU up with this contender for about 60 ms, then measures for 100 ms; the
    # order of the turns differs in each round.
    counts = {name: max(1, min(2000, int(100e3 / run(3)))) for name, run in contenders.items()}
    samples, order = {name: [] for name in contenders}, random.Random(1)
    for _ in range(rounds):
        names = order.sample(list(contenders), len(contenders))
        for name in names:
            contenders[name](max(1, counts[name] * 3 // 5))
            samples[name].append(contenders[name](counts[name]))
    result = {name: statistics.median(values) for name, values in samples.items()}
    spread = {name: (statistics.quantiles(v, n=4)[2] - statistics.quantiles(v, n=4)[0]) / 2
              for name, v in samples.items()}
    host = float(ligature.ask(f"host {notes['measured']['number']} 50"))
    return {"case": case, "expression": expression(case), "microseconds": result, "spread": spread,
            "best_peer": min((result[way] for way in ways), default=float("nan")), "required": CASES[case][-1],
            "host_us": host, "plans": notes}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--turns", default="build/tests/bench/turns")
    options.add_argument("--cases", default="A,B,C,D,E")
    options.add_argument("--ways", default="eager,compile,graph",
                         help="PyTorch's ways, joined by commas; empty: Ligature's policies alone")
    options.add_argument("--recipes", default="", help="recipes, with policy measured each")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("-o", "--output")
    options = options.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch finds no GPU")
        return 0
    ligature, results = Ligature(options.turns), []
    ways, recipes = ([word for word in text.split(",") if word] for text in (options.ways, options.recipes))
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, bf16, forward + backward, microseconds")
    print(f"{'case':5}" + "".join(f"{name:>10}" for name in (*ways, *POLICIES, *(r[4:] for r in recipes))) +
          f"{'ratio':>8}{'bar':>6}{'m/best':>8}{'host':>7}")
    for case in options.cases.split(","):
        torch.cuda.empty_cache()
        if hasattr(torch, "_dynamo"):
            torch._dynamo.reset()  # else the fifth case meets the limit of recompilations
        try:
            r = compare(torch, ligature, case, options.rounds, ways, recipes)
        except Exception as error:  # one case that fails leaves the others their turn
            print(f"{case}: {error}", flush=True)
            continue
        results.append(r)
        us = r["microseconds"]
        print(f"{case:5}" + "".join(f"{us[name]:10.1f}" for name in (*ways, *POLICIES, *recipes)) +
              f"{us['measured'] / r['best_peer']:8.3f}{r['required']:6.2f}"
              f"{us['measured'] / min(us['none'], us['all']):8.3f}{r['host_us']:7.1f}", flush=True)
        for recipe in recipes:
            bar = RECIPES.get(recipe, {}).get(case)
            print(f"  {case} {recipe}: {us[recipe] / r['best_peer']:.3f} of PyTorch"
                  f"{f', required {bar}' if bar else ''}; {us[recipe] / us['measured']:.3f} of bf16", flush=True)
    for r in results:
        for policy, note in r["plans"].items():
            print(f"{r['case']} {policy}: compiled in {note['compile_s']:.1f} s: {note['groups']}")
    if options.output:
        driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,power.limit", "--format=csv,noheader"],
                                capture_output=True, text=True).stdout.strip()
        with open(options.output, "w") as file:
            json.dump({"date": datetime.date.today().isoformat(), "device": driver,
                       "pytorch": torch.__version__, "cuda": torch.version.cuda, "results": results}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
