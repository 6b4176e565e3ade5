#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares grouped matmuls with dense ones of as many operations, of Ligature and of PyTorch, on one
GPU in one run. Ligature's are timed by the test program gpu-experts-speed, whose lines this reads.

    python3 tests/bench/gpu-experts.py build/tests/test-gpu-experts-speed
"""
import argparse
import re
import statistics
import subprocess

import torch

ROUNDS, LAUNCHES = 5, 4
# The shapes of the test program: groups, columns, depth, rows; the rows of group g are proportional
# to 1 / (g + 1) ** skew.
SHAPES = {"first matmul, even": (64, 2816, 2048, 131072, 0.0),
          "first matmul, uneven": (64, 2816, 2048, 131072, 0.5),
          "first matmul, zipf": (64, 2816, 2048, 131072, 1.0),
          "second matmul, uneven": (64, 2048, 1408, 131072, 0.5),
          "8 groups of 4096": (8, 2048, 768, 32768, 0.0),
          "8 groups of 4096, uneven": (8, 2048, 768, 32768, 0.5)}
LINE = re.compile(r"# (.*): (grouped_\w+): ([\d.]+) ms, .*ratio ([\d.]+)")


def time_of(call):
    """Returns the median of the milliseconds of a call."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for turn in range(-1, ROUNDS):
        begin.record()
        for _ in range(LAUNCHES):
            call()
        end.record()
        torch.cuda.synchronize()
        if turn >= 0:
            times.append(begin.elapsed_time(end) / LAUNCHES)
    return statistics.median(times)


def random_matrix(*shape):
    return torch.rand(shape, device="cuda", dtype=torch.bfloat16) * 2 - 1


def torch_times(groups, columns, depth, rows, skew):
    """Returns the milliseconds of the three grouped matmuls and of the three dense ones."""
    shares = torch.tensor([(g + 1) ** -skew for g in range(groups)], dtype=torch.float64)
    ends = (shares.cumsum(0) / shares.sum() * rows).round().to(torch.int32).cuda()
    x, y = random_matrix(rows, depth), random_matrix(rows, columns)
    weight = random_matrix(groups, columns, depth)
    grouped = [time_of(lambda: torch._grouped_mm(x, weight.transpose(1, 2), offs=ends)),
               time_of(lambda: torch._grouped_mm(y, weight, offs=ends)),
               time_of(lambda: torch._grouped_mm(y.t(), x, offs=ends))]
    dense = [time_of(lambda: x @ weight[0].t()), time_of(lambda: y @ weight[0]),
             time_of(lambda: y.t() @ x)]
    return grouped, dense


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="+", help="the test program, with what runs it")
    output = subprocess.run(parser.parse_args().program, check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    own = {}
    for name, kernel, milliseconds, ratio in LINE.findall(output):
        own.setdefault(name, []).append((kernel, float(milliseconds), float(ratio)))
    print("| shape | matmul | Ligature | of dense | PyTorch | of dense |\n|---|---|---|---|---|---|")
    for name, shape in SHAPES.items():
        grouped, dense = torch_times(*shape)
        for (kernel, milliseconds, ratio), theirs, other in zip(own[name], grouped, dense):
            print(f"| {name} | {kernel.removeprefix('grouped_')} | {milliseconds:.3f} ms | {ratio:.3f}"
                  f" | {theirs:.3f} ms | {theirs / other:.3f} |")
        total = sum(time for _, time, _ in own[name])
        at_dense = sum(time / ratio for _, time, ratio in own[name])
        print(f"| {name} | all | {total:.3f} ms | {total / at_dense:.3f} | {sum(grouped):.3f} ms | "
              f"{sum(grouped) / sum(dense):.3f} |", flush=True)


if __name__ == "__main__":
    main()
