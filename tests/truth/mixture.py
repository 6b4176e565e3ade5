#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares mixtures of experts with the same models written in PyTorch, as TAP: the losses of 50
steps of AdamW of data/examples/mixture-tiny.lig, with its load-balancing loss and z-loss, and the
outputs and gradients of routers with other scores, on each device, with the policies none and all.
Skipped without torch and safetensors.

    LIG=build/app/lig python3 tests/truth/mixture.py [--device cpu,cuda:0]
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import safetensors.torch
    import torch
    from torch.nn import functional
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

from devices import choose

LIG = os.path.abspath(os.environ["LIG"])
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "data/examples/mixture-tiny.lig"
POLICIES = ("none", "all")
BATCH, LENGTH, STEPS, RATE = 4, 32, 50, 1e-3
ROUTERS = {
    "softmax of the selected": "",
    "softmax of all": ", first=score, normalize=false",
    "sigmoid": ", score=sigmoid, scale=2.5",
    "square root of softplus": ", score=sqrt-softplus",
}


def route(logits, layer):
    """Returns the weights of all experts, 0 for those that are not selected, and scores that sum to
    1, from which the load-balancing loss is computed."""
    k = layer.get("top-k", 2)
    score, first = layer.get("router-score", "softmax"), layer.get("router-first", "select")
    scores = {"softmax": lambda x: x.softmax(-1), "sigmoid": torch.sigmoid,
              "sqrt-softplus": lambda x: functional.softplus(x).sqrt()}[score](logits)
    chosen = (logits if score == "softmax" else scores).topk(k, -1).indices
    if score == "softmax" and first == "select":
        weights = logits.gather(-1, chosen).softmax(-1)
    else:
        weights = scores.gather(-1, chosen)
        if layer.get("router-normalize", True) and k > 1:
            weights = weights / weights.sum(-1, keepdim=True)
    weights = weights * layer.get("router-scale", 1)
    shares = scores if score == "softmax" or k == 1 else scores / scores.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, chosen, weights), shares


def mix(x, tensors, path, layer, losses):
    """Every expert computes every token, and the weights of those that are not selected are 0."""
    logits = x @ tensors[f"{path}router.weight"].T
    weights, shares = route(logits, layer)
    up, down = tensors[f"{path}experts-fc1.weight"], tensors[f"{path}experts-fc2.weight"]
    gate, linear = torch.einsum("tk,enk->etn", x, up).chunk(2, -1)
    y = torch.einsum("etn,ekn->etk", functional.silu(gate) * linear, down)
    load = (weights != 0).float().mean(0) / layer.get("top-k", 2)
    losses.append(layer.get("aux", 0) * len(up) * (load.detach() * shares.mean(0)).sum() +
                  layer.get("z", 0) * logits.logsumexp(-1).square().mean())
    return torch.einsum("etk,te->tk", y, weights)


def norm(x, weight):
    return weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def rotate(x):
    """Rotary embeddings of pairs (i, i + half) with base 10000."""
    half = x.shape[-1] // 2
    angles = torch.outer(torch.arange(x.shape[-2]), 10000.0 ** (-torch.arange(half) / half))
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def attend(x, tensors, path, heads):
    batch, length, width = x.shape
    packed = x @ tensors[f"{path}qkv.weight"].T
    q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2) for part in packed.chunk(3, -1))
    y = functional.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
    return y.transpose(1, 2).reshape(batch, length, width) @ tensors[f"{path}proj.weight"].T


def compute(tokens, targets, tensors, layer, repeat):
    """Returns the cross-entropy, and what the routers add to it."""
    x, losses = tensors["0.weight"][tokens], []
    for i in range(repeat):
        path = f"1.{i}.0."
        x = x + attend(norm(x, tensors[path + "attention-norm.weight"]), tensors, path,
                       layer["heads"])
        n = norm(x, tensors[path + "mlp-norm.weight"])
        x = x + mix(n.flatten(0, 1), tensors, path, layer, losses).view_as(x)
    logits = norm(x, tensors["2.weight"]) @ tensors["0.weight"].T
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten()), sum(losses)


