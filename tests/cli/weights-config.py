#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks, as TAP, the config.json of weights of GPT-2 and Llama-like models, also with experts:
`export-weights` into a folder writes it, weights whose config.json differs from the sequence are
rejected with both values, and transformers opens the folder and computes the same logits. The last
is skipped without torch, transformers and safetensors.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LIG = os.environ["LIG"]
GPT2 = ("embedding(16, vocabulary=20) ! position-embedding(12) ! block(2){{ transformer-layer(4{}) }} "
        "! layer-norm ! linear(20, bias=false, tied=0)")
LLAMA = ("embedding(16, vocabulary=20) ! block(2){{ transformer-layer(4, kv-heads=2, "
         "ffn-features=24, activation=swiglu, normalization=rms-norm, bias=false, rotary=true, "
         "rotary-base=5000, eps=1e-6{}) }} ! rms-norm(eps=1e-6) ! linear(20, bias=false)")
MIXTRAL = ("embedding(16, vocabulary=20) ! block(2){{ transformer-layer(4, kv-heads=2, experts=4, "
           "top-k=2, expert-features=12, activation=swiglu, weights-at=output, "
           "normalization=rms-norm, bias=false, rotary=true, rotary-base=5000, eps=1e-6{}) }} "
           "! rms-norm(eps=1e-6) ! linear(20, bias=false)")
QWEN = MIXTRAL.replace("eps=1e-6{}", "eps=1e-6, qk-norm=rms, qk-norm-eps=1e-6{}")
# A layer with an MLP before two layers with experts.
DENSE_FIRST = QWEN.format("").replace("! block", "! " + QWEN.format("").split("{ ")[1].split(" }")[0]
                                      .replace("experts=4, top-k=2, expert", "ffn")
                                      .replace("weights-at=output, ", "") + " ! block")
SCORED = ", router-first=score, router-normalize=false"
# Parameters of a layer that change its computation, and the words that name them. The error is the
# same for writing and reading weights.
FOREIGN = {
    "gpt2": {
        "window=3": "attention.window of transformer-layer at 2.0.0 is 3",
        "softcap=3": "attention.softcap of transformer-layer at 2.0.0 is 3",
        "scale=3": "attention.scale of transformer-layer at 2.0.0 is 3",
        "alibi=true": "attention.alibi of transformer-layer at 2.0.0 is true",
        "mask=none": "attention.mask of transformer-layer at 2.0.0 is none",
        "rotary=true": "rotary.fraction of transformer-layer at 2.0.0 is 1, the weights of gpt2 need 0",
        "zero-centered-gamma=true": "layer-norm.zero-centered-gamma of transformer-layer at 2.0.0",
        "residual-post-norm=true": "residual-post-norm of transformer-layer at 2.0.0 is true",
        "parallel-attention-mlp=true": "parallel-attention-mlp of transformer-layer at 2.0.0 is true",
        "qk-norm=l2": "qk-norm of transformer-layer at 2.0.0 is l2",
    },
    "llama": {
        "softcap=3": "attention.softcap of transformer-layer at 1.0.0 is 3",
        "scale=3": "attention.scale of transformer-layer at 1.0.0 is 3",
        "alibi=true": "attention.alibi of transformer-layer at 1.0.0 is true",
        "mask=none": "attention.mask of transformer-layer at 1.0.0 is none",
        "rotary-fraction=0.5": "rotary.fraction of transformer-layer at 1.0.0 is 0.5",
        "rotary=false": "rotary of transformer-layer at 1.0.0 is false, the weights of llama need true",
        "zero-centered-gamma=true": "rms-norm.zero-centered-gamma of transformer-layer at 1.0.0",
        "residual-post-norm=true": "residual-post-norm of transformer-layer at 1.0.0 is true",
        "parallel-attention-mlp=true": "parallel-attention-mlp of transformer-layer at 1.0.0 is true",
        "qk-norm=l2": "qk-norm.kind of transformer-layer at 1.0.0 is l2",
    },
}
# Parameters that add tensors for which such models have no names.
UNWRITABLE = {
    "gpt2": {
        "kv-heads=2": "n_head is 4, attention.kv-heads of transformer-layer at 2.0.0 is 2",
        "head-features=6": "n_embd is 16, expected 24 (for layer.proj.weight)",
        "output-layer-norm=true": "output-norm.weight has no counterpart",
        "qk-norm=rms": "qk-norm.key has no counterpart",
    },
    "llama": {
        "output-layer-norm=true": "output-norm.weight has no counterpart",
        "qk-norm=layer": "qk-norm.key_bias has no counterpart",
        "qk-norm=rms, qk-norm-eps=1e-4": "rms_norm_eps is 1e-06, qk-norm.eps of transformer-layer",
        "qk-norm=rms, qk-norm-before-rotary=false": "qk-norm-before-rotary of transformer-layer",
    },
}
YARN = ", rotary-scaling=yarn, rotary-original=4, rotary-factor=2, rotary-high=32"
SCALED = ", rotary-scaling=llama3, rotary-original=4, rotary-factor=2"
INPUT = ["--input", "2x8:int32"]


