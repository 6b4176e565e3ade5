#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks in the form of TAP that lig computes what GPT-OSS models define, with attention sinks,
layers with and without a window, YaRN, and experts with biases whose matrices are transposed and
interleaved: weights are written here, byte by byte, and the logits of `lig apply` are compared with
those of a calculation in double precision from the same tensors.
"""
import importlib
import json
import math
import pathlib
import random
import sys
import tempfile

files = importlib.import_module("weights-experts")

HIDDEN, HEADS, KV_HEADS, HEAD, EXPERTS, TOP_K, FEATURES = 32, 4, 2, 8, 4, 2, 12
VOCABULARY, LENGTH, BASE, EPS, WINDOW, LIMIT = 20, 12, 5000.0, 1e-5, 3, 0.5
SLOW, FAST, FACTOR, ORIGINAL = 1.0, 4.0, 4.0, 64
LAYER = (f"transformer-layer({HEADS}, kv-heads={KV_HEADS}, head-features={HEAD}, sinks=true, "
         f"rotary=true, rotary-base={BASE:g}, rotary-scaling=yarn, rotary-factor={FACTOR:g}, "
         f"rotary-low={SLOW:g}, rotary-high={FAST:g}, rotary-original={ORIGINAL}, "
         f"rotary-truncate=false, experts={EXPERTS}, top-k={TOP_K}, expert-features={FEATURES}, "
         f"weights-at=output, router-bias=true, activation=clamped-swiglu, "
         f"activation-limit={LIMIT}, normalization=rms-norm")
EXPRESSION = (f"embedding({HIDDEN}, vocabulary={VOCABULARY}) ! block(2) {{ {LAYER}, "
              f"window={WINDOW}) ! {LAYER}) }} ! rms-norm ! linear({VOCABULARY}, bias=false)")
LAYERS = ("sliding_attention", "full_attention") * 2
CONFIG = {
    "architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": HIDDEN,
    "vocab_size": VOCABULARY, "intermediate_size": FEATURES, "num_local_experts": EXPERTS,
    "num_experts_per_tok": TOP_K, "num_hidden_layers": len(LAYERS), "head_dim": HEAD,
    "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "rms_norm_eps": EPS,
    "attention_bias": True, "hidden_act": "silu", "swiglu_limit": LIMIT, "sliding_window": WINDOW,
    "layer_types": list(LAYERS), "rope_theta": BASE, "tie_word_embeddings": False,
    "rope_scaling": {"rope_type": "yarn", "factor": FACTOR, "beta_slow": SLOW, "beta_fast": FAST,
                     "truncate": False, "original_max_position_embeddings": ORIGINAL},
    "initial_context_length": ORIGINAL, "quantization_config": {"quant_method": "mxfp4"}}


def make():
    """Returns the tensors; all have values that fp32 has exactly."""
    source = random.Random(5)

    def draw(*shape):
        if len(shape) > 1:
            return [draw(*shape[1:]) for _ in range(shape[0])]
        return [round(source.gauss(0, 0.4) * 1024) / 1024 for _ in range(shape[0])]

    tensors = {"model.embed_tokens.weight": draw(VOCABULARY, HIDDEN),
               "model.norm.weight": [1 + x for x in draw(HIDDEN)],
               "lm_head.weight": draw(VOCABULARY, HIDDEN)}
    for layer in range(len(LAYERS)):
        at = f"model.layers.{layer}."
        for name, rows, columns in (("q", HEADS * HEAD, HIDDEN), ("k", KV_HEADS * HEAD, HIDDEN),
                                    ("v", KV_HEADS * HEAD, HIDDEN), ("o", HIDDEN, HEADS * HEAD)):
            tensors[f"{at}self_attn.{name}_proj.weight"] = draw(rows, columns)
            tensors[f"{at}self_attn.{name}_proj.bias"] = draw(rows)
        tensors |= {
            at + "self_attn.sinks": [3 * x for x in draw(HEADS)],
            at + "input_layernorm.weight": [1 + x for x in draw(HIDDEN)],
            at + "post_attention_layernorm.weight": [1 + x for x in draw(HIDDEN)],
            at + "mlp.router.weight": draw(EXPERTS, HIDDEN), at + "mlp.router.bias": draw(EXPERTS),
            at + "mlp.experts.gate_up_proj": draw(EXPERTS, HIDDEN, 2 * FEATURES),
            at + "mlp.experts.gate_up_proj_bias": draw(EXPERTS, 2 * FEATURES),
            at + "mlp.experts.down_proj": draw(EXPERTS, FEATURES, HIDDEN),
            at + "mlp.experts.down_proj_bias": draw(EXPERTS, HIDDEN)}
    return tensors


def affine(matrix, bias, x):
    return [a + b for a, b in zip(files.multiply(matrix, x), bias)]


def norm(weight, x):
    scale = 1 / math.sqrt(sum(a * a for a in x) / len(x) + EPS)
    return [w * a * scale for w, a in zip(weight, x)]


def frequency(pair):
    """YaRN: between the pairs that turn FAST and SLOW times in the original length, frequencies
    pass from the original ones to those divided by the factor."""
    first, last = (HEAD * math.log(ORIGINAL / (turns * 2 * math.pi)) / (2 * math.log(BASE))
                   for turns in (FAST, SLOW))
    first, last = max(first, 0), min(last, HEAD - 1)
    share = min(max((pair - first) / (last - first), 0), 1)
    return BASE ** (-2 * pair / HEAD) * (share / FACTOR + 1 - share)


def rotate(head, position):
    result = list(head)
    magnitude = 0.1 * math.log(FACTOR) + 1
    for pair in range(HEAD // 2):
        angle = position * frequency(pair)
        a, b = head[pair], head[pair + HEAD // 2]
        result[pair] = magnitude * (a * math.cos(angle) - b * math.sin(angle))
        result[pair + HEAD // 2] = magnitude * (b * math.cos(angle) + a * math.sin(angle))
    return result


def attend(tensors, at, text, kind):
    def project(name, heads, rotary):
        flat = [affine(tensors[f"{at}{name}_proj.weight"], tensors[f"{at}{name}_proj.bias"], x)
                for x in text]
        parts = [[row[head * HEAD:(head + 1) * HEAD] for head in range(heads)] for row in flat]
        return [[rotate(one, position) for one in row] for position, row in enumerate(parts)] \
            if rotary else parts

    query, key, value = project("q", HEADS, True), project("k", KV_HEADS, True), project(
        "v", KV_HEADS, False)
    result = []
    for position in range(len(text)):
        joined, first = [], max(0, position - WINDOW + 1) if kind == LAYERS[0] else 0
        for head in range(HEADS):
            shared = head * KV_HEADS // HEADS
            weights = [math.exp(sum(a * b for a, b in zip(query[position][head], key[other][shared]))
                                / math.sqrt(HEAD)) for other in range(first, position + 1)]
            total = sum(weights) + math.exp(tensors[at + "sinks"][head])
            joined += [sum(weight * value[first + n][shared][i] for n, weight in enumerate(weights))
                       / total for i in range(HEAD)]
        result.append(affine(tensors[at + "o_proj.weight"], tensors[at + "o_proj.bias"], joined))
    return result


def apply_experts(tensors, at, x):
    logits = affine(tensors[at + "router.weight"], tensors[at + "router.bias"], x)
    chosen = sorted(range(EXPERTS), key=lambda expert: -logits[expert])[:TOP_K]
    total = sum(math.exp(logits[expert]) for expert in chosen)
    result = [0.0] * HIDDEN
    for expert in chosen:
        both = affine(zip(*tensors[at + "experts.gate_up_proj"][expert]),
                      tensors[at + "experts.gate_up_proj_bias"][expert], x)
        hidden = [(min(max(up, -LIMIT), LIMIT) + 1) * min(gate, LIMIT) /
                  (1 + math.exp(-1.702 * min(gate, LIMIT))) for gate, up in zip(both[::2], both[1::2])]
        y = affine(zip(*tensors[at + "experts.down_proj"][expert]),
                   tensors[at + "experts.down_proj_bias"][expert], hidden)
        result = [a + math.exp(logits[expert]) / total * b for a, b in zip(result, y)]
    return result


def compute(tensors, tokens):
    """Returns the logits of all tokens, one after the other."""
    text = [tensors["model.embed_tokens.weight"][token] for token in tokens]
    for layer, kind in enumerate(LAYERS):
        at = f"model.layers.{layer}."
        branch = attend(tensors, at + "self_attn.",
                        [norm(tensors[at + "input_layernorm.weight"], x) for x in text], kind)
        text = [[a + b for a, b in zip(x, y)] for x, y in zip(text, branch)]
        weight = tensors[at + "post_attention_layernorm.weight"]
        branch = [apply_experts(tensors, at + "mlp.", norm(weight, x)) for x in text]
        text = [[a + b for a, b in zip(x, y)] for x, y in zip(text, branch)]
    return [number for x in text for number in
            files.multiply(tensors["lm_head.weight"], norm(tensors["model.norm.weight"], x))]


def write(folder, tensors, config):
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model/config.json").write_text(json.dumps(config))
    files.save(folder / "model/model.safetensors", tensors)
    tokens = [[(3 * i * i + 7 * i + row) % VOCABULARY for i in range(LENGTH)] for row in range(2)]
    files.save(folder / "x.safetensors", {"input": tokens}, ("I32", "i"))
    return tokens


def apply(folder, weights, expression=EXPRESSION, code=0):
    return files.lig(folder, "apply", expression, "--weights", weights, "--input", "x.safetensors",
                     "-o", "y.safetensors", "--device", "cpu", code=code)


def check_logits(folder):
    tensors = make()
    tokens = write(folder, tensors, CONFIG)
    apply(folder, "model")
    wanted = [number for row in tokens for number in compute(tensors, row)]
    got = files.load_floats(folder / "y.safetensors", "output")
    assert len(got) == len(wanted), f"{len(got)} logits, expected {len(wanted)}"
    error = math.dist(got, wanted) / math.hypot(*wanted)
    assert error < 1e-5, f"the logits differ by {error}"
    print(f"# relative error {error:.1e}")


def check_written(folder):
    """What is read is written again, name by name, with a config.json that fits."""
    tensors = make()
    write(folder, tensors, CONFIG)
    files.lig(folder, "export-weights", EXPRESSION, "--input", f"2x{LENGTH}:int32", "--weights",
              "model", "--names", "gpt-oss", "-o", "again/")
    for name, nested in tensors.items():
        got = list(files.load_floats(folder / "again/model.safetensors", name))
        assert got == files.flatten(nested)[1], name
    config = json.loads((folder / "again/config.json").read_text())
    for key, value in CONFIG.items():
        if key not in ("initial_context_length", "quantization_config"):
            assert config[key] == value, f"{key} is {config[key]}, expected {value}"
    # Some versions of transformers compute the factor from both lengths.
    assert config["max_position_embeddings"] == FACTOR * ORIGINAL, config
    apply(folder, "again")


def check_without_windows(folder):
    """If all layers see all keys, config.json says so of each, and has no window."""
    config = CONFIG | {"layer_types": ["full_attention"] * len(LAYERS)}
    expression = EXPRESSION.replace(f", window={WINDOW}", "")
    write(folder, make(), config)
    files.lig(folder, "export-weights", expression, "--input", f"2x{LENGTH}:int32", "--weights",
              "model", "--names", "gpt-oss", "-o", "again/")
    again = json.loads((folder / "again/config.json").read_text())
    assert again["layer_types"] == config["layer_types"] and "sliding_window" not in again, again


def check_rejections(folder):
    write(folder, make(), CONFIG)
    for old, new, words in (
            (f"window={WINDOW}", "window=4", 'sliding_window is 3 for layer 0 (layer_types: '
             '"sliding_attention"), attention.window of transformer-layer at 1.0.0 is 4'),
            (f"! {LAYER})", f"! {LAYER}, window=3)", 'sliding_window is 0 for layer 1 (layer_types: '
             '"full_attention"), attention.window of transformer-layer at 1.0.1 is 3'),
            ("rotary-truncate=false", "rotary-truncate=true", "truncate is false, rotary.truncate"),
            (f"rotary-high={FAST:g}", "rotary-high=8", "beta_fast is 4, rotary.high"),
            (f"top-k={TOP_K}", "top-k=1", "num_experts_per_tok is 2, router.top-k"),
            (f"activation-limit={LIMIT}", "activation-limit=7", "swiglu_limit is 0.5"),
            ("sinks=true, ", "", "self_attn.sinks is surplus")):
        said = apply(folder, "model", EXPRESSION.replace(old, new), code=1)
        assert words in said, f"{new}: {said}"
    other = EXPRESSION.replace(f", window={WINDOW}) ! {LAYER})", f", window=3) ! {LAYER}, window=5)")
    said = files.lig(folder, "export-weights", other, "--input", f"2x{LENGTH}:int32", "--names",
                     "gpt-oss", "-o", "other/", code=1)
    assert "is 3, at 1.0.1 it is 5; models with the names of gpt-oss have one" in said, said


def main():
    checks = (("logits", check_logits), ("written again", check_written),
              ("no windows", check_without_windows), ("rejections", check_rejections))
    failed = 0
    for number, (title, check) in enumerate(checks, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder))
                print(f"ok {number} {title}")
            except (AssertionError, KeyError, OSError) as problem:
                failed += 1
                print(f"not ok {number} {title}\n# {problem}")
    print(f"1..{len(checks)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
