#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generating text with the shape of Llama 3 8B (bf16, random parameters) on a GPU, next to PyTorch
with torch.compile (mode reduce-overhead, static cache) in the same run: the milliseconds of a token
after 1,024 others, and the share of the card's read bandwidth, which is that of the sum of a large
tensor. For the ways of measuring see generate.c.

  gpu-generate.py PROGRAM [--rows 1,32] [--keys 1024] [--tokens 64] [--prompt 8192] [--layers 32] [--no-torch]

PROGRAM is tests/bench/generate in a build folder.
"""
import argparse
import json
import subprocess
import tempfile

import torch

WIDTH, HEADS, KV_HEADS, FFN, VOCABULARY = 4096, 32, 8, 14336, 128256
HEAD = WIDTH // HEADS


def count_bytes(layers, rows, positions):
    """Returns the bytes that a token reads: the weights, but of the embedding, and the cache."""
    weights = VOCABULARY * WIDTH + layers * WIDTH * (2 * WIDTH + 2 * KV_HEADS * HEAD + 3 * FFN)
    return 2 * (weights + rows * positions * layers * 2 * KV_HEADS * HEAD)


def describe(layers):
    layer = {"op": "transformer-layer", "heads": HEADS, "kv-heads": KV_HEADS, "rotary": True,
             "rotary-base": 500000, "rotary-scaling": "llama3", "rotary-factor": 8,
             "ffn-features": FFN, "activation": "swiglu", "normalization": "rms-norm",
             "bias": False, "init-std": 0.02, "output-init-std": 0.02}
    return {"ligature": 1, "name": "llama-8b", "input": {"shape": [1, 2048], "dtype": "int32"},
            "types": {"compute": "bf16", "parameters": "bf16"},
            "ops": [{"op": "embedding", "features": WIDTH, "vocabulary": VOCABULARY},
                    {"op": "block", "repeat": layers, "ops": [layer]}, {"op": "rms-norm"},
                    {"op": "linear", "out-features": VOCABULARY, "bias": False},
                    {"op": "cross-entropy"}]}


def read_bandwidth():
    x = torch.randn(1 << 31, device="cuda", dtype=torch.bfloat16)
    best = 0.0
    for _ in range(5):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        x.sum()
        begin.record()
        for _ in range(5):
            x.sum()
        end.record()
        torch.cuda.synchronize()
        best = max(best, 5 * x.numel() * 2 / begin.elapsed_time(end) * 1e3)
    del x
    torch.cuda.empty_cache()
    return best


class Layer(torch.nn.Module):
    def __init__(self, rows, length):
        super().__init__()
        def weight(n, k):
            return torch.nn.Parameter(torch.randn(n, k, device="cuda", dtype=torch.bfloat16) * 0.02)
        self.qkv = weight((HEADS + 2 * KV_HEADS) * HEAD, WIDTH)
        self.proj = weight(WIDTH, WIDTH)
        self.gate_up = weight(2 * FFN, WIDTH)
        self.down = weight(WIDTH, FFN)
        self.norms = torch.nn.Parameter(torch.ones(2, WIDTH, device="cuda", dtype=torch.bfloat16))
        shape = (rows, KV_HEADS, length, HEAD)
        self.register_buffer("keys", torch.randn(shape, device="cuda", dtype=torch.bfloat16))
        self.register_buffer("values", torch.randn(shape, device="cuda", dtype=torch.bfloat16))

    def forward(self, x, position, turn, mask):
        f = torch.nn.functional
        rows = x.shape[0]
        q, k, v = f.linear(f.rms_norm(x, (WIDTH,), self.norms[0], 1e-5), self.qkv).view(
            rows, 1, HEADS + 2 * KV_HEADS, HEAD).transpose(1, 2).split(
            [HEADS, KV_HEADS, KV_HEADS], 1)
        def rotate(a):
            low, high = a.chunk(2, -1)
            return (a * turn[0] + torch.cat((-high, low), -1) * turn[1]).to(a.dtype)
        self.keys[:, :, position] = rotate(k)
        self.values[:, :, position] = v
        y = f.scaled_dot_product_attention(rotate(q), self.keys, self.values, attn_mask=mask,
                                           enable_gqa=True)
        x = x + f.linear(y.transpose(1, 2).reshape(rows, 1, WIDTH), self.proj)
        gate, up = f.linear(f.rms_norm(x, (WIDTH,), self.norms[1], 1e-5), self.gate_up).chunk(2, -1)
        return x + f.linear(f.silu(gate) * up, self.down)


class Model(torch.nn.Module):
    def __init__(self, layers, rows, length):
        super().__init__()
        def weight():
            return torch.nn.Parameter(
                torch.randn(VOCABULARY, WIDTH, device="cuda", dtype=torch.bfloat16) * 0.02)
        self.embedding, self.head = weight(), weight()
        self.layers = torch.nn.ModuleList(Layer(rows, length) for _ in range(layers))
        self.norm = torch.nn.Parameter(torch.ones(WIDTH, device="cuda", dtype=torch.bfloat16))
        rates = 500000.0 ** (-torch.arange(0, HEAD, 2, device="cuda") / HEAD)
        angles = torch.outer(torch.arange(length, device="cuda"), rates).repeat(1, 2)
        self.register_buffer("turns", torch.stack((angles.cos(), angles.sin())).bfloat16())
        self.register_buffer("places", torch.arange(length, device="cuda"))

    def forward(self, tokens, position):
        f = torch.nn.functional
        x = f.embedding(tokens, self.embedding)
        mask = (self.places <= position).view(1, 1, 1, -1)
        for layer in self.layers:
            x = layer(x, position, self.turns[:, position], mask)
        logits = f.linear(f.rms_norm(x, (WIDTH,), self.norm, 1e-5), self.head)
        return logits[:, -1].argmax(-1, keepdim=True)


@torch.inference_mode()
def measure_torch(layers, rows, keys, tokens):
    """Returns the seconds of a token, greedy, whose number stays on the device."""
    model = Model(layers, rows, keys + 2 * tokens + 24)
    step = torch.compile(model, mode="reduce-overhead", fullgraph=True)
    token = torch.zeros((rows, 1), device="cuda", dtype=torch.long)
    position = torch.full((1,), keys, device="cuda", dtype=torch.long)
    def run(count):
        nonlocal token
        for _ in range(count):
            token = step(token, position).clone()
            position.add_(1)
    run(8)
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    begin.record()
    run(tokens)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / tokens * 1e-3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rows", default="1,32")
    parser.add_argument("--keys", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=8192)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--no-torch", action="store_true")
    options = parser.parse_args()
    rows = options.rows.split(",")
    bandwidth = read_bandwidth()
    with tempfile.NamedTemporaryFile("w", suffix=".lig") as file:
        json.dump(describe(options.layers), file)
        file.flush()
        command = [*options.program.split(), "cuda:0", file.name, "bf16", str(options.keys),
                   str(options.tokens), str(options.prompt), *rows]
        print(f"{torch.cuda.get_device_name()}: reads {bandwidth * 1e-9:.0f} GB/s", flush=True)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("result "):
                count, seconds = int(line.split()[1]), float(line.split()[2])
                size = count_bytes(options.layers, count, options.keys + options.tokens / 2)
                print(f"rows {count}: {seconds * 1e3:.3f} ms, "
                      f"{size / seconds / bandwidth * 100:.1f} % of reading", flush=True)
        process.wait()
    for count in [] if options.no_torch else [int(word) for word in rows]:
        seconds = measure_torch(options.layers, count, options.keys, options.tokens)
        size = count_bytes(options.layers, count, options.keys + options.tokens / 2)
        print(f"torch, rows {count}: {seconds * 1e3:.3f} ms, "
              f"{size / seconds / bandwidth * 100:.1f} % of reading", flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