def lig(folder, *words, code=0):
    environment = dict(os.environ, LIGATURE_STORE=str(pathlib.Path(folder) / "store.db"))
    result = subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert result.returncode == code, f"{words}: {result.returncode} {result.stderr}"
    return result.stdout if code == 0 else result.stderr


def export(folder, sequence, names, code=0):
    return lig(folder, "export-weights", sequence, *INPUT, "--seed", "3", "--names", names, "-o",
               names + "/", code=code)


def load(folder, sequence, weights, code=0):
    return lig(folder, "export-weights", sequence, *INPUT, "--weights", weights, "-o",
               "own.safetensors", code=code)


def change(folder, names, **members):
    path = pathlib.Path(folder) / names / "config.json"
    config = json.loads(path.read_text())
    for key, value in members.items():
        if value is None:
            config.pop(key)
        else:
            config[key] = value
    path.write_text(json.dumps(config))


def vary(names, parameter):
    """Returns the sequence with a parameter of its layers changed."""
    base = {"gpt2": GPT2, "llama": LLAMA}[names]
    if parameter.startswith("rotary=false"):
        return base.format("").replace("rotary=true", parameter)
    return base.format(", " + parameter)


def widen(sequence):
    """Returns the sequence with a byte vocabulary."""
    return sequence.replace("=20", "=256").replace("(20", "(256")


def check_foreign(folder):
    for names, cases in FOREIGN.items():
        for parameter, words in (cases | UNWRITABLE[names]).items():
            text = export(folder, vary(names, parameter), names, code=1)
            assert words in text, f"{names}, {parameter}: {text}"
            assert not (pathlib.Path(folder) / names / "model.safetensors").exists(), parameter
            file = [vary(names, parameter), *INPUT, "--names", names, "-o", "one.safetensors"]
            assert words in lig(folder, "export-weights", *file, code=1), parameter
    norms = {"gpt2": ("! layer-norm !", "! layer-norm(zero-centered-gamma=true) !"),
             "llama": ("rms-norm(eps", "rms-norm(zero-centered-gamma=true, eps")}
    for names, (plain, centered) in norms.items():
        sequence = vary(names, "init-std=0.1").replace(plain, centered)
        text = export(folder, sequence, names, code=1)
        assert "zero-centered-gamma of" in text and "-norm at" in text, text
        sequence = vary(names, "init-std=0.1").replace("! block", "! constant-scale(4) ! block")
        text = export(folder, sequence, names, code=1)
        assert f"constant-scale.scale of constant-scale at {1 + (names == 'gpt2')} is 4" in text, text


def reload(folder, names, sequence, words, **members):
    """Changes members of config.json, checks that the error names each of them, and restores the
    file."""
    path = pathlib.Path(folder) / names / "config.json"
    before = path.read_text()
    change(folder, names, **members)
    text = load(folder, sequence, names, code=1 if words else 0)
    path.write_text(before)
    for word in words:
        assert text.count(word) == 1, f"{names}, {members}: {text}"
    if words:
        assert text.count("; ") == len(words) - 1, f"{names}, {members}: {text}"


