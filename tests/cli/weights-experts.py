#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks in the form of TAP that lig computes what Mixtral and Qwen3 models with experts define:
weights with their names are written here, byte by byte, and the logits of `lig apply` are compared
with those of a calculation in double precision from the same tensors.
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

LIG = os.environ["LIG"]
HIDDEN, HEADS, KV_HEADS, EXPERTS, TOP_K, FEATURES, DENSE = 16, 4, 2, 4, 2, 12, 20
VOCABULARY, LENGTH, BASE, EPS = 20, 8, 5000.0, 1e-6
MERGED = {"block_sparse_moe.gate.weight": "mlp.gate.weight",
          "block_sparse_moe.experts.{}.w1.weight": "mlp.experts.gate_up_proj",
          "block_sparse_moe.experts.{}.w2.weight": "mlp.experts.down_proj"}
# Parameters of rotary, and the members of rope_scaling.
YARN = {"factor": "factor", "original": "original_max_position_embeddings", "low": "beta_slow",
        "high": "beta_fast", "magnitude": "attention_factor", "truncate": "truncate"}


class Model:
    """A model of two layers; `dense` are the layers with an MLP in place of experts."""

    def __init__(self, kind, normalized=True, head=HIDDEN // HEADS, dense=(), yarn=None):
        self.yarn = yarn
        self.kind, self.normalized, self.head, self.dense = kind, normalized, head, dense
        self.random = random.Random(7)
        self.tensors = {"model.embed_tokens.weight": self.draw(VOCABULARY, HIDDEN),
                        "model.norm.weight": self.draw(HIDDEN),
                        "lm_head.weight": self.draw(VOCABULARY, HIDDEN)}
        for layer in range(2):
            self.add_layer(f"model.layers.{layer}.", layer in dense)

    def draw(self, *shape):
        """Returns nested lists of values that fp32 has exactly; norms are about 1."""
        if len(shape) > 1:
            return [self.draw(*shape[1:]) for _ in range(shape[0])]
        return [round(self.random.gauss(0, 0.4) * 1024) / 1024 for _ in range(shape[0])]

    def add_layer(self, at, dense):
        add = self.tensors.__setitem__
        add(at + "input_layernorm.weight", [1 + x for x in self.draw(HIDDEN)])
        add(at + "post_attention_layernorm.weight", [1 + x for x in self.draw(HIDDEN)])
        for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
            add(f"{at}self_attn.{name}_proj.weight", self.draw(heads * self.head, HIDDEN))
        add(at + "self_attn.o_proj.weight", self.draw(HIDDEN, HEADS * self.head))
        if self.kind == "qwen3-moe":
            add(at + "self_attn.q_norm.weight", [1 + x for x in self.draw(self.head)])
            add(at + "self_attn.k_norm.weight", [1 + x for x in self.draw(self.head)])
        gate, up, down = self.names(at, dense)
        for expert in range(1 if dense else EXPERTS):
            features = DENSE if dense else FEATURES
            add(gate.format(expert), self.draw(features, HIDDEN))
            add(up.format(expert), self.draw(features, HIDDEN))
            add(down.format(expert), self.draw(HIDDEN, features))
        if not dense:
            add(self.router(at), self.draw(EXPERTS, HIDDEN))

    def router(self, at):
        return at + ("block_sparse_moe" if self.kind == "mixtral" else "mlp") + ".gate.weight"

    def names(self, at, dense):
        """Returns the names of the gate, up and down projections."""
        if self.kind == "mixtral":
            return [f"{at}block_sparse_moe.experts.{{}}.{name}.weight" for name in ("w1", "w3", "w2")]
        experts = "" if dense else "experts.{}."
        return [f"{at}mlp.{experts}{name}_proj.weight" for name in ("gate", "up", "down")]

    def expression(self):
        common = (f"transformer-layer({HEADS}, kv-heads={KV_HEADS}, head-features={self.head}, "
                  f"activation=swiglu, normalization=rms-norm, eps={EPS}, bias=false, rotary=true, "
                  f"rotary-base={BASE:g}")
        if self.yarn:
            common += ", rotary-scaling=yarn"
            common += "".join(f", rotary-{param}={str(self.yarn[key]).lower()}" for param, key in YARN.items()
                              if key in self.yarn)
        if self.kind == "qwen3-moe":
            common += f", qk-norm=rms, qk-norm-eps={EPS}"
        experts = (f", experts={EXPERTS}, top-k={TOP_K}, expert-features={FEATURES}, "
                   "weights-at=output")
        if not self.normalized:
            experts += ", router-first=score, router-normalize=false"
        layers = [common + (f", ffn-features={DENSE})" if layer in self.dense else experts + ")")
                  for layer in range(2)]
        return (f"embedding({HIDDEN}, vocabulary={VOCABULARY}) ! {layers[0]} ! {layers[1]} ! "
                f"rms-norm(eps={EPS}) ! linear({VOCABULARY}, bias=false)")

    def config(self):
        result = {"model_type": "mixtral", "num_local_experts": EXPERTS,
                  "intermediate_size": FEATURES}
        if self.kind == "llama":
            result = {"model_type": "llama", "intermediate_size": DENSE, "head_dim": self.head}
        if self.kind == "qwen3-moe":
            result = {"model_type": "qwen3_moe", "num_experts": EXPERTS, "mlp_only_layers":
                      list(self.dense), "moe_intermediate_size": FEATURES,
                      "intermediate_size": DENSE, "norm_topk_prob": self.normalized,
                      "decoder_sparse_step": 1, "head_dim": self.head, "max_window_layers": 2,
                      "use_sliding_window": False, "sliding_window": 4096}
        return result | {"num_experts_per_tok": TOP_K, "hidden_size": HIDDEN, "num_hidden_layers": 2,
                         "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
                         "rms_norm_eps": EPS, "rope_theta": BASE, "vocab_size": VOCABULARY,
                         "hidden_act": "silu", "router_aux_loss_coef": 0.02,
                         "output_router_logits": False, "tie_word_embeddings": False} | (
            {"rope_scaling": self.yarn | {"rope_type": "yarn"}} if self.yarn else {})


# The calculation. A text is a list of vectors, one for each token.

def multiply(matrix, x):
    return [sum(a * b for a, b in zip(row, x)) for row in matrix]


def rms_norm(weight, x):
    scale = 1 / math.sqrt(sum(a * a for a in x) / len(x) + EPS)
    return [a * scale * w for a, w in zip(x, weight)]


def softmax(x):
    powers = [math.exp(a - max(x)) for a in x]
    return [power / sum(powers) for power in powers]


def scale(yarn, pair, head):
    """Returns the factor of the frequency of a pair, and of the rotated values (Peng and others,
    2023, YaRN): pairs that turn more than beta_fast times in the original length keep their
    frequency, those that turn less than beta_slow times have it divided by the factor."""
    if not yarn:
        return 1, 1
    length, factor = yarn["original_max_position_embeddings"], yarn["factor"]
    first, last = (head * math.log(length / (yarn[key] * 2 * math.pi)) / (2 * math.log(BASE))
                   for key in ("beta_fast", "beta_slow"))
    if yarn.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, head - 1)
    if first == last:
        last += 0.001
    share = min(max((pair - first) / (last - first), 0), 1)
    return share / factor + 1 - share, yarn.get("attention_factor", 0.1 * math.log(factor) + 1)


