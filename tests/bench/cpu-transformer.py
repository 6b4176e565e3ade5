#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a training step of data/examples/gpt2-tiny.lig (fp32, AdamW, clipping) with the same
model in PyTorch's eager mode on the same CPUs: one process each, in turns of random order; medians
and quartiles of wall-clock and CPU time.

    python3 tests/bench/cpu-transformer.py [--threads 2] [--rounds 21]

CPU time can be compared on a loaded machine, best with --threads 1 (it includes the time of waiting
threads); wall-clock time only on an idle one.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUIRED = 1.1


def read_score(path):
    """Returns the row of a score written like gpt2-tiny."""
    from transformer_rows import Row
    score = json.loads(path.read_text())
    ops = {one["op"]: one for one in score["ops"]}
    layer, = ops["block"]["ops"]
    batch, length = score["input"]["shape"]
    heads = layer["heads"]
    return Row("model", batch, length, ops["embedding"]["features"], heads, heads, REQUIRED,
               layers=ops["block"]["repeat"], vocabulary=ops["embedding"].get("vocabulary", 256))


class Eager:
    """PyTorch's side, in this process."""

    def __init__(self, torch, row):
        from transformer_models import Gpt2, paths
        torch.manual_seed(0)
        self.torch, self.paths = torch, paths
        self.model = Gpt2(row.vocabulary, row.length, row.features, row.layers, row.heads)
        self.x, self.targets = (torch.randint(0, row.vocabulary, (row.batch, row.length))
                                for _ in range(2))
        trained = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(
            [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01},
             {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0}],
            lr=1e-4, betas=(0.9, 0.95), eps=1e-8, fused=True)

    def passes(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(self.x, self.targets)
        loss.backward()
        return loss

    def step(self):
        self.passes()
        self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def run(self, count):
        before, begin = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        for _ in range(count):
            self.step()
        after, end = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return (end - begin) / count, busy / count


class Ours:
    """One program of the process `turns`."""

    def __init__(self, ligature, number):
        self.ligature, self.number = ligature, number

    def busy(self):
        """Seconds of CPU time of the process so far, over all threads."""
        words = pathlib.Path(f"/proc/{self.ligature.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def run(self, count):
        before = self.busy()
        clock = self.ligature.run(self.number, count) * 1e-6
        return clock, (self.busy() - before) / count


def verify(torch, eager, ligature, number):
    """Compares loss and gradients for the same weights and tokens; returns the largest
    difference."""
    import tensors
    with tempfile.TemporaryDirectory() as folder:
        weights = eager.paths(eager.model)
        tensors.save(torch, f"{folder}/w", weights)
        tensors.save(torch, f"{folder}/x", {"input": eager.x.int(), "extra.0": eager.targets.int()})
        ligature.ask(f"weights {number} {folder}/w")
        ligature.ask(f"inputs {number} {folder}/x")
        ligature.run(number, 1)
        ligature.ask(f"results {number} {folder}/y")
        got = tensors.load(torch, f"{folder}/y")
    want = {"output": eager.passes().detach()}
    want |= {f"grad.{path}": one.grad for path, one in weights.items()}
    assert set(got) == set(want), f"tensors differ: {sorted(set(got) ^ set(want))}"
    return max(float((got[name] - one).norm() / one.norm()) for name, one in want.items())


def parse():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                      formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--turns", default="build/tests/bench/turns")
    options.add_argument("--score", type=pathlib.Path, default=ROOT / "data/examples/gpt2-tiny.lig")
    options.add_argument("--threads", type=int, default=os.cpu_count())
    options.add_argument("--rounds", type=int, default=21)
    options.add_argument("--spin", action="store_true", help="threads spin before they sleep, as they "
                         "do by default: never on a loaded machine")
    options.add_argument("--turn", type=int, default=16, help="steps of a turn, after two that warm up")
    options.add_argument("--policies", default="none,all,measured")
    options.add_argument("-o", "--output", help="a file for the result as JSON")
    return options.parse_args()


def main():
    options = parse()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    if not options.spin:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    from ligature import Ligature
    torch.set_num_threads(options.threads)
    row, ligature = read_score(options.score), Ligature(options.turns)
    eager = Eager(torch, row)
    ligature.set(dtype="fp32:fp32", update=1, integers=row.vocabulary)
    contenders, numbers = {"PyTorch": eager.run}, {}
    for policy in options.policies.split(","):
        numbers[policy], _, _ = ligature.load("cpu", row.shape("fp32"), policy, row.expression())
        contenders[policy] = Ours(ligature, numbers[policy]).run
    difference = verify(torch, eager, ligature, next(iter(numbers.values())))
    samples, order = {name: [] for name in contenders}, random.Random(1)
    for _ in range(options.rounds):
        for name in order.sample(list(contenders), len(contenders)):
            contenders[name](2)
            samples[name].append(contenders[name](options.turn))
    ligature.stop()
    report(options, row, torch, samples, difference)
    return 0


def report(options, row, torch, samples, difference):
    result = {"expression": row.expression(), "input": row.shape("fp32"), "threads": options.threads,
              "pytorch": torch.__version__, "difference": difference, "seconds": {}}
    print(f"{options.score.name}, {row.batch} x {row.length} tokens, fp32, {options.threads} threads, "
          f"PyTorch {torch.__version__}; loss and gradients differ by {difference:.1g} at most")
    print(f"{'':10}{'clock ms':>10}{'quartiles':>18}{'ratio':>8}{'busy ms':>10}{'ratio':>8}   bar {REQUIRED}")
    base = [statistics.median(column) for column in zip(*samples["PyTorch"])]
    for name, values in samples.items():
        clock, busy = zip(*values)
        low, middle, high = statistics.quantiles(clock, n=4)
        used = statistics.median(busy)
        result["seconds"][name] = {"low": low, "median": middle, "high": high, "busy": used}
        print(f"{name:10}{middle * 1e3:10.2f}{f'{low * 1e3:.2f} to {high * 1e3:.2f}':>18}"
              f"{middle / base[0]:8.3f}{used * 1e3:10.2f}{used / base[1]:8.3f}")
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