def check_reading(folder):
    """A sequence that computes something else is rejected even with correct weights and
    config.json."""
    for names, cases in FOREIGN.items():
        export(folder, vary(names, "init-std=0.1"), names)
        for parameter, words in cases.items():
            reload(folder, names, vary(names, parameter), [words])
    export(folder, widen(GPT2.format("")), "gpt2")
    text = lig(folder, "train", widen(GPT2.format(", window=3")) + " ! cross-entropy", *INPUT, "--data",
               "synthetic", "--steps", "1", "--quiet", "--device", "cpu", "--init", "gpt2", code=1)
    assert FOREIGN["gpt2"]["window=3"] in text, text


def check_members(folder):
    """Each member that contradicts the sequence is named; defaults are not."""
    gpt2, llama = GPT2.format(""), LLAMA.format("")
    export(folder, gpt2, "gpt2")
    export(folder, llama, "llama")
    for key, value, own in (("n_embd", 32, 16), ("n_layer", 3, 2), ("n_inner", 60, 64),
                            ("vocab_size", 21, 20), ("n_positions", 13, 12)):
        reload(folder, "gpt2", gpt2, [f"{key} is {value}, expected {own} (for "], **{key: value})
    for key, value, own in (("hidden_size", 32, 16), ("num_hidden_layers", 3, 2), ("head_dim", 8, 4),
                            ("intermediate_size", 48, 24)):
        reload(folder, "llama", llama, [f"{key} is {value}, expected {own} (for "], **{key: value})
    reload(folder, "gpt2", gpt2, ['model_type is "llama", expected "gpt2"'], model_type="llama")
    reload(folder, "llama", llama, ['model_type is "gpt2", expected ["llama",'], model_type="gpt2")
    reload(folder, "llama", llama, ['model_type is "gemma", expected'], model_type="gemma")
    reload(folder, "llama", llama, [], model_type="mistral", sliding_window=0)
    window = "sliding_window is 4, attention.window of transformer-layer at 1.0.0 is 0"
    reload(folder, "llama", llama, [window], sliding_window=4)
    reload(folder, "llama", llama, [window], sliding_window=4, use_sliding_window=True)
    reload(folder, "llama", llama, [], sliding_window=4, use_sliding_window=False)
    reload(folder, "llama", LLAMA.format(", window=4"), [], sliding_window=4)
    fraction = "partial_rotary_factor is 0.5, rotary.fraction of transformer-layer at 1.0.0 is 1"
    reload(folder, "llama", llama, [fraction], partial_rotary_factor=0.5)
    reload(folder, "llama", LLAMA.format(", rotary-fraction=0.5"), [], partial_rotary_factor=0.5)
    # A scaling is named once, in all places of config.json; its factor only if the sequence has one.
    yarn = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 5000}
    scaling = 'rope_type is "yarn", rotary.scaling of transformer-layer at 1.0.0 is default'
    for members in ({"rope_parameters": None, "rope_scaling": yarn}, {"rope_parameters": yarn},
                    {"rope_parameters": yarn, "rope_scaling": yarn}):
        reload(folder, "llama", llama, [scaling], **members)
    export(folder, LLAMA.format(SCALED), "llama")
    reload(folder, "llama", LLAMA.format(SCALED), [scaling.replace("default", "llama3")],
           rope_parameters=None, rope_scaling=yarn | {"factor": 2})
    export(folder, llama, "llama")
    # A padded vocabulary has the rows of the file.
    padded = llama.replace("=20", "=24").replace("(20", "(24")
    reload(folder, "llama", padded, [], hidden_size=16)
    reload(folder, "llama", padded, ["vocab_size is 24, expected 20 (for "], vocab_size=24)


def check_types(folder):
    """Integers are rejected as weights, with the names of another program or with paths."""
    path = pathlib.Path(folder) / "w.safetensors"
    for names, number in (("gpt2", "transformer.wte.weight"), (None, "0.weight")):
        line = [GPT2.format(""), *INPUT, "-o", "w.safetensors"]
        lig(folder, "export-weights", *line, *(["--names", names] if names else []))
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8:8 + length])
        header[number]["dtype"] = "I32"
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length:])
        error = load(folder, GPT2.format(""), "w.safetensors", code=1)
        assert f"{number} is int32, expected a floating type" in error, error


