#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares training steps of GPT-2, transformer layers and plain attention with PyTorch on one GPU:
torch.compile replayed as a CUDA graph, and Ligature's policies, in turns of random order; medians,
quartiles, memory. The same weights and data give the same loss and gradients on both sides, which
each row checks first.

    python3 tests/bench/gpu-transformers.py --rows attention-gpt2,gpt2 -o FILE.jsonl
    python3 tests/bench/gpu-transformers.py --device cpu --tiny
"""
import argparse
import contextlib
import datetime
import gc
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# Its key does not contain the attention backend.
os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")

import tensors
from ligature import Ligature
from transformer_rows import ROWS, tiny

GIB = 2.0 ** 30
RECIPES = ("fp8-delayed", "fp8-current", "fp8-rows", "fp8-block")
# Policy, whether nondeterministic summation order is allowed, the recomputation, and the recipe.
OURS = {"measured": ("measured", 0, "none", "none"), "measured-free": ("measured", 1, "none", "none"),
        "cheap": ("measured", 0, "cheap", "none"), "all": ("all", 0, "none", "none"),
        **{recipe: ("measured", 1, "none", recipe) for recipe in RECIPES}}
TOLERANCE = {"fp32": 1e-4, "bf16": 6e-2, "fp8": 0.2}


@contextlib.contextmanager
def limited(seconds, what):
    """Raises TimeoutError after the time limit."""
    def ring(*_):
        raise TimeoutError(f"{what}: more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def say(text):
    print(f"# {time.perf_counter() - say.begin:6.1f} s  {text}", flush=True)


say.begin = time.perf_counter()


class Comparison:
    """One row: its contenders and their results."""

    def __init__(self, torch, options, name):
        self.torch, self.options, self.name = torch, options, name
        self.row = tiny(ROWS[name]) if options.tiny else ROWS[name]
        self.peers, self.ours = {}, {}
        self.result = {"row": name, "date": datetime.date.today().isoformat(),
                       "device": self.device_name(), "pytorch": torch.__version__,
                       "dtype": options.dtype, "expression": self.row.expression(),
                       "input": self.row.shape(options.dtype), "required": self.row.required,
                       "errors": {}, "peers": {}, "ours": {}, "heats": {}}
        self.folder = tempfile.TemporaryDirectory()

    def device_name(self):
        return "cpu" if self.options.device == "cpu" else self.torch.cuda.get_device_name()

    def free_memory(self):
        return self.torch.cuda.mem_get_info()[0] if self.options.device != "cpu" else 0

    @contextlib.contextmanager
    def attempt(self, what, seconds):
        """An error of one contender does not stop the others."""
        try:
            with limited(min(seconds, self.deadline - time.perf_counter()), what):
                yield
        except Exception as error:  # whatever torch.compile, a library or the time limit raise
            self.result["errors"][what] = str(error)[:400] or type(error).__name__
            say(f"{what}: {str(error)[:200]}")
            self.clean()

    # --- Making contenders ---

    def add_peer(self, way):
        from transformer_peers import Peer
        begin = time.perf_counter()
        dtype = getattr(self.torch, tensors.NAMES[{"fp32": "F32", "bf16": "BF16"}[self.options.dtype]])
        peer = Peer(self.row, way, self.options.device, dtype, compiled=self.options.compile,
                    record=self.record)
        self.result["peers"][way] = {
            "prepared_s": time.perf_counter() - begin, "peak_bytes": peer.peak, "note": peer.note,
            "plain_us": peer.plain, "elements": sum(p.numel() for p in peer.weights().values()),
            "expanded": peer.expand}
        say(f"{way}: ready after {time.perf_counter() - begin:.0f} s, {peer.plain:.0f} us before "
            f"the graph, {peer.note}{', keys repeated for grouped heads' if peer.expand else ''}, "
            f"peak {peer.peak / GIB:.2f} GiB")
        self.peers[way] = peer.run

    def path(self, name):
        return os.path.join(self.folder.name, f"{name}.safetensors")

    def record(self, peer):
        """Writes the weights, data and results of the first peer that gets this far."""
        if self.options.kernels:
            with contextlib.suppress(Exception):  # the profiler's library may be missing
                self.result.setdefault("kernels", {})[peer.way] = peer.kernels()
        if not self.options.verify or "recorded" in self.result:
            return
        if peer.weights():
            tensors.save(self.torch, self.path("weights"), peer.weights())
        tensors.save(self.torch, self.path("inputs"), peer.inputs())
        tensors.save(self.torch, self.path("theirs"), peer.values())
        self.result["recorded"] = peer.way

    def add_ours(self, ligature, name):
        policy, free, recompute, recipe = OURS[name]
        row, options = self.row, self.options
        if ligature.process.poll() is not None:  # a time limit has ended it, with its programs
            ligature.start()
            self.ours.clear()
        before = self.free_memory()
        ligature.set(dtype=row.types(options.dtype), nondeterministic=free, recompute=recompute, recipe=recipe,
                     update=int(row.kind == "model"), integers=row.vocabulary or 2)
        remaining = self.deadline - time.perf_counter()
        number, seconds, groups = ligature.load(options.device, row.shape(options.dtype), policy,
                                                row.expression(),
                                                min(options.compile_s, 0.7 * remaining))
        elements, arena, state = map(int, ligature.ask(f"size {number}").split())
        self.result["ours"][name] = {
            "number": number, "prepared_s": seconds, "groups": groups, "elements": elements,
            "predicted_bytes": arena + state, "used_bytes": before - self.free_memory()}
        say(f"{name}: ready after {seconds:.0f} s, {(arena + state) / GIB:.2f} GiB predicted")
        self.ours[name] = lambda count: ligature.run(number, count)
        return number

    def drop(self, ligature, name):
        if name in self.peers:
            del self.peers[name]
            self.clean()
        elif name in self.ours:
            del self.ours[name]
            ligature.ask(f"unload {self.result['ours'][name]['number']}")

    def make_room(self, ligature):
        """Drops the slowest of ours if another one of their size would not fit in memory with
        them."""
        if not self.ours or self.options.device == "cpu":
            return
        needed = 1.15 * max(self.result["ours"][name]["predicted_bytes"] for name in self.ours)
        if self.free_memory() > needed:
            return
        times = {name: run(3) for name, run in self.ours.items()}
        self.result["heats"]["room"] = times
        slowest = max(times, key=times.get)
        say(f"no room: {slowest} goes, {times}")
        self.drop(ligature, slowest)

    def clean(self):
        """Frees the memory of PyTorch's dropped contenders, which contain reference cycles."""
        gc.collect()
        if self.options.device != "cpu":
            self.torch.cuda.empty_cache()

    # --- Comparing ---

    def verify(self, ligature, contender, number):
        """Compares our loss or output, and all gradients, with those of the recorded peer."""
        peers = self.result["peers"]
        if "recorded" not in self.result:
            return
        ours, theirs = self.result["ours"], peers.get(self.result["recorded"])
        if os.path.exists(self.path("weights")):
            ligature.ask(f"weights {number} {self.path('weights')}")
        ligature.ask(f"inputs {number} {self.path('inputs')}")
        ligature.run(number, 1)
        ligature.ask(f"results {number} {self.path('ours')}")
        got, want = (tensors.load(self.torch, self.path(one)) for one in ("ours", "theirs"))
        errors, squares = {}, [0, 0]
        for name in sorted(set(got) | set(want)):
            if name not in got or name not in want or got[name].shape != want[name].shape:
                errors[name] = float("inf")
                continue
            a, b = got[name].float(), want[name].float()
            distance, length = float((a - b).norm()), float(b.norm())
            errors[name] = distance / max(length, 1e-30)
            if name != "output":
                squares = [squares[0] + distance ** 2, squares[1] + length ** 2]
        worst = max(errors, key=errors.get)
        same = theirs is None or all(one["elements"] == theirs["elements"] for one in ours.values())
        whole = (squares[0] / max(squares[1], 1e-30)) ** 0.5
        tolerance = TOLERANCE[self.options.dtype if OURS[contender][3] == "none" else "fp8"]
        # Single tensors may be small differences of large terms, which 16-bit types round coarsely.
        self.result["verified"] = {
            "worst": worst, "error": errors[worst], "output_error": errors.get("output"),
            "gradients_error": whole, "tensors": len(errors), "same_elements": same,
            "ok": same and errors[worst] <= 4 * tolerance and whole <= tolerance and
                  errors.get("output", 1) <= tolerance}
        say(f"same mathematics: {self.result['verified']['ok']}, {len(errors)} tensors, output off by "
            f"{errors.get('output', float('nan')):.2g}, all gradients by {whole:.2g}, the worst is "
            f"{worst} with {errors[worst]:.2g}")

    def turns(self, contenders, rounds):
        """Medians and quartiles of contenders that take turns, in a different order in each round.
        A turn warms the GPU up with this contender, then measures."""
        long = self.options.turn_ms * 1e3
        counts = {name: max(1, min(2000, int(long / run(2)))) for name, run in contenders.items()}
        samples, order = {name: [] for name in contenders}, random.Random(1)
        for _ in range(rounds):
            for name in order.sample(list(contenders), len(contenders)):
                contenders[name](max(1, counts[name] * 3 // 5))
                samples[name].append(contenders[name](counts[name]))
        return {name: dict(zip(("low", "median", "high"), statistics.quantiles(
                    values, n=4) if len(values) > 1 else values * 3))
                for name, values in samples.items()}

    def heat(self, ligature, label):
        """Keeps PyTorch's fastest variant."""
        times = self.turns(self.peers, 3)
        self.result["heats"][label] = {name: one["median"] for name, one in times.items()}
        slower = max(times, key=lambda name: times[name]["median"])
        say(f"{label}: " + ", ".join(f"{n} {t['median']:.0f} us" for n, t in times.items()))
        self.drop(ligature, slower)

    def run(self, ligature):
        from transformer_peers import ways
        self.deadline = time.perf_counter() + self.options.row_s
        chosen = self.options.ways.split(",") if self.options.ways else None
        for way in chosen or ways(self.row, self.options.device):
            if self.peers and self.deadline - time.perf_counter() < 0.55 * self.options.row_s:
                self.result["errors"][way] = "left out, to leave time for the others"
                continue
            with self.attempt(way, self.options.compile_s):
                self.add_peer(way)
                if len(self.peers) > 1:
                    self.heat(ligature, f"heat with {way}")
        for name in self.options.policies.split(","):
            if OURS[name][2] != "none" and not self.row.memory:
                continue  # the other rows are about time alone
            with self.attempt(name, self.options.compile_s):
                self.make_room(ligature)
                number = self.add_ours(ligature, name)
                if "verified" not in self.result:
                    self.verify(ligature, name, number)
        if not self.ours:
            return
        contenders = self.peers | self.ours
        with self.attempt("turns", self.options.row_s):
            first = self.turns(contenders, 1)
            round_s = sum(self.options.turn_ms * 1.7e-3 + 2e-6 * one["median"] for one in first.values())
            rounds = int((self.deadline - time.perf_counter() - 5) / round_s)
            self.result["rounds"] = max(3, min(self.options.rounds, rounds))
            self.result["times"] = self.turns(contenders, self.result["rounds"])
        self.result["health"] = read_health()
        self.judge()

    def judge(self):
        """Adds the ratios to the fastest peer."""
        row, times, judged = self.row, self.result.get("times", {}), {}
        theirs = {name: times[name]["median"] for name in self.peers if name in times}
        ours = {name: times[name]["median"] for name in self.ours if name in times}
        if not theirs or not ours:
            return
        best = min(theirs, key=theirs.get)
        self.result["best_peer"] = best

        def add(what, names, required):
            names = [name for name in names if name in ours]
            # The default policy; recomputation is judged by its memory.
            names = [name for name in names if OURS[name][0] == "measured" and OURS[name][2] == "none"] or names
            if names:
                name = min(names, key=ours.get)
                ratio = ours[name] / theirs[best]
                judged[what] = {"ours": name, "ratio": ratio, "required": required,
                                "met": ratio <= required, "us": ours[name]}

        exact = [name for name, (_, free, _, _) in OURS.items() if not free]
        unquantized = [name for name, (_, _, _, recipe) in OURS.items() if recipe == "none"]
        if row.deterministic:
            add("any order of sums", unquantized, row.required)
            add("deterministic", exact, row.deterministic)
        else:
            add("deterministic", exact, row.required)
            add("any order of sums", unquantized, row.required)
        for recipe in RECIPES:
            add(recipe, [recipe], row.quantized or row.required)
        peak = self.result["peers"][best]["peak_bytes"]
        if row.memory and peak:
            for name in self.ours:
                own = self.result["ours"][name]
                own["used_of_predicted"] = own["used_bytes"] / own["predicted_bytes"]
                ratio = own["used_bytes"] / peak
                judged[f"memory, {name}"] = {
                    "ours": name, "ratio": ratio, "required": row.memory, "met": ratio <= row.memory,
                    "bytes": own["used_bytes"], "of_predicted": own["used_of_predicted"],
                    "time_ratio": ours[name] / theirs[best]}
        self.result["judged"] = judged

    def close(self, ligature):
        """Frees the contenders' resources and writes the result."""
        for name in [*self.peers, *self.ours]:
            with contextlib.suppress(RuntimeError, BrokenPipeError):
                self.drop(ligature, name)
        self.torch._dynamo.reset()
        self.clean()
        self.folder.cleanup()
        if self.options.output:
            with open(self.options.output, "a") as file:
                file.write(json.dumps(self.result) + "\n")


def read_health():
    query = "name,driver_version,clocks.sm,power.draw,power.limit,temperature.gpu"
    with contextlib.suppress(OSError):
        return subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
                              capture_output=True, text=True).stdout.strip()
    return ""


def print_table(results):
    print(f"\n{'row':18}{'fastest peer':>22}{'ours':>26}{'ratio':>8}{'bar':>6}  ")
    for result in results:
        peer = result.get("best_peer")
        if not peer:
            print(f"{result['row']:18}not compared")
        for what, one in result.get("judged", {}).items():
            if what.startswith("memory"):
                theirs = f"{peer} {result['peers'][peer]['peak_bytes'] / GIB:.2f} GiB"
                ours = f"{one['ours']} {one['bytes'] / GIB:.2f} GiB"
            else:
                theirs = f"{peer} {result['times'][peer]['median'] / 1e3:.3f} ms"
                ours = f"{one['ours']} {one['us'] / 1e3:.3f} ms"
            note = (f", {one['of_predicted']:.3f} of the prediction, {one['time_ratio']:.3f} of its time"
                    if "of_predicted" in one else "")
            print(f"{result['row']:18}{theirs:>22}{ours:>26}{one['ratio']:8.3f}{one['required']:6.2f}"
                  f"  {'met' if one['met'] else 'missed'}, {what}{note}")
        for name, time_ in result.get("times", {}).items():
            print(f"{'':18}{name:>22}{time_['median'] / 1e3:13.3f} ms, quartiles "
                  f"{time_['low'] / 1e3:.3f} to {time_['high'] / 1e3:.3f}")
        seen = result.get("verified")
        print(f"{'':18}{'same mathematics':>22}  "
              f"{'not checked' if not seen else ('yes' if seen['ok'] else 'NO')}"
              f"{'' if not seen else ', output %.2g, gradients %.2g' % (seen['output_error'], seen['gradients_error'])}")
        for what, error in result["errors"].items():
            print(f"{'':18}{what:>22}  {error.splitlines()[0][:110]}")


def parse():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                      formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--turns", default="build/tests/bench/turns")
    options.add_argument("--rows", default=",".join(ROWS))
    options.add_argument("--ways", help="PyTorch's ways, joined by commas, instead of all")
    options.add_argument("--policies", default=",".join(name for name in OURS if name not in RECIPES),
                         help="of ours, and recipes with policy measured")
    options.add_argument("--device", default="cuda:0")
    options.add_argument("--dtype", choices=("fp32", "bf16"), help="bf16 on a GPU, fp32 on the CPU")
    options.add_argument("--tiny", action="store_true", help="small sizes, to try the script")
    options.add_argument("--eager", dest="compile", action="store_false", help="no torch.compile")
    options.add_argument("--no-verify", dest="verify", action="store_false")
    options.add_argument("--kernels", action="store_true", help="list PyTorch's longest kernels")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--turn-ms", type=float, default=200)
    options.add_argument("--row-s", type=float, default=240, help="the most seconds of a row")
    options.add_argument("--compile-s", type=float, default=150, help="and of one contender")
    options.add_argument("-o", "--output", help="a file that gets one line of JSON for each row")
    options = options.parse_args()
    unknown = [name for name in options.rows.split(",") if name not in ROWS]
    if unknown:
        sys.exit(f"no such row: {', '.join(unknown)}; expected {', '.join(ROWS)}")
    cpu = options.device == "cpu"
    options.dtype = options.dtype or ("fp32" if cpu else "bf16")
    options.compile = options.compile and not cpu
    return options


def find_cudnn(torch):
    """The file of the cuDNN that PyTorch has opened, for both sides to use the same; else None."""
    torch.backends.cudnn.version()
    with open("/proc/self/maps") as maps:
        return next((line.split()[-1] for line in maps if "/libcudnn.so" in line), None)


def main():
    options = parse()
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    if options.device != "cpu" and not torch.cuda.is_available():
        print("skipped: PyTorch finds no GPU")
        return 0
    torch.set_float32_matmul_precision("highest")
    cudnn = find_cudnn(torch) if options.device != "cpu" else None
    environment = {"LIGATURE_CUDNN": cudnn} if cudnn and "LIGATURE_CUDNN" not in os.environ else {}
    if cudnn:
        say(f"cuDNN: {environment.get('LIGATURE_CUDNN', os.environ.get('LIGATURE_CUDNN'))}")
    ligature, results = Ligature(options.turns, environment), []
    if options.device != "cpu":
        torch.zeros(1, device=options.device)
        ligature.ask(f"open {options.device}")
    for name in options.rows.split(","):
        say(name)
        if ligature.process.poll() is not None:
            ligature.start()
        comparison = Comparison(torch, options, name)
        try:
            comparison.run(ligature)
        except Exception as error:  # one row that fails leaves the others their turn
            comparison.result["errors"]["row"] = str(error)[:400]
            say(f"{name}: {error}")
        comparison.close(ligature)
        results.append(comparison.result)
    ligature.stop()
    print_table(results)
    wrong = [one for one in results if one.get("verified", {}).get("ok") is False]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
