#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a training step with PyTorch's eager mode on the CPU: both in turns, medians, ratios.

    python3 tests/bench/peers.py [--lig build/app/lig] [--rounds 15]

PyTorch is not a dependency of the project: without it the comparison is skipped with a message.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

CASE = "layer-norm ! linear(3072) ! gelu ! linear(768)"
BATCH, FEATURES, HIDDEN = 2048, 768, 3072


def ligature(lig, environment):
    """One process: policies none and all in turns; microseconds of forward, backward and update."""
    command = [lig, "profile", CASE, "--input", f"{BATCH}x{FEATURES}", "--device", "cpu", "--steps", "3",
               "--compare", "none,all", "--json"]
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return {p["policy"]: p for p in json.loads(out)}


class Eager:
    """The same step in PyTorch: eager forward, backward and AdamW."""

    def __init__(self, torch):
        self.torch = torch
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.LayerNorm(FEATURES), torch.nn.Linear(FEATURES, HIDDEN),
            torch.nn.GELU(approximate="tanh"), torch.nn.Linear(HIDDEN, FEATURES))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.0)
        self.x = torch.rand(BATCH, FEATURES) * 2 - 1
        self.dy = torch.rand(BATCH, FEATURES) * 2 - 1
        self.step()

    def step(self):
        begin = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        y = self.model(self.x)
        forward = time.perf_counter()
        y.backward(self.dy)
        backward = time.perf_counter()
        self.optimizer.step()
        end = time.perf_counter()
        return forward - begin, backward - forward, end - backward


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--lig", default="build/app/lig")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--threads", type=int, default=os.cpu_count())
    options = options.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    torch.set_num_threads(options.threads)
    eager = Eager(torch)
    store = os.path.join(tempfile.mkdtemp(), "bench.db")
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), LIGATURE_STORE=store)
    ours, theirs = {"none": [], "all": []}, []
    for _ in range(options.rounds):
        for policy, profile in ligature(options.lig, environment).items():
            ours[policy].append([profile[k] * 1e-6 for k in ("forward_us", "backward_us", "update_us")])
        theirs.append([statistics.median(column) for column in zip(*(eager.step() for _ in range(3)))])

    def median(rows, columns):
        return statistics.median(sum(row[c] for c in columns) for row in rows)

    print(f"{CASE}, {BATCH} x {FEATURES}, fp32, {options.threads} threads, PyTorch {torch.__version__}")
    print(f"{'':24}{'PyTorch ms':>12}{'none ms':>10}{'all ms':>10}{'all/PyTorch':>13}{'all/none':>10}")
    for name, columns in (("forward", [0]), ("backward", [1]), ("forward + backward", [0, 1]),
                          ("update", [2]), ("step", [0, 1, 2])):
        peer, none, fused = median(theirs, columns), median(ours["none"], columns), median(ours["all"], columns)
        print(f"{name:24}{peer * 1e3:12.2f}{none * 1e3:10.2f}{fused * 1e3:10.2f}"
              f"{fused / peer:13.3f}{fused / none:10.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