def check_dropout(folder):
    sequence = GPT2.format(", hidden-dropout=0.1, attention-dropout=0.2")
    export(folder, sequence.replace("(12) !", "(12) ! dropout(0.3) !"), "gpt2")
    config = json.loads((pathlib.Path(folder) / "gpt2/config.json").read_text())
    rates = [config[key] for key in ("resid_pdrop", "attn_pdrop", "embd_pdrop")]
    assert rates == [0.1, 0.2, 0.3], rates
    # They only matter for training, so a sequence without them can read the weights.
    load(folder, GPT2.format(""), "gpt2")
    export(folder, GPT2.format(""), "gpt2")
    config = json.loads((pathlib.Path(folder) / "gpt2/config.json").read_text())
    assert config["resid_pdrop"] == config["attn_pdrop"] == config["embd_pdrop"] == 0, config
    export(folder, LLAMA.format(", attention-dropout=0.2"), "llama")
    config = json.loads((pathlib.Path(folder) / "llama/config.json").read_text())
    assert config["attention_dropout"] == 0.2, config


def check_gpt2(folder):
    export(folder, GPT2.format(""), "gpt2")
    config = json.loads((pathlib.Path(folder) / "gpt2/config.json").read_text())
    expected = {"model_type": "gpt2", "n_embd": 16, "n_head": 4, "n_layer": 2, "n_inner": 64,
                "vocab_size": 20, "n_positions": 12, "layer_norm_epsilon": 1e-5,
                "activation_function": "gelu_new", "tie_word_embeddings": True}
    assert {key: config[key] for key in expected} == expected, config
    load(folder, GPT2.format(""), "gpt2")
    load(folder, GPT2.format(""), "gpt2/model.safetensors")
    text = load(folder, GPT2.format(", eps=1e-4, activation=relu"), "gpt2", code=1)
    assert "config.json does not fit the sequence" in text, text
    assert "layer_norm_epsilon is 1" in text and "transformer-layer at 2.0.0 is 0.0001" in text, text
    assert 'activation_function is "gelu_new", activation of' in text and "is relu" in text, text
    change(folder, "gpt2", n_head=8)
    text = load(folder, GPT2.format(""), "gpt2", code=1)
    assert text.count("n_head is 8, attention.heads of transformer-layer at 2.0.0 is 4") == 1, text
    # Omitted members have the defaults of transformers; those without a rule do not matter.
    change(folder, "gpt2", n_head=4, activation_function=None, layer_norm_epsilon=None, other=[1])
    load(folder, GPT2.format(""), "gpt2")
    change(folder, "gpt2", activation_function="gelu")
    assert 'activation_function is "gelu"' in load(folder, GPT2.format(""), "gpt2", code=1)
    change(folder, "gpt2", activation_function="gelu_new", scale_attn_weights=False)
    text = load(folder, GPT2.format(""), "gpt2", code=1)
    assert "scale_attn_weights is false, expected true" in text, text
    (pathlib.Path(folder) / "gpt2/config.json").write_text("{")
    assert "config.json" in load(folder, GPT2.format(""), "gpt2", code=1)
    (pathlib.Path(folder) / "gpt2/config.json").unlink()
    load(folder, GPT2.format(""), "gpt2")


def check_llama(folder):
    export(folder, LLAMA.format(SCALED), "llama")
    config = json.loads((pathlib.Path(folder) / "llama/config.json").read_text())
    assert config["num_key_value_heads"] == 2 and config["head_dim"] == 4, config
    assert config["rope_scaling"]["rope_type"] == "llama3" and config["rope_theta"] == 5000, config
    load(folder, LLAMA.format(SCALED), "llama")
    text = load(folder, LLAMA.format(""), "llama", code=1)
    assert 'rope_type is "llama3", rotary.scaling of transformer-layer at 1.0.0 is default' in text, text
    text = load(folder, LLAMA.format(SCALED).replace("factor=2", "factor=4"), "llama", code=1)
    assert "factor is 2, rotary.factor of transformer-layer at 1.0.0 is 4" in text, text
    text = load(folder, LLAMA.format(SCALED).replace("5000", "6000"), "llama", code=1)
    assert "rope_theta is 5000, rotary.base of transformer-layer at 1.0.0 is 6000" in text, text
    # The form of older versions, without rope_parameters.
    change(folder, "llama", rope_parameters=None)
    load(folder, LLAMA.format(SCALED), "llama")
    assert "rope_scaling.factor is 2" in load(
        folder, LLAMA.format(SCALED).replace("factor=2", "factor=4"), "llama", code=1)


