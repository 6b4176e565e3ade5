# SPDX-License-Identifier: MIT
"""GPT-2, single layers and attention in PyTorch, with the parameters' paths in a score."""
import torch
from torch import nn
from torch.nn import functional


class Gpt2Layer(nn.Module):
    PARTS = {"norm1": "attention-norm", "qkv": "qkv", "proj": "proj", "norm2": "mlp-norm",
             "fc1": "fc1", "fc2": "fc2"}

    def __init__(self, features, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.qkv = nn.Linear(features, 3 * features)
        self.proj = nn.Linear(features, features)
        self.fc1 = nn.Linear(features, 4 * features)
        self.fc2 = nn.Linear(4 * features, features)

    def forward(self, x):
        batch, length, features = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, features // self.heads)
        q, k, v = (one.transpose(1, 2) for one in qkv.unbind(2))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(batch, length, features))
        return x + self.fc2(functional.gelu(self.fc1(self.norm2(x)), approximate="tanh"))


class LlamaLayer(nn.Module):
    PARTS = {"norm1": "attention-norm", "qkv": "qkv", "proj": "proj", "norm2": "mlp-norm",
             "fc1": "fc1", "fc2": "fc2"}

    def __init__(self, features, heads, kv_heads, inner, length, base, expand):
        super().__init__()
        self.heads, self.kv_heads, self.expand = heads, kv_heads, expand
        self.each = features // heads
        self.norm1, self.norm2 = (nn.RMSNorm(features, eps=1e-5) for _ in range(2))
        self.qkv = nn.Linear(features, (heads + 2 * kv_heads) * self.each, bias=False)
        self.proj = nn.Linear(features, features, bias=False)
        self.fc1 = nn.Linear(features, 2 * inner, bias=False)
        self.fc2 = nn.Linear(inner, features, bias=False)
        rates = base ** (-torch.arange(0, self.each, 2, dtype=torch.float64) / self.each)
        angles = torch.outer(torch.arange(length, dtype=torch.float64), rates).float()
        for name, table in (("cosines", angles.cos()), ("sines", angles.sin())):
            self.register_buffer(name, table.repeat(1, 2)[:, None], persistent=False)

    def _apply(self, change, *arguments, **options):
        """The tables follow the weights to a device, but stay fp32."""
        tables = self.cosines, self.sines
        result = super()._apply(change, *arguments, **options)
        self.cosines, self.sines = (
            table.to(moved.device) for table, moved in zip(tables, (self.cosines, self.sines)))
        return result

    def rotate(self, x):
        low, high = x.float().chunk(2, dim=-1)
        turned = torch.cat((-high, low), dim=-1)
        return (x.float() * self.cosines + turned * self.sines).to(x.dtype)

    def forward(self, x):
        batch, length, features = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, -1, self.each)
        q, k, v = qkv.split((self.heads, self.kv_heads, self.kv_heads), dim=2)
        q, k, v = (one.transpose(1, 2) for one in (self.rotate(q), self.rotate(k), v))
        y = attend(q, k, v, self.expand)
        x = x + self.proj(y.transpose(1, 2).reshape(batch, length, features))
        gate, linear = self.fc1(self.norm2(x)).chunk(2, dim=-1)
        return x + self.fc2(functional.silu(gate) * linear)


class Gpt2(nn.Module):
    """GPT-2 with its loss."""

    def __init__(self, vocabulary, length, features, layers, heads):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, features)
        self.positions = nn.Embedding(length, features)
        self.layers = nn.ModuleList(Gpt2Layer(features, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(features)
        for one in (self.tokens, self.positions):
            nn.init.normal_(one.weight, std=0.02)

    def forward(self, x, targets):
        y = self.tokens(x) + self.positions.weight[:x.shape[1]]
        for layer in self.layers:
            y = layer(y)
        logits = functional.linear(self.norm(y), self.tokens.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def attend(q, k, v, expand):
    """Causal grouped-query attention, which not every backend supports directly."""
    if expand and q.shape[1] != k.shape[1]:
        k, v = (one.repeat_interleave(q.shape[1] // one.shape[1], dim=1) for one in (k, v))
    grouped = q.shape[1] != k.shape[1]
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)


def paths(model):
    """Returns the model's parameters by their paths in the score."""
    def of_layer(layer, prefix):
        return {f"{prefix}{ours}.{kind}": parameter for theirs, ours in layer.PARTS.items()
                for kind, parameter in getattr(layer, theirs).named_parameters()}

    if not isinstance(model, Gpt2):
        return of_layer(model, "0.")
    result = {"0.weight": model.tokens.weight, "1.weight": model.positions.weight}
    for number, layer in enumerate(model.layers):
        result |= of_layer(layer, f"2.{number}.0.")
    return result | {f"3.{kind}": one for kind, one in model.norm.named_parameters()}