def rotate(x, position, yarn):
    half = len(x) // 2
    result = list(x)
    for i in range(half):
        slower, magnitude = scale(yarn, i, len(x))
        angle = position * BASE ** (-2 * i / len(x)) * slower
        cos, sin = magnitude * math.cos(angle), magnitude * math.sin(angle)
        result[i], result[i + half] = x[i] * cos - x[i + half] * sin, x[i + half] * cos + x[i] * sin
    return result


def project(model, at, name, heads, text, rotary):
    """Returns the heads of each token's query, key or value."""
    result = []
    for position, x in enumerate(text):
        flat = multiply(model.tensors[f"{at}self_attn.{name}_proj.weight"], x)
        parts = [flat[head * model.head:(head + 1) * model.head] for head in range(heads)]
        norm = model.tensors.get(f"{at}self_attn.{name}_norm.weight")
        if norm:
            parts = [rms_norm(norm, part) for part in parts]
        result.append([rotate(part, position, model.yarn) for part in parts] if rotary else parts)
    return result


def attend(model, at, text):
    query = project(model, at, "q", HEADS, text, True)
    key = project(model, at, "k", KV_HEADS, text, True)
    value = project(model, at, "v", KV_HEADS, text, False)
    result = []
    for position in range(len(text)):
        joined = []
        for head in range(HEADS):
            shared = head * KV_HEADS // HEADS
            scores = softmax([sum(a * b for a, b in zip(query[position][head], key[other][shared])) /
                              math.sqrt(model.head) for other in range(position + 1)])
            joined += [sum(score * value[other][shared][i] for other, score in enumerate(scores))
                       for i in range(model.head)]
        result.append(multiply(model.tensors[at + "self_attn.o_proj.weight"], joined))
    return result


def apply_mlp(model, names, expert, x):
    gate, up, down = (model.tensors[name.format(expert)] for name in names)
    hidden = [g / (1 + math.exp(-g)) * u for g, u in zip(multiply(gate, x), multiply(up, x))]
    return multiply(down, hidden)