def check_experts(folder):
    """The members about experts are written, and compared when they are read."""
    wanted = {"mixtral": {"model_type": "mixtral", "num_local_experts": 4, "intermediate_size": 12,
                          "num_experts_per_tok": 2, "router_aux_loss_coef": 0.02},
              "qwen3-moe": {"model_type": "qwen3_moe", "num_experts": 4, "norm_topk_prob": True,
                            "moe_intermediate_size": 12, "num_experts_per_tok": 2,
                            "router_aux_loss_coef": 0.02, "decoder_sparse_step": 1,
                            "mlp_only_layers": []}}
    bases = {"mixtral": MIXTRAL, "qwen3-moe": QWEN}
    at = "of transformer-layer at 1.0.0 is"
    for names, base in bases.items():
        export(folder, base.format(", aux=0.02"), names)
        config = json.loads((pathlib.Path(folder) / names / "config.json").read_text())
        assert {key: config[key] for key in wanted[names]} == wanted[names], config
        count, size = ("num_local_experts", "intermediate_size") if names == "mixtral" else (
            "num_experts", "moe_intermediate_size")
        plain = base.format("")
        reload(folder, names, plain, [], router_aux_loss_coef=0.5, output_router_logits=True)
        reload(folder, names, plain, [f"{count} is 8, expected 4 (for layer.router.weight)"],
               **{count: 8})
        reload(folder, names, plain, [f"{size} is 24, expected 12 (for layer.experts-fc2.weight)"],
               **{size: 24})
        reload(folder, names, plain, [f"num_experts_per_tok is 3, router.top-k {at} 2"],
               num_experts_per_tok=3)
        reload(folder, names, plain, ['model_type is "llama", expected'], model_type="llama")
        for parameter, words in (("router-score=sigmoid", f"router.score {at} sigmoid"),
                                 ("router-scale=2", f"router.scale {at} 2"),
                                 ("capacity=1", f"transformer-layer.capacity {at} 1")):
            reload(folder, names, base.format(", " + parameter), [words])
            assert words in export(folder, base.format(", " + parameter), names, code=1), words
        activation = plain.replace("weights-at=output", "weights-at=activation")
        words = f'transformer-layer.weights-at {at} activation, the weights of {names} need "output"'
        reload(folder, names, activation, [words])
        assert words in export(folder, activation, names, code=1)
    reload(folder, "mixtral", MIXTRAL.format(SCORED), [f"router.first {at} score"])
    reload(folder, "qwen3-moe", QWEN.format(SCORED),
           [f"norm_topk_prob is true, router.normalize {at} false"])
    # Normalized after the softmax over all experts, or by the softmax over the selected ones.
    reload(folder, "qwen3-moe", QWEN.format(", router-first=score"), [])
    reload(folder, "qwen3-moe", QWEN.format(", router-normalize=false"), [])
    for parameters in (", router-first=score", ", router-normalize=false"):
        export(folder, QWEN.format(parameters), "qwen3-moe")
        config = json.loads((pathlib.Path(folder) / "qwen3-moe/config.json").read_text())
        assert config["norm_topk_prob"] is True, config
    # The only expert of a token is not normalized, which transformers would.
    words = f"router.normalize {at} true, the weights of qwen3-moe need false"
    one = QWEN.format(", router-first=score").replace("top-k=2", "top-k=1")
    assert words in export(folder, one, "qwen3-moe", code=1)
    export(folder, QWEN.format("").replace("top-k=2", "top-k=1"), "qwen3-moe")
    # Both ways in one model.
    mixed = QWEN.format("").split(" ! ")
    layer = mixed[1].split("{ ")[1].split(" }")[0]
    for first, second, normalized in ((", router-first=score", "", True),
                                      ("", ", router-first=score", None), (SCORED, "", None),
                                      (SCORED, ", router-normalize=false", None),
                                      ("", SCORED, None)):
        both = " ! ".join([mixed[0], layer[:-1] + first + ")", layer[:-1] + second + ")", *mixed[2:]])
        export(folder, both, "qwen3-moe", code=0 if normalized else 1)
    export(folder, QWEN.format(SCORED), "qwen3-moe")
    for members in ({}, {"norm_topk_prob": None}):
        reload(folder, "qwen3-moe", QWEN.format(SCORED), [], **members)
        reload(folder, "qwen3-moe", QWEN.format(""),
               [f"norm_topk_prob is false, router.first {at} select"], **members)


