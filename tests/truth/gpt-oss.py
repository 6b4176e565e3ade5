#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a randomly initialized GPT-OSS model with PyPI's `transformers`; prints TAP: the logits
and gradients of its weights, the logits of weights in MXFP4, and those that transformers computes
from written weights. Skipped without torch, transformers and safetensors.

    LIG=build/app/lig python3 tests/truth/gpt-oss.py [--device cpu,cuda:0]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import safetensors.torch
    import torch
    import transformers
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

from devices import choose

LIG = os.path.abspath(os.environ["LIG"])
VOCABULARY, LENGTH, HIDDEN, FEATURES, LAYERS = 97, 40, 64, 96, 4
LAYER = (f"transformer-layer(4, kv-heads=2, head-features=32, sinks=true, rotary=true, "
         f"rotary-base=150000, rotary-scaling=yarn, rotary-factor=32, rotary-low=1, rotary-high=32, "
         f"rotary-original=4096, rotary-truncate=false, experts=6, top-k=3, "
         f"expert-features={FEATURES}, weights-at=output, router-bias=true, "
         f"activation=clamped-swiglu, activation-limit=1.5, normalization=rms-norm")
SEQUENCE = (f"embedding({HIDDEN}, vocabulary={VOCABULARY}) ! block({LAYERS // 2}) "
            f"{{ {LAYER}, window=8) ! {LAYER}) }} ! rms-norm ! linear({VOCABULARY}, bias=false)")


def with_limit(model):
    """Older versions of transformers ignore the limit of the configuration."""
    for layer in model.model.layers:
        layer.mlp.experts.limit = model.config.swiglu_limit
    return model


def make():
    torch.manual_seed(11)
    config = transformers.GptOssConfig(
        vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=FEATURES,
        num_hidden_layers=LAYERS, num_local_experts=6, num_experts_per_tok=3,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, sliding_window=8,
        swiglu_limit=1.5, max_position_embeddings=512, attn_implementation="eager")
    model = transformers.GptOssForCausalLM(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1 if "norm.weight" in name else 0, 1 if "sinks" in name else 0.2)
    return with_limit(model)


def run(folder, *words, code=0):
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db", XDG_DATA_HOME=str(folder))
    result = subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                            capture_output=True)
    assert result.returncode == code, result.stderr
    return result.stderr


def compare(model, folder, device, weights="model"):
    """The program computes the model's logits from the weights of the folder."""
    x = torch.randint(0, VOCABULARY, (3, LENGTH))
    safetensors.torch.save_file({"input": x.int()}, folder / "x.safetensors")
    with torch.no_grad():
        want = model(x).logits.double()
    said = run(folder, "apply", SEQUENCE, "--weights", weights, "--input", "x.safetensors", "-o",
               "y.safetensors", "--device", device)
    assert "names of GPT-OSS" in said and "ignored" not in said, said
    got = safetensors.torch.load_file(folder / "y.safetensors")["output"].double()
    relative_error = float((got - want).norm() / want.norm())
    print(f"# relative error {relative_error:.2g}")
    assert relative_error <= 1e-4, f"the logits have relative error {relative_error:.2g}, allowed 1e-4"


def check_logits(folder, device):
    model = make()
    model.save_pretrained(folder / "model")
    compare(model, folder, device)


def check_gradients(folder, device):
    """The gradients of parameters whose elements are in the order of PyTorch's."""
    model = make()
    model.save_pretrained(folder / "model")
    x = torch.randint(0, VOCABULARY, (3, LENGTH))
    dy = torch.randn(3, LENGTH, VOCABULARY)
    safetensors.torch.save_file({"input": x.int()}, folder / "x.safetensors")
    safetensors.torch.save_file({"output": dy}, folder / "dy.safetensors")
    model(x).logits.backward(dy)
    run(folder, "apply", SEQUENCE, "--weights", "model", "--input", "x.safetensors", "--grad",
        "dy.safetensors", "-o", "y.safetensors", "--device", device)
    got = safetensors.torch.load_file(folder / "y.safetensors")
    wanted = {"0.weight": model.model.embed_tokens.weight}
    for number, layer in enumerate(model.model.layers):
        at = f"1.{number // 2}.{number % 2}."
        wanted |= {at + "attention.sinks": layer.self_attn.sinks,
                   at + "proj.weight": layer.self_attn.o_proj.weight,
                   at + "router.weight": layer.mlp.router.weight,
                   at + "router.bias": layer.mlp.router.bias,
                   at + "experts-fc2.bias": layer.mlp.experts.down_proj_bias}
    for name, parameter in wanted.items():
        want, ours = parameter.grad.double(), got[f"grad.{name}"].double()
        relative_error = float((ours - want).norm() / want.norm())
        assert relative_error <= 1e-4, f"the gradient of {name} has relative error {relative_error:.2g}"