def apply_experts(model, at, dense, x):
    names = model.names(at, dense)
    if dense:
        return apply_mlp(model, names, 0, x)
    weights = softmax(multiply(model.tensors[model.router(at)], x))
    chosen = sorted(range(EXPERTS), key=lambda expert: -weights[expert])[:TOP_K]
    total = sum(weights[expert] for expert in chosen) if model.normalized else 1
    result = [0.0] * HIDDEN
    for expert in chosen:
        y = apply_mlp(model, names, expert, x)
        result = [a + weights[expert] / total * b for a, b in zip(result, y)]
    return result


def compute(model, tokens):
    """Returns the logits of each token."""
    text = [model.tensors["model.embed_tokens.weight"][token] for token in tokens]
    for layer in range(2):
        at = f"model.layers.{layer}."
        norm = model.tensors[at + "input_layernorm.weight"]
        branch = attend(model, at, [rms_norm(norm, x) for x in text])
        text = [[a + b for a, b in zip(x, y)] for x, y in zip(text, branch)]
        norm = model.tensors[at + "post_attention_layernorm.weight"]
        branch = [apply_experts(model, at, layer in model.dense, rms_norm(norm, x)) for x in text]
        text = [[a + b for a, b in zip(x, y)] for x, y in zip(text, branch)]
    return [multiply(model.tensors["lm_head.weight"],
                     rms_norm(model.tensors["model.norm.weight"], x)) for x in text]


# Files and programs.

def flatten(nested):
    """Returns the shape of nested lists, and their numbers."""
    if not isinstance(nested, list):
        return [], [nested]
    parts = [flatten(one) for one in nested]
    return [len(nested)] + parts[0][0], [number for part in parts for number in part[1]]