def check_yarn(folder):
    """The members of YaRN, with the defaults of transformers for those that are missing."""
    at = "of transformer-layer at 1.0.0 is"
    for names, base in (("llama", LLAMA), ("mixtral", MIXTRAL), ("qwen3-moe", QWEN)):
        export(folder, base.format(YARN), names)
        path = pathlib.Path(folder) / names / "config.json"
        written = json.loads(path.read_text())
        wanted = {"rope_type": "yarn", "factor": 2, "original_max_position_embeddings": 4,
                  "beta_slow": 1, "beta_fast": 32, "truncate": True}
        for where in ("rope_scaling", "rope_parameters"):
            assert {key: written[where].get(key) for key in wanted} == wanted, written
            assert "attention_factor" not in written[where], written
            assert "low_freq_factor" not in written[where], written
        # Some versions of transformers compute the factor from both lengths.
        assert written["max_position_embeddings"] == 8, written
        short = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4}
        load(folder, base.format(YARN), names)

        def expect(parameters, words, **members):
            reload(folder, names, base.format(parameters), words,
                   **({"rope_parameters": None} | members))
        for scaling in (short, {key: short[key] for key in short if key != "rope_type"} |
                        {"type": "yarn"}):
            expect(YARN, [], rope_scaling=scaling)
        expect(YARN, [], rope_scaling={"rope_type": "yarn", "factor": 2.0},
               max_position_embeddings=4)
        expect(YARN, [f"max_position_embeddings is 8, rotary.original {at} 4"],
               rope_scaling={"rope_type": "yarn", "factor": 2.0})
        expect(YARN, [f"beta_fast is 16, rotary.high {at} 32"], rope_scaling=short | {"beta_fast": 16})
        expect(YARN, [f"truncate is false, rotary.truncate {at} true"],
               rope_scaling=short | {"truncate": False})
        expect(YARN, [f"attention_factor is 1.5, rotary.magnitude {at} 0"],
               rope_scaling=short | {"attention_factor": 1.5})
        expect(YARN, ["mscale_all_dim is 0.5, expected 0"],
               rope_scaling=short | {"mscale": 1.0, "mscale_all_dim": 0.5})
        expect(YARN + ", rotary-magnitude=1.5", [], rope_scaling=short | {"attention_factor": 1.5})
        expect(SCALED, [f'rope_type is "yarn", rotary.scaling {at} llama3'], rope_scaling=short)
        export(folder, base.format(YARN + ", rotary-magnitude=1.5"), names)
        assert json.loads(path.read_text())["rope_scaling"]["attention_factor"] == 1.5


def check_layer_types(folder):
    """The message about a layer names its type."""
    export(folder, LLAMA.format(", window=4"), "llama")
    types = ["sliding_attention", "full_attention"]
    reload(folder, "llama", LLAMA.format(", window=4"),
           ['sliding_window is 0 for layer 1 (layer_types: "full_attention"), attention.window of '
            'transformer-layer at 1.1.0 is 4'], layer_types=types)
    reload(folder, "llama", LLAMA.format(", window=4"), [], layer_types=types[:1] * 2)
    reload(folder, "llama", LLAMA.format(", window=4"),
           ['layer_types has "chunked_attention" for layer 1, expected sliding_attention or '
            '"full_attention"'], layer_types=["sliding_attention", "chunked_attention"])


