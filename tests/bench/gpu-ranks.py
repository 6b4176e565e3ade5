#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares training on two GPUs with training on one, and GPT-2 with PyTorch's
DistributedDataParallel and torch.compile, in turns of random order; medians. Other rows: tensor and
sequence parallel Llama layers, the losses and gradients of every parallelism, ranks that end or
hang, and the times of NCCL's collectives next to our predictions.

    python3 tests/bench/gpu-ranks.py --lig build/app/lig -o FILE.json
    python3 tests/bench/gpu-ranks.py --lig build/app/lig --tiny
"""
import argparse
import array
import json
import os
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from transformer_rows import ROWS, tiny

HERE = os.path.dirname(os.path.abspath(__file__))
LAYOUTS = {"data": "data=2", "data, sharded": "data=2", "tensor": "tensor=2", "sequence": "tensor=2",
           "context": "context=2"}
LAYER = ("transformer-layer(32, kv-heads=8, ffn-features=14336, activation=swiglu, "
         "normalization=rms-norm, bias=false, rotary=true, rotary-base=500000{more})")
SMALL_LAYER = "transformer-layer(8, kv-heads=2, ffn-features=128, bias=false, rotary=true{more})"


def small_model(parallel):
    more = f", parallel={parallel}" if parallel else ""
    part, whole = (("shard-rows ! ", "all-gather(gradient=part) ! ") if parallel == "sequence" else ("", ""))
    return (f"embedding(128, vocabulary=256) ! {part}block(2){{ transformer-layer(4, rotary=true{more}) }} "
            f"! {whole}layer-norm ! linear(256) ! cross-entropy")


def read_tensors(path):
    """The tensors of a safetensors file in fp32."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        head, data = json.loads(file.read(size)), file.read()
    return {name: array.array("f", data[slice(*entry["data_offsets"])])
            for name, entry in head.items() if name != "__metadata__" and entry["dtype"] == "F32"}