class Case:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.sequence = json.loads(EXAMPLE.read_text())
        self.block = self.sequence["ops"][1]
        self.layer = self.block["ops"][0]
        self.sequence.pop("train")
        self.sequence["input"]["shape"] = [BATCH, LENGTH]
        (self.folder / "mixture.lig").write_text(json.dumps(self.sequence))
        torch.manual_seed(1)
        tokens = torch.randint(0, 256, (BATCH * LENGTH + 1,))
        self.x, self.targets = tokens[:-1].view(BATCH, LENGTH), tokens[1:].view(BATCH, LENGTH)
        head = struct.pack("<256i", 20240520, 1, len(tokens), *[0] * 253)
        (self.folder / "tokens.bin").write_bytes(
            head + struct.pack(f"<{len(tokens)}H", *tokens.tolist()))
        self.tensors = self.draw()
        safetensors.torch.save_file(self.tensors, self.folder / "w.safetensors")

    def draw(self):
        width, experts = 96, self.layer["experts"]
        inner = self.layer["expert-features"]
        shapes = {"0.weight": (256, width), "2.weight": (width,)}
        for i in range(self.block["repeat"]):
            path = f"1.{i}.0."
            shapes |= {path + "attention-norm.weight": (width,), path + "mlp-norm.weight": (width,),
                       path + "qkv.weight": (3 * width, width), path + "proj.weight": (width, width),
                       path + "router.weight": (experts, width),
                       path + "experts-fc1.weight": (experts, 2 * inner, width),
                       path + "experts-fc2.weight": (experts, width, inner)}
        return {name: (1 if len(shape) == 1 else 0) + 0.1 * torch.randn(shape)
                for name, shape in shapes.items()}

    def lig(self, *words):
        environment = dict(os.environ, LIGATURE_STORE=str(self.folder / "runs.db"),
                           XDG_DATA_HOME=str(self.folder))
        result = subprocess.run([LIG, *words], cwd=self.folder, env=environment, check=False,
                                text=True, capture_output=True)
        assert result.returncode == 0, f"lig {words[0]}: {result.stderr[-500:]}"

    def train(self):
        """Returns the losses of PyTorch's steps, without what the routers add."""
        tensors = {name: one.clone().requires_grad_() for name, one in self.tensors.items()}
        groups = [{"params": [one for name, one in tensors.items() if one.dim() > 1],
                   "weight_decay": 0.1},
                  {"params": [one for name, one in tensors.items() if one.dim() < 2],
                   "weight_decay": 0}]
        optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), eps=1e-8)
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss, more = compute(self.x, self.targets, tensors, self.layer, self.block["repeat"])
            (loss + more).backward()
            torch.nn.utils.clip_grad_norm_(tensors.values(), 1)
            optimizer.step()
            losses.append(loss.item())
        return losses

    def check_training(self, *options):
        wanted = self.train()
        self.lig("train", "mixture.lig", "--init", "w.safetensors", "--data",
                 "tokens:tokens.bin?validation=0", "--steps", str(STEPS), "--lr", str(RATE),
                 "--weight-decay", "0.1", "--clip", "1", "--metrics", "losses.jsonl", "--quiet",
                 *options)
        lines = (self.folder / "losses.jsonl").read_text().splitlines()
        losses = [json.loads(line)["loss"] for line in lines if '"loss"' in line]
        assert len(losses) == STEPS, f"{len(losses)} steps, expected {STEPS}"
        assert wanted[-1] < wanted[0] - 0.5, wanted
        for step, (got, want) in enumerate(zip(losses, wanted)):
            assert abs(got - want) <= 1e-4 * max(want, 1), f"step {step}: loss {got:.6f}, expected {want:.6f}"
        print(f"# loss {wanted[0]:.4f} to {wanted[-1]:.4f}, largest difference "
              f"{max(abs(a - b) for a, b in zip(losses, wanted)):.1e}")


def compare(name, got, want):
    distance = ((got.double() - want.double()).norm() / want.double().norm()).item()
    assert distance <= 1e-4, f"{name} is off by {distance:.1e}, expected at most 1e-4"


def check_router(folder, words, *options):
    """One mixture whose output and gradients are compared."""
    torch.manual_seed(2)
    layer = {"top-k": 3}
    for word in filter(None, words.split(", ")):
        name, value = word.split("=")
        layer["router-" + name] = {"false": False}.get(value, value) if name != "scale" \
            else float(value)
    shapes = {"0.router.weight": (6, 16), "0.experts-fc1.weight": (6, 24, 16),
              "0.experts-fc2.weight": (6, 16, 12)}
    tensors = {name: 0.3 * torch.randn(shape) for name, shape in shapes.items()}
    x, dy = torch.randn(40, 16), torch.randn(40, 16)
    case = Case.__new__(Case)
    case.folder = pathlib.Path(folder)
    safetensors.torch.save_file(tensors, case.folder / "w.safetensors")
    safetensors.torch.save_file({"input": x}, case.folder / "x.safetensors")
    safetensors.torch.save_file({"output": dy}, case.folder / "g.safetensors")
    case.lig("apply", f"mixture-of-experts(6, top-k=3, expert-features=12{words})", "--weights",
             "w.safetensors", "--input", "x.safetensors", "--grad", "g.safetensors", "-o",
             "y.safetensors", *options)
    got = safetensors.torch.load_file(case.folder / "y.safetensors")
    leaves = {name: one.requires_grad_() for name, one in tensors.items()}
    x.requires_grad_()
    y = mix(x, leaves, "0.", layer, [])
    y.backward(dy)
    compare("the output", got["output"], y.detach())
    compare("the gradient of the input", got["grad.input"], x.grad)
    for name, one in leaves.items():
        compare(name, got[f"grad.{name}"], one.grad)


def main():
    devices = choose(LIG, __doc__.splitlines()[0])
    choices = [(device, policy) for device in devices for policy in POLICIES]
    print(f"1..{len(choices) * (1 + len(ROUTERS))}", flush=True)
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        case = Case(folder)
        for device, policy in choices:
            options = ("--device", device, "--policy", policy)
            checks = {"training": lambda: case.check_training(*options)}
            for title, words in ROUTERS.items():
                checks[title] = lambda words=words: check_router(folder + "/router", words, *options)
            os.makedirs(folder + "/router", exist_ok=True)
            for title, check in checks.items():
                number += 1
                label = f"{number} - {title} on {device}, policy {policy}"
                try:
                    check()
                    print(f"ok {label}", flush=True)
                except (AssertionError, KeyError) as error:
                    print(f"not ok {label}")
                    print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