def check_quantized(folder, device):
    """The tensors of experts are in MXFP4, the matrices not transposed, as in the released files."""
    model = make()
    with torch.no_grad():
        model.save_pretrained(folder / "model")
        path = folder / "model" / "model.safetensors"
        tensors = safetensors.torch.load_file(path)
        parameters = dict(model.named_parameters())
        for name in [name for name in tensors if name.endswith(("gate_up_proj", "down_proj"))]:
            experts, columns, rows = tensors.pop(name).shape
            blocks = torch.randint(0, 256, (experts, rows, columns // 32, 16)).to(torch.uint8)
            scales = torch.randint(121, 125, (experts, rows, columns // 32)).to(torch.uint8)
            tensors[f"{name}_blocks"], tensors[f"{name}_scales"] = blocks, scales
            parameters[name].copy_(convert_moe_packed_tensors(blocks, scales))
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    config = json.loads((folder / "model/config.json").read_text())
    config["quantization_config"] = {"quant_method": "mxfp4"}
    (folder / "model/config.json").write_text(json.dumps(config))
    compare(model, folder, device)


def check_written(folder, device):
    """transformers reads written weights with all their values, and computes the same logits."""
    model = make()
    model.save_pretrained(folder / "model")
    run(folder, "export-weights", SEQUENCE, "--input", f"2x{LENGTH}:int32", "--weights", "model",
        "--names", "gpt-oss", "-o", "again/")
    again = with_limit(transformers.GptOssForCausalLM.from_pretrained(
        folder / "again", attn_implementation="eager").eval())
    theirs = dict(model.named_parameters())
    assert again.config.layer_types == model.config.layer_types, again.config.layer_types
    for name, parameter in again.named_parameters():
        assert torch.equal(parameter, theirs.pop(name)), name
    assert not theirs, theirs.keys()
    compare(again, folder, device)


def check_rejected(folder, device):
    """Sequences that differ from config.json are rejected, by its member."""
    make().save_pretrained(folder / "model")
    safetensors.torch.save_file({"input": torch.zeros(1, LENGTH, dtype=torch.int32)},
                                folder / "x.safetensors")
    for old, new, member in (("window=8", "window=9", "sliding_window"),
                             (f"window=8) ! {LAYER}", f"window=8) ! {LAYER}, window=8", "sliding_window"),
                             ("rotary-high=32", "rotary-high=31", "beta_fast"),
                             ("rotary-truncate=false", "rotary-truncate=true", "truncate"),
                             ("rotary-factor=32", "rotary-factor=8", "factor"),
                             ("activation-limit=1.5", "activation-limit=7", "swiglu_limit"),
                             ("top-k=3", "top-k=2", "num_experts_per_tok"),
                             ("router-bias=true, ", "", "router.bias"),
                             ("sinks=true, ", "", "sinks")):
        said = run(folder, "apply", SEQUENCE.replace(old, new), "--weights", "model", "--input",
                   "x.safetensors", "-o", "y.safetensors", "--device", device, code=1)
        assert member in said, f"{new}: {said}"


def main():
    checks = (("logits", check_logits), ("gradients", check_gradients), ("weights in MXFP4", check_quantized),
              ("written weights", check_written), ("rejected sequences", check_rejected))
    cases = [(device, *check) for device in choose(LIG, __doc__.splitlines()[0]) for check in checks]
    print(f"1..{len(cases)}", flush=True)
    for number, (device, label, check) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder), device)
                print(f"ok {number} - {label} on {device}", flush=True)
            except AssertionError as error:
                print(f"not ok {number} - {label} on {device}")
                print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