def read_step(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        return int(json.loads(file.read(size))["__metadata__"]["ligature.step"])


def find_ranks(store):
    """The processes of the ranks of a run with that store, by rank."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        rank = [word.split(b"=")[1] for word in words if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if rank and f"LIGATURE_STORE={store}".encode() in words:
            found[int(rank[0])] = int(process)
    return found


def say(text):
    print(f"# {time.perf_counter() - say.begin:6.1f} s  {text}", flush=True)


say.begin = time.perf_counter()


class Peer:
    """Two processes of PyTorch."""

    def __init__(self, small, way):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.processes = []
        for rank in range(2):
            environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2",
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
            self.processes.append(subprocess.Popen(
                [sys.executable, os.path.join(HERE, "ranks_peer.py"), "tiny" if small else "full", way],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment))

    def ask(self, what, count=1):
        asked = self.processes[:1] if what == "alone" else self.processes
        for one in asked:
            one.stdin.write(f"{what} {count}\n")
        answers = []
        for one in asked:
            for line in one.stdout:
                if line.startswith("answer "):
                    answers.append(json.loads(line[7:]))
                    break
        if len(answers) < len(asked) or any(isinstance(one, dict) and "error" in one for one in answers):
            raise RuntimeError(f"{what}: {answers}")
        return answers[0] if what == "links" else max(answers)

    def stop(self):
        for one in self.processes:
            one.kill()
            one.wait()


class Bench:
    def __init__(self, options):
        self.options, self.folder = options, tempfile.mkdtemp()
        self.result = {"date": time.strftime("%Y-%m-%d"), "errors": {}}
        self.environment = dict(os.environ)
        self.environment.setdefault("LIGATURE_STORE", os.path.join(self.folder, "bench.db"))
        self.row = tiny(ROWS["gpt2"]) if options.tiny else ROWS["gpt2"]

    def lig(self, *words, seconds=240):
        """Returns the document that a command prints."""
        begin = time.perf_counter()
        done = subprocess.run([*self.options.lig.split(), *words, "--json"], env=self.environment, text=True,
                              capture_output=True, timeout=seconds)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words[:2])}: {done.stderr.strip()[-600:]}")
        document = json.loads(done.stdout)
        document["seconds"] = time.perf_counter() - begin
        return document

    def attempt(self, what, function, *arguments):
        """An error in one row does not stop the others."""
        try:
            return function(*arguments)
        except Exception as error:  # whatever a program or its answer raises
            say(f"{what}: {error}")
            self.result["errors"][what] = str(error)[:800]
            return None

    # --- GPT-2, data parallel ---

    def write_tokens(self, count):
        path = os.path.join(self.folder, "tokens.bin")
        chosen = random.Random(3)
        with open(path, "wb") as file:
            file.write(b"".join(chosen.randrange(self.row.vocabulary).to_bytes(2, "little")
                                for _ in range(count)))
        return path

    def train(self, ranks, *more, steps=None):
        row = self.row
        steps = steps or (8 if self.options.tiny else self.options.steps)
        return self.lig("train", row.expression(), "--input", f"{row.batch}x{row.length}:int32", "--batch",
                        str(row.batch * ranks), "--data", f"tokens:{self.tokens}", "--dtype",
                        "bf16:fp32", "--steps", str(steps), "--lr", "1e-4", "--weight-decay", ".01",
                        "--clip", "1", "--ranks", str(ranks), "--eval-every", "1000000", *more)

    def run_gpt2(self):
        row, options = self.row, self.options
        self.tokens = self.write_tokens((row.length + 1) * row.batch * 6)
        peer = None if options.no_peer else Peer(options.tiny, options.way)
        count = 2 if options.tiny else 20

        def theirs(what):
            peer.ask(what, count)
            return peer.ask(what, count) / 1e3, None

        def ours(ranks, *more):
            document = self.train(ranks, *more)
            return document["step_ms"]["median"], document

        contenders = {"ours, 1": lambda: ours(1), "ours, 2": lambda: ours(2),
                      "ours, 2, sharded": lambda: ours(2, "--shard-optimizer")}
        for size in filter(None, options.buckets.split(",")):
            contenders[f"ours, 2, {size} MiB"] = lambda size=size: ours(2, "--bucket-size", size)
        if peer:
            contenders |= {"DDP, 1": lambda: theirs("alone"), "DDP, 2": lambda: theirs("both")}
        times, documents, order = {}, {}, random.Random(1)
        for turn in range(options.rounds + 1):  # the first one measures kernels and compiles
            for name in order.sample(list(contenders), len(contenders)):
                if turn and name not in times:
                    continue
                found = self.attempt(f"gpt2, {name}", contenders[name])
                if found:
                    say(f"gpt2, {name}: {found[0]:.3f} ms")
                    times.setdefault(name, []).extend([found[0]] * (turn > 0))
                    if found[1]:
                        documents[name] = found[1]
        if peer:
            peer.stop()
        self.result["gpt2"] = {"times": times, "documents": documents}
        medians = {name: statistics.median(one) for name, one in times.items() if one}
        for ours_or_theirs in ("ours", "DDP"):
            one, two = (medians.get(f"{ours_or_theirs}, {n}") for n in (1, 2))
            if one and two:
                say(f"gpt2, {ours_or_theirs}: {one:.3f} ms alone, {two:.3f} ms with two: {100 * one / two:.2f} % "
                    "of twice one GPU")
        sharded = medians.get("ours, 2, sharded")
        if sharded and medians.get("ours, 2"):
            say(f"gpt2, sharded: {sharded / medians['ours, 2']:.4f} of the step without")
        for name, document in documents.items():
            say(f"gpt2, {name}: {json.dumps(document.get('ranks'))}")

    # --- A layer of Llama, tensor and sequence parallel ---

    def run_llama(self):
        layer, shape = (SMALL_LAYER, "4x32x64:bf16") if self.options.tiny else (LAYER, "8x2048x4096:bf16")
        self.result["llama"] = {}
        for layers in (4, 1):
            def expression(more, layers=layers):
                return (f"block({layers}){{ {layer.format(more=more)} }}" if layers > 1
                        else layer.format(more=more))
            words = ["--input", shape, "--dtype", "bf16:bf16", "--nondeterministic"]
            split = ["--ranks", "2", "--parallel", "tensor=2"]
            cases = {"1": (expression(""), []), "tensor=2": (expression(", parallel=tensor"), split),
                     "sequence": ("shard-rows ! " + expression(", parallel=sequence"), split)}
            times, documents = {}, {}
            for turn in range(2 if layers > 1 else 1):
                for name, (what, more) in cases.items():
                    if turn and name not in times:
                        continue
                    found = self.attempt(f"llama, {layers}, {name}", self.lig, "profile", what, *words, *more)
                    if found:
                        times.setdefault(name, []).append(found["forward_backward_us"] / 1e3)
                        documents[name] = found
            medians = {name: statistics.median(one) for name, one in times.items()}
            self.result["llama"][layers] = {"times": times, "documents": documents}
            for name, one in medians.items():
                ranks = documents[name].get("ranks") or {}
                say(f"llama, {layers} layers, {name}: {one:.3f} ms, {one / medians.get('1', one):.3f}, exposed "
                    f"{ranks.get('exposed_us', 0):.0f} us, imbalance {ranks.get('imbalance_us', 0):.0f} us")

    # --- The same losses ---

    def losses(self, model, shape, *more):
        path = os.path.join(self.folder, "metrics.jsonl")
        self.lig("train", model, "--input", shape, "--data", f"text:{self.text}", "--dtype", "fp32", "--steps", "50",
                 "--optimizer", "sgd", "--lr", ".05", "--momentum", ".9", "--metrics", path, *more, seconds=90)
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        os.unlink(path)
        return [line["loss"] for line in lines if "loss" in line]

    def run_losses(self):
        self.text = os.path.join(HERE, "..", "..", "README.md")
        self.result["losses"] = {}

        shape = "16x64:int32"
        alone = {parallel: self.losses(small_model(parallel), shape) for parallel in ("", "tensor", "sequence")}
        for name, layout in LAYOUTS.items():
            more = ["--shard-optimizer"] if "sharded" in name else []
            parallel = name if name in ("tensor", "sequence") else ""
            found = self.attempt(f"losses, {name}", self.losses, small_model(parallel), shape, "--ranks", "2",
                                 "--parallel", layout, *more)
            if found:
                worst = max(abs(a - b) / abs(a) for a, b in zip(alone[parallel], found))
                self.result["losses"][name] = {"worst": worst, "steps": len(found), "last": found[-1]}
                say(f"losses, {name}: {len(found)} steps, off by {worst:.2g} of one GPU's, {found[-1]:.4f} at last")

    # --- The same gradients ---

    def run_gradients(self):
        """A step of sgd at learning rate 1 subtracts the gradients; a checkpoint has unsharded
        parameters."""
        self.text = os.path.join(HERE, "..", "..", "README.md")
        self.result["gradients"] = {}

        def step(name, parallel, *more):
            path = os.path.join(self.folder, name + ".safetensors")
            # 101 is e, the most frequent letter: each rank counts a different number of rows.
            self.lig("train", small_model(parallel).replace("entropy", "entropy(ignored=101)"), "--input",
                     "16x64:int32", "--data", f"text:{self.text}", "--dtype", "fp32", "--steps", "1",
                     "--optimizer", "sgd", "--lr", "1", "--checkpoint", path, *more, seconds=90)
            return read_tensors(path)
        alone = {parallel: step("one", parallel) for parallel in ("", "tensor", "sequence")}
        for name, layout in LAYOUTS.items():
            more = ["--shard-optimizer"] if "sharded" in name else []
            parallel = name if name in ("tensor", "sequence") else ""
            found = self.attempt(f"gradients, {name}", step, "two", parallel, "--ranks", "2", "--parallel",
                                 layout, *more)
            if found:
                one = alone[parallel]
                worst = max(max(abs(a - b) for a, b in zip(one[key], found[key])) /
                            max(1e-3, max(map(abs, one[key]))) for key in one)
                self.result["gradients"][name] = {"worst": worst, "tensors": len(found)}
                say(f"gradients, {name}: {len(found)} tensors, off by {worst:.2g} of their largest element")

    # --- Ranks that end or hang ---

    def run_faults(self):
        self.text = os.path.join(HERE, "..", "..", "README.md")
        self.result["faults"] = {}
        path = os.path.join(self.folder, "fault.safetensors")
        for name, rank, number in (("killed", 1, signal.SIGKILL), ("killed", 0, signal.SIGKILL),
                                   ("stopped", 1, signal.SIGSTOP)):
            words = [*self.options.lig.split(), "train", small_model(""), "--input", "16x64:int32", "--data",
                     f"text:{self.text}", "--steps", "10000000", "--checkpoint", path, "--checkpoint-every",
                     "200", "--ranks", "2"]
            job = subprocess.Popen(words, env=self.environment, text=True, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
            end = time.perf_counter() + 60
            while not os.path.exists(path) and time.perf_counter() < end:
                time.sleep(0.2)
            ranks = find_ranks(self.environment["LIGATURE_STORE"])
            os.kill(ranks[rank], number)
            begin = time.perf_counter()
            said = job.communicate(timeout=60)[1].strip().splitlines()
            seconds = time.perf_counter() - begin
            left = find_ranks(self.environment["LIGATURE_STORE"])
            resumed = self.attempt(f"faults, {name} {rank}", self.lig, "train", "--resume", path, "--steps",
                                   str(read_step(path) + 10), "--ranks", "2")
            say(f"faults, rank {rank} {name}: {seconds:.1f} s, left {left}, resumed {bool(resumed)}: {said[-1:]}")
            self.result["faults"][f"{name} {rank}"] = {"seconds": seconds, "left": len(left), "said": said,
                                                       "resumed": bool(resumed)}
            if os.path.exists(path):
                os.unlink(path)

    # --- NCCL ---

    def run_links(self):
        peer = Peer(self.options.tiny, "masters")
        found = self.attempt("links", peer.ask, "links")
        peer.stop()
        self.result["links"] = found
        for name, times in (found or {}).items():
            say(f"links, {name}: " + ", ".join(
                f"{int(size) >> 10} KiB {us:.1f} us" for size, us in times.items()))

    def run(self):
        for name in self.options.rows.split(","):
            self.attempt(name, getattr(self, f"run_{name}"))
            if self.options.output:
                with open(self.options.output, "w") as file:
                    json.dump(self.result, file)
        for what, error in self.result["errors"].items():
            print(f"error: {what}: {error}")


def parse():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                      formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--lig", default="build/app/lig", help="the command")
    options.add_argument("--rows", default="links,losses,gradients,faults,llama,gpt2")
    options.add_argument("--buckets", default="", help="sizes of buckets of gradients to compare, in MiB")
    options.add_argument("--way", choices=("masters", "autocast"), default="masters",
                         help="how PyTorch keeps 16-bit weights")
    options.add_argument("--no-peer", action="store_true", help="ours alone")
    options.add_argument("--tiny", action="store_true", help="small sizes, to try the script on a CPU")
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("-o", "--output", help="a file for the results as JSON")
    return options.parse_args()


if __name__ == "__main__":
    Bench(parse()).run()
