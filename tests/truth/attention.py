#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares attention in bf16 with PyTorch's own in bf16, as TAP: against the same reference in
float64, output and gradients must not be further off than PyTorch's. On each device, where PyTorch
has it too. Skipped without torch and safetensors.

    LIG=build/app/lig python3 tests/truth/attention.py [--device cpu,cuda:0]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import safetensors.torch
    import torch
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

from devices import choose

LIG = os.path.abspath(os.environ["LIG"])
BATCH, HEADS = 2, 4
# Errors of rounding differ by chance: a single output of few elements may lie above PyTorch's.
ALLOWED = 1.1
CASES = [(length, features, kv_heads, mask)
         for length in (1, 17, 1000, 1025) for features in (16, 64, 80, 128)
         for kv_heads, mask in ((HEADS, "causal"), (HEADS // 2, "none"))]


def split(x, features, kv_heads):
    parts = x.view(BATCH, -1, HEADS + 2 * kv_heads, features).split((HEADS, kv_heads, kv_heads), dim=2)
    return [part.transpose(1, 2) for part in parts]


def attend(x, dy, features, kv_heads, mask):
    """Returns output and input gradient, computed in the type of the input."""
    x = x.detach().requires_grad_()
    q, k, v = split(x, features, kv_heads)
    k, v = (tensor.repeat_interleave(HEADS // kv_heads, dim=1) for tensor in (k, v))
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=mask == "causal")
    y = y.transpose(1, 2).reshape(BATCH, -1, HEADS * features)
    y.backward(dy)
    return y.detach(), x.grad


def error(got, want):
    return float((got.cpu().double() - want.cpu()).norm() / want.norm().cpu().clamp(min=1e-30))


def apply(folder, x, dy, kv_heads, mask, device):
    folder = pathlib.Path(folder)
    safetensors.torch.save_file({"input": x.cpu()}, folder / "x.safetensors")
    safetensors.torch.save_file({"output": dy.cpu()}, folder / "dy.safetensors")
    result = subprocess.run(
        [LIG, "apply", f"attention({HEADS}, kv-heads={kv_heads}, mask={mask})", "--input",
         "x.safetensors", "--grad", "dy.safetensors", "-o", "y.safetensors", "--device", device],
        cwd=folder, check=False, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr[-500:]
    got = safetensors.torch.load_file(folder / "y.safetensors")
    return got["output"], got["grad.input"]


def check(folder, device, length, features, kv_heads, mask):
    """Returns the largest ratio of our error to PyTorch's."""
    there = torch.device(device)
    x = torch.randn(BATCH, length, (HEADS + 2 * kv_heads) * features).bfloat16().to(there)
    dy = torch.randn(BATCH, length, HEADS * features).bfloat16().to(there)
    want_y, want_dx = attend(x.double(), dy.double(), features, kv_heads, mask)
    their_y, their_dx = attend(x, dy, features, kv_heads, mask)
    our_y, our_dx = apply(folder, x, dy, kv_heads, mask, device)
    pairs = {"output": (our_y, their_y, want_y)}
    names = ("of the queries", "of the keys", "of the values")
    for name, *three in zip(names, *(split(one, features, kv_heads) for one in
                                     (our_dx, their_dx, want_dx))):
        pairs[f"gradient {name}"] = three
    worst = 0
    for name, (ours, theirs, want) in pairs.items():
        if float(want.norm()) < 1e-6:  # with a single key its weight is always 1
            assert float(ours.double().norm()) < 1e-2, f"{name} is {ours.double().norm():.2g}"
            continue
        ours, theirs = error(ours, want), error(theirs, want)
        assert ours <= max(ALLOWED * theirs, 1e-4), (
            f"{name} is off by {ours:.3g}, PyTorch's by {theirs:.3g}")
        worst = max(worst, ours / max(theirs, 1e-30))
    return worst


def main():
    devices = choose(LIG, __doc__.splitlines()[0])
    print(f"1..{len(devices) * len(CASES)}", flush=True)
    for number, (device, case) in enumerate(((d, c) for d in devices for c in CASES), 1):
        torch.manual_seed(number)
        length, features, kv_heads, mask = case
        label = (f"{number} - {device}: {length} positions, {HEADS}/{kv_heads} heads of {features} "
                 f"features, mask {mask}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst = check(folder, device, *case)
                print(f"ok {label}\n# {worst:.2f} of PyTorch's error", flush=True)
            except (AssertionError, RuntimeError) as problem:
                print(f"not ok {label}")
                print("\n".join(f"# {line}" for line in str(problem).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
