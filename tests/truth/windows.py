#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares randomly initialized Qwen3 models, whose layers see all keys or a window of them, with
PyPI's `transformers`, as TAP: the logits of the layers that config.json lists, and that other layers
are rejected. Skipped without torch, transformers and safetensors.

    LIG=build/app/lig python3 tests/truth/windows.py [--device cpu,cuda:0]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import safetensors.torch
    import torch
    import transformers
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

from devices import choose

LIG = os.path.abspath(os.environ["LIG"])
VOCABULARY, WINDOW, LENGTH = 97, 5, 24
FULL, SLIDING = "full_attention", "sliding_attention"
LAYERS = ((FULL, FULL), (SLIDING, SLIDING), (FULL, SLIDING), (SLIDING, FULL))


def make(layers):
    """Returns a model; each of its layers sees the keys that its kind says."""
    torch.manual_seed(5)
    config = transformers.Qwen3Config(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=112, num_hidden_layers=len(layers),
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
        initializer_range=0.15, tie_word_embeddings=False, attn_implementation="eager",
        use_sliding_window=True, sliding_window=WINDOW, layer_types=list(layers), max_window_layers=0)
    return transformers.Qwen3ForCausalLM(config).eval()


def write(layers):
    """Returns the sequence with those layers."""
    texts = [("transformer-layer(4, kv-heads=2, ffn-features=112, activation=swiglu, "
              "normalization=rms-norm, eps=1e-6, bias=false, rotary=true, qk-norm=rms"
              f"{f', window={WINDOW}' if kind == SLIDING else ''})") for kind in layers]
    return (f"embedding(64, vocabulary={VOCABULARY}) ! {' ! '.join(texts)} ! rms-norm(eps=1e-6) ! "
            f"linear({VOCABULARY}, bias=false)")


def apply(folder, layers, device):
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db", XDG_DATA_HOME=str(folder))
    return subprocess.run([LIG, "apply", write(layers), "--weights", "model", "--input",
                           "x.safetensors", "-o", "y.safetensors", "--device", device],
                          cwd=folder, env=environment, check=False, text=True, capture_output=True)


def check(folder, layers, device):
    """The layers as they are compute the model's logits; all others are rejected, by the member."""
    model = make(layers)
    model.save_pretrained(folder / "model")
    x = torch.randint(0, VOCABULARY, (3, LENGTH))
    safetensors.torch.save_file({"input": x.int()}, folder / "x.safetensors")
    with torch.no_grad():
        want = model(x).logits.double()
    result = apply(folder, layers, device)
    assert result.returncode == 0, result.stderr
    got = safetensors.torch.load_file(folder / "y.safetensors")["output"].double()
    relative_error = float((got - want).norm() / want.norm())
    assert relative_error <= 1e-4, f"the logits have relative error {relative_error:.2g}, allowed 1e-4"
    for others in LAYERS:
        if others != layers:
            rejected = apply(folder, others, device)
            assert rejected.returncode == 1, f"{others} was accepted"
            assert "window" in rejected.stderr, rejected.stderr


def main():
    cases = [(device, layers) for device in choose(LIG, __doc__.splitlines()[0]) for layers in LAYERS]
    print(f"1..{len(cases)}", flush=True)
    for number, (device, layers) in enumerate(cases, 1):
        label = f"{number} - {' and '.join(layers)} on {device}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder), layers, device)
                print(f"ok {label}", flush=True)
            except AssertionError as error:
                print(f"not ok {label}")
                print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