def save(path, tensors, kind=("F32", "f")):
    header, body = {}, b""
    for name, nested in tensors.items():
        shape, numbers = flatten(nested)
        content = struct.pack(f"<{len(numbers)}{kind[1]}", *numbers)
        header[name] = {"dtype": kind[0], "shape": shape,
                        "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def load_floats(path, name):
    content = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    one = json.loads(content[8:8 + length])[name]
    begin, end = (8 + length + offset for offset in one["data_offsets"])
    assert one["dtype"] == "F32", one
    return struct.unpack(f"<{(end - begin) // 4}f", content[begin:end])


def lig(folder, *words, code=0):
    environment = dict(os.environ, LIGATURE_STORE=str(folder / "store.db"))
    result = subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert result.returncode == code, f"{words}: {result.returncode} {result.stderr}"
    return result.stdout if code == 0 else result.stderr


def apply(folder, model, tensors, code=0, more=""):
    """Runs the model with these tensors; returns its logits, or the error."""
    tokens = [[(3 * i * i + 7 * i + row) % VOCABULARY for i in range(LENGTH)] for row in range(2)]
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model/config.json").write_text(json.dumps(model.config()))
    save(folder / "model/model.safetensors", tensors)
    save(folder / "x.safetensors", {"input": tokens}, ("I32", "i"))
    sequence = model.expression().replace("weights-at=output", "weights-at=output" + more)
    text = lig(folder, "apply", sequence, "--weights", "model", "--input", "x.safetensors",
               "-o", "y.safetensors", "--device", "cpu", code=code)
    if code:
        return text
    wanted = [number for row in tokens for logits in compute(model, row) for number in logits]
    return load_floats(folder / "y.safetensors", "output"), wanted


def check_logits(folder, model, tensors=None):
    got, wanted = apply(folder, model, tensors or model.tensors)
    assert len(got) == len(wanted), f"{len(got)} logits, expected {len(wanted)}"
    error = math.dist(got, wanted) / math.hypot(*wanted)
    assert error < 1e-5, f"the logits differ by {error}"
    print(f"# relative error {error:.1e}")


def merge(model):
    """Returns the tensors of a Mixtral with one for all experts."""
    result = {name: tensor for name, tensor in model.tensors.items()
              if "block_sparse_moe" not in name}
    for layer in range(2):
        at = f"model.layers.{layer}."
        gate, up, down = model.names(at, False)
        parts = [[model.tensors[name.format(expert)] for expert in range(EXPERTS)]
                 for name in (gate, up, down)]
        result[at + "mlp.gate.weight"] = model.tensors[model.router(at)]
        result[at + "mlp.experts.gate_up_proj"] = [a + b for a, b in zip(parts[0], parts[1])]
        result[at + "mlp.experts.down_proj"] = parts[2]
    return result


def check_merged(folder):
    model = Model("mixtral")
    check_logits(folder, model, merge(model))


def check_written(folder):
    """What is read is written again, name by name, with a config.json that fits."""
    for model in (Model("mixtral"), Model("qwen3-moe", head=6, dense=(0,)),
                  Model("mixtral", yarn={"factor": 2.0, "original_max_position_embeddings": 32,
                                         "beta_fast": 32, "beta_slow": 1, "attention_factor": 1.5,
                                         "truncate": False})):
        apply(folder, model, model.tensors)
        lig(folder, "export-weights", model.expression(), "--input", f"2x{LENGTH}:int32",
            "--weights", "model", "--names", model.kind, "-o", "again/")
        for name, nested in model.tensors.items():
            numbers = flatten(nested)[1]
            assert list(load_floats(folder / "again/model.safetensors", name)) == numbers, name
        config = json.loads((folder / "again/config.json").read_text())
        for key in ("num_local_experts", "num_experts", "num_experts_per_tok", "intermediate_size",
                    "moe_intermediate_size", "norm_topk_prob", "mlp_only_layers", "rope_scaling"):
            wanted = model.config()
            # Without such layers, their size is not known.
            unknown = key == "intermediate_size" and model.kind == "qwen3-moe" and not model.dense
            if key in wanted and not unknown:
                assert config[key] == wanted[key], f"{key} is {config[key]}"


def check_training(folder):
    """A run that begins with such weights has their loss at its first step."""
    model = Model("qwen3-moe", normalized=False)
    apply(folder, model, model.tensors)
    tokens = [5 * i * i % VOCABULARY for i in range(400)]
    (folder / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    text = lig(folder, "train", model.expression() + " ! cross-entropy", "--init", "model", "--data",
               "tokens:tokens.bin?validation=0", "--input", f"2x{LENGTH}:int32", "--steps", "30",
               "--device", "cpu", "--lr", "0.01", "--json")
    loss = json.loads(text)["loss"]
    assert loss["last"] < loss["first"] - 0.5, loss
    lig(folder, "export-weights", "last", "--names", "qwen3-moe", "-o", "trained/")
    lig(folder, "apply", model.expression(), "--weights", "trained", "--input", "x.safetensors",
        "-o", "y.safetensors", "--device", "cpu")


def check_rejections(folder):
    model = Model("mixtral")
    at = "model.layers.1.block_sparse_moe.experts."
    cases = {
        f"{at}2.w2.weight (for 2.experts-fc2.weight) is missing, the file has 3 of 4\n":
            {name: one for name, one in model.tensors.items() if name != at + "2.w2.weight"},
        f"{at}4.w1.weight is surplus, the file has 5, expected 4 (for 2.experts-fc1.weight)\n":
            model.tensors | {at + "4.w1.weight": model.tensors[at + "3.w1.weight"]},
        f"{at}1.w3.weight is 12x15, expected 12x16 (for 2.experts-fc1.weight)\n":
            model.tensors | {at + "1.w3.weight": model.draw(12, 15)},
    }
    for words, tensors in cases.items():
        text = apply(folder, model, tensors, code=1)
        assert text.endswith("the weights do not fit the sequence: " + words), text
    for kind in ("mixtral", "qwen3-moe"):
        model = Model(kind)
        text = apply(folder, model, model.tensors, code=1, more=", interleave=4")
        assert f"swiglu.interleave of transformer-layer at 1 is 4, the weights of {kind} need 0" in text, text


def list_cases():
    yield "logits of Mixtral", lambda folder: check_logits(folder, Model("mixtral"))
    yield "one tensor for all experts", check_merged
    yield "logits of Qwen3", lambda folder: check_logits(folder, Model("qwen3-moe", head=6))
    yield ("weights of all experts",
           lambda folder: check_logits(folder, Model("qwen3-moe", normalized=False)))
    yield ("a layer without experts",
           lambda folder: check_logits(folder, Model("qwen3-moe", head=6, dense=(0,))))
    short = {"factor": 4.0, "original_max_position_embeddings": 40, "beta_fast": 6, "beta_slow": 1}
    for kind, dense in (("mixtral", ()), ("qwen3-moe", (0,)), ("llama", (0, 1))):
        for more in ({}, {"truncate": False}, {"attention_factor": 0.75}):
            model = Model(kind, head=8, dense=dense, yarn=short | more)
            yield (f"{kind} with YaRN, {more}",
                   lambda folder, model=model: check_logits(folder, model))
    yield "written again", check_written
    yield "training", check_training
    yield "rejections", check_rejections


def main():
    failed = 0
    for number, (title, check) in enumerate(list_cases(), 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder))
                print(f"ok {number} {title}")
            except (AssertionError, KeyError, OSError) as problem:
                failed += 1
                print(f"not ok {number} {title}\n# {problem}")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
