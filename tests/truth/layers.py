#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares macros with the modules of PyTorch that compute the same, as TAP: output and all gradients
for shared weights, on each device, with the policies none and all. Skipped without torch and
safetensors.

    LIG=build/app/lig python3 tests/truth/layers.py [--device cpu,cuda:0]
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
BATCH, LENGTH, OTHER, FEATURES, HEADS, INNER = 3, 17, 11, 32, 4, 80
POLICIES = ("none", "all")
functional = torch.nn.functional


def gelu(x):
    return functional.gelu(x, approximate="tanh")


def rename_attention(tensors, theirs, ours):
    """Names the weights of a torch.nn.MultiheadAttention like the parts of self attention."""
    names = {"in_proj_weight": "qkv.weight", "in_proj_bias": "qkv.bias",
             "out_proj.weight": "proj.weight", "out_proj.bias": "proj.bias"}
    return {ours + to: tensors[theirs + name] for name, to in names.items()}


def rename_cross(tensors, theirs, proj):
    """Likewise for cross attention, whose queries have their own matmul."""
    result = {}
    for kind in ("weight", "bias"):
        packed = tensors[f"{theirs}in_proj_{kind}"]
        result[f"query.{kind}"] = packed[:FEATURES]
        result[f"key-value.{kind}"] = packed[FEATURES:]
        result[f"{proj}.{kind}"] = tensors[f"{theirs}out_proj.{kind}"]
    return result


def rename(tensors, names):
    return {f"{to}.{kind}": tensors[f"{name}.{kind}"] for name, to in names.items()
            for kind in ("weight", "bias")}


def causal(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)


def padding(lengths, length):
    return torch.arange(length)[None, :] >= lengths[:, None]


class Encoder:
    """torch.nn.TransformerEncoderLayer, with the norm first or last."""

    def __init__(self, first):
        self.module = torch.nn.TransformerEncoderLayer(
            FEATURES, HEADS, INNER, dropout=0, activation=gelu, batch_first=True, norm_first=first)
        more = "" if first else ", residual-post-norm=true, output-layer-norm=true"
        self.names = {"norm1": "attention-norm" if first else "mlp-norm",
                      "norm2": "mlp-norm" if first else "output-norm",
                      "linear1": "fc1", "linear2": "fc2"}
        self.expression = f"transformer-layer({HEADS}, ffn-features={INNER}{more})"
        self.path, self.extra = "0.", {}

    def run(self, x):
        return self.module(x, src_mask=causal(LENGTH), is_causal=True)

    def rename(self, tensors):
        return rename(tensors, self.names) | rename_attention(tensors, "self_attn.", "")


class Decoder:
    """torch.nn.TransformerDecoderLayer with the norm first, and a padded memory."""

    def __init__(self):
        self.module = torch.nn.TransformerDecoderLayer(
            FEATURES, HEADS, INNER, dropout=0, activation=gelu, batch_first=True, norm_first=True)
        self.memory = torch.randn(BATCH, OTHER, FEATURES, requires_grad=True)
        self.lengths = torch.tensor([11, 1, 6])
        self.expression = (
            f"make-extra-output(to=x) ! load-branch(shape=[{BATCH}, {OTHER}, {FEATURES}], dtype=fp32) ! "
            f"make-extra-output(to=m) ! load-branch(from=x) ! transformer-layer({HEADS}, "
            f"ffn-features={INNER}, layer-type=decoder, memory=m, memory-lengths=caller)")
        self.path, self.extra = "4.", {"extra.0": self.memory, "extra.1": self.lengths.int()}

    def run(self, x):
        return self.module(x, self.memory, tgt_mask=causal(LENGTH), tgt_is_causal=True,
                           memory_key_padding_mask=padding(self.lengths, OTHER))

    def rename(self, tensors):
        names = {"norm1": "attention-norm", "norm2": "cross-norm", "norm3": "mlp-norm",
                 "linear1": "fc1", "linear2": "fc2"}
        return (rename(tensors, names) | rename_attention(tensors, "self_attn.", "") |
                rename_cross(tensors, "multihead_attn.", "cross-proj"))


class Attention:
    """torch.nn.MultiheadAttention on packed documents, without a mask."""

    def __init__(self):
        self.module = torch.nn.MultiheadAttention(FEATURES, HEADS, batch_first=True)
        torch.nn.init.normal_(self.module.in_proj_bias)
        self.documents = torch.sort(torch.randint(0, 4, (BATCH, LENGTH)), dim=1).values
        self.expression = f"multi-head-attention({HEADS}, mask=none, documents=caller)"
        self.path, self.extra = "0.", {"extra.0": self.documents.int()}

    def run(self, x):
        other = self.documents[:, :, None] != self.documents[:, None, :]
        return self.module(x, x, x, attn_mask=other.repeat_interleave(HEADS, 0),
                           need_weights=False)[0]

    def rename(self, tensors):
        return rename_attention(tensors, "", "")