def check_rejections(folder):
    export(folder, LLAMA.format(""), "llama")
    turned = LLAMA.format(", rotary-interleaved=true")
    sentence = "rotary.interleaved of transformer-layer at 1.0.0 is true, the weights of llama need false"
    assert sentence in load(folder, turned, "llama", code=1)
    (pathlib.Path(folder) / "llama/config.json").unlink()
    assert sentence in load(folder, turned, "llama/model.safetensors", code=1)
    assert sentence in export(folder, turned, "llama", code=1)
    line = [turned, *INPUT, "--names", "llama", "-o", "file.safetensors"]
    assert sentence in lig(folder, "export-weights", *line, code=1)
    assert not (pathlib.Path(folder) / "file.safetensors").exists()
    text = export(folder, LLAMA.format(", mask=none"), "llama", code=1)
    assert "attention.mask of transformer-layer at 1.0.0 is none" in text, text
    text = export(folder, GPT2.format(", eps=0.001"), "gpt2", code=1)
    assert "layer-norm.eps of transformer-layer at 2.0.0 is 0.001, at 3 it is 1e-05" in text, text
    text = export(folder, GPT2.format(", activation=srelu"), "gpt2", code=1)
    assert "activation of transformer-layer at 2.0.0 is srelu" in text, text


def check_transformers(folder):
    try:
        import safetensors.torch
        import torch
        import transformers
    except ImportError as missing:
        return f"{missing.name} is not installed"
    cases = {"gpt2": [GPT2.format(""), GPT2.format(", activation=relu"),
                      GPT2.format(", hidden-dropout=0.1, attention-dropout=0.2")],
             "llama": [LLAMA.format(""), LLAMA.format(SCALED), LLAMA.format(YARN),
                       LLAMA.format("").replace("bias=false)", "bias=false, tied=0)"),
                       LLAMA.format("").replace("swiglu", "geglu").replace("1e-6", "1e-4"),
                       LLAMA.format("").replace("bias=false, rot", "bias=true, rot"),
                       LLAMA.format(", qk-norm=rms")],
             "mixtral": [MIXTRAL.format(""), MIXTRAL.format(YARN), MIXTRAL.format(", aux=0.01")],
             "qwen3-moe": [QWEN.format(""), QWEN.format(SCORED), QWEN.format(", router-first=score"),
                           QWEN.format(YARN), DENSE_FIRST]}
    path = pathlib.Path(folder)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for names, sequences in cases.items():
        for sequence in sequences:
            export(folder, sequence, names)
            model = transformers.AutoModelForCausalLM.from_pretrained(path / names).eval()
            tokens = torch.arange(16).reshape(2, 8) * 7 % 20
            safetensors.torch.save_file({"input": tokens.to(torch.int32)}, path / "x.safetensors")
            lig(folder, "apply", sequence, "--weights", names, "--input", "x.safetensors", "-o",
                "y.safetensors", "--device", "cpu")
            ours = safetensors.torch.load_file(path / "y.safetensors")["output"]
            theirs = model(tokens).logits.detach()
            error = (ours - theirs).norm() / theirs.norm()
            assert error < 1e-5, f"{sequence}: the logits differ by {error}"
    return None


def main():
    cases = [check_gpt2, check_llama, check_experts, check_rejections, check_foreign, check_reading,
             check_members, check_types, check_yarn, check_layer_types, check_dropout,
             check_transformers]
    print(f"1..{len(cases)}")
    failed = False
    for number, case in enumerate(cases, 1):
        name = case.__name__.removeprefix("check_")
        with tempfile.TemporaryDirectory() as folder:
            try:
                skipped = case(folder)
                print(f"ok {number} - {name}" + (f" # SKIP {skipped}" if skipped else ""))
            except AssertionError as error:
                failed = True
                print(f"not ok {number} - {name}")
                print("\n".join(f"# {line}" for line in str(error).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