class Mlp(torch.nn.Module):
    """RMS norm and SwiGLU, written with functions."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.RMSNorm(FEATURES, eps=1e-5)
        self.fc1 = torch.nn.Linear(FEATURES, 2 * INNER, bias=False)
        self.fc2 = torch.nn.Linear(INNER, FEATURES, bias=False)

    def forward(self, x):
        gate, linear = self.fc1(self.norm(x)).chunk(2, dim=-1)
        return self.fc2(functional.silu(gate) * linear)


class Gated:
    def __init__(self):
        self.module = Mlp()
        self.expression = (f"layer-norm-mlp({INNER}, normalization=rms-norm, activation=swiglu, "
                           "bias=false)")
        self.path, self.extra = "0.", {}

    def run(self, x):
        return self.module(x)

    def rename(self, tensors):
        return tensors


class Grouped(torch.nn.Module):
    """Grouped queries by scaled_dot_product_attention."""

    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(FEATURES, 2 * FEATURES)
        self.proj = torch.nn.Linear(FEATURES, FEATURES)

    def forward(self, x):
        q, k, v = self.qkv(x).split([FEATURES, FEATURES // 2, FEATURES // 2], dim=-1)
        q, k, v = (tensor.view(BATCH, LENGTH, -1, FEATURES // HEADS).transpose(1, 2)
                   for tensor in (q, k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.proj(y.transpose(1, 2).reshape(BATCH, LENGTH, FEATURES))


class GroupedCase(Gated):
    def __init__(self):
        super().__init__()
        self.module = Grouped()
        self.expression = f"multi-head-attention({HEADS}, kv-heads={HEADS // 2})"


CASES = {
    "TransformerEncoderLayer, norm first": lambda: Encoder(True),
    "TransformerEncoderLayer, norm last": lambda: Encoder(False),
    "TransformerDecoderLayer": Decoder,
    "MultiheadAttention": Attention,
    "RMSNorm and SwiGLU": Gated,
    "scaled_dot_product_attention, grouped": GroupedCase,
}


def save(path, tensors):
    safetensors.torch.save_file({name: tensor.detach().contiguous().clone()
                                 for name, tensor in tensors.items()}, path)


def compare(name, got, want, limit):
    want = want.detach()
    assert got.shape == want.shape, f"{name} is {tuple(got.shape)}, expected {tuple(want.shape)}"
    relative_error = float((got - want).norm() / want.norm().clamp(min=1e-3))
    assert relative_error <= limit, f"{name}: relative error {relative_error:.2g}, allowed {limit:g}"


def check(case, folder, device, policy):
    folder = pathlib.Path(folder)
    x = torch.randn(BATCH, LENGTH, FEATURES, requires_grad=True)
    dy = torch.randn(BATCH, LENGTH, FEATURES)
    parameters = dict(case.module.named_parameters())
    weights = {case.path + name: tensor for name, tensor in case.rename(parameters).items()}
    y = case.run(x)
    y.backward(dy)
    save(folder / "w.safetensors", weights)
    save(folder / "x.safetensors", {"input": x} | case.extra)
    save(folder / "g.safetensors", {"output": dy})
    result = subprocess.run(
        [LIG, "apply", case.expression, "--weights", "w.safetensors", "--input", "x.safetensors",
         "--grad", "g.safetensors", "-o", "y.safetensors", "--device", device, "--policy", policy],
        cwd=folder, check=False, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr[-500:]
    got = safetensors.torch.load_file(folder / "y.safetensors")
    wanted = {"output": y, "grad.input": x.grad}
    wanted |= {f"grad.{name}": tensor.grad for name, tensor in case.extra.items()
               if tensor.requires_grad}
    gradients = case.rename({name: parameter.grad for name, parameter in parameters.items()})
    wanted |= {f"grad.{case.path}{name}": gradient for name, gradient in gradients.items()}
    assert set(got) == set(wanted), f"tensors differ: {sorted(set(got) ^ set(wanted))}"
    for name, want in wanted.items():
        compare(name, got[name], want, 2e-5 if device == "cpu" else 5e-5)


def main():
    devices = choose(LIG, __doc__.splitlines()[0])
    print(f"1..{len(CASES) * len(POLICIES) * len(devices)}", flush=True)
    number = 0
    for title, make in CASES.items():
        for device, policy in [(device, policy) for device in devices for policy in POLICIES]:
            number += 1
            label = f"{number} - {title} on {device}, policy {policy}"
            torch.manual_seed(number)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(make(), folder, device, policy)
                    print(f"ok {label}", flush=True)
                except AssertionError as error:
                    print(f"not ok {label}")
                    print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
