#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks, as TAP, that lig reads and writes the weights of GPT-2 and Llama-like models, also with
experts: files of `export-weights --names` are read back with the same bits, and so are models that
transformers saved, whole and sharded. The latter are skipped without torch, transformers and
safetensors.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

LIG = os.environ["LIG"]
GPT2 = ("embedding(16, vocabulary={}) ! position-embedding(12) ! block(2){{ transformer-layer(4) }} "
        "! layer-norm ! linear({}, bias=false, tied=0)")
LLAMA = ("embedding(16, vocabulary=20) ! block(2){{ transformer-layer(4, kv-heads=2, "
         "ffn-features=24, activation=swiglu, normalization=rms-norm, bias=false, rotary=true) }} "
         "! rms-norm ! linear(20, bias=false{})")
EXPERTS = ("embedding(16, vocabulary=20) ! block(2){{ transformer-layer(4, kv-heads=2, experts=3, "
           "expert-features=6, activation=swiglu, weights-at=output, normalization=rms-norm, "
           "bias=false, rotary=true{}) }} ! rms-norm ! linear(20, bias=false)")
INPUT = ["--input", "2x8:int32"]


def lig(folder, *words, code=0):
    environment = dict(os.environ, LIGATURE_STORE=str(pathlib.Path(folder) / "store.db"))
    result = subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert result.returncode == code, f"{words}: {result.returncode} {result.stderr}"
    return result.stdout if code == 0 else result.stderr


def read(path):
    """Returns the tensors of a safetensors file: name to type, shape and bytes."""
    content = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    return {name: (one["dtype"], tuple(one["shape"]),
                   content[8 + length + one["data_offsets"][0]:8 + length + one["data_offsets"][1]])
            for name, one in header.items() if name != "__metadata__"}


def check_round(folder, sequence, names):
    folder = pathlib.Path(folder)
    lig(folder, "export-weights", sequence, *INPUT, "--seed", "3", "-o", "own.safetensors")
    lig(folder, "export-weights", "own.safetensors", "--names", names, "-o", "out.safetensors")
    text = lig(folder, "export-weights", sequence, *INPUT, "--weights", "out.safetensors", "-o",
               "back.safetensors", "--json")
    own, back = read(folder / "own.safetensors"), read(folder / "back.safetensors")
    assert own == back, f"{names}: the tensors differ"
    assert sorted(json.loads(text)["tensors"]) == sorted(own)
    lig(folder, "export-weights", sequence, *INPUT, "--weights", "out.safetensors", "--type", "bf16",
        "--names", names, "-o", "half.safetensors")
    assert {one[0] for one in read(folder / "half.safetensors").values()} == {"BF16"}


def check_run(folder):
    """The weights of a run are those of its checkpoint."""
    line = "linear(3) ! cross-entropy"
    lig(folder, "train", line, "--input", "4x8", "--data", "synthetic", "--steps", "3", "--device",
        "cpu", "--checkpoint", "c.safetensors", "--quiet")
    lig(folder, "export-weights", "last", "-o", "run.safetensors")
    lig(folder, "export-weights", "c.safetensors", "-o", "file.safetensors")
    run, file = (read(pathlib.Path(folder) / name) for name in ("run.safetensors",
                                                                "file.safetensors"))
    assert run == file and sorted(run) == ["0.bias", "0.weight"]
    # A checkpoint is recognized by its content, whatever its name.
    (pathlib.Path(folder) / "c.safetensors").rename(pathlib.Path(folder) / "step-three")
    lig(folder, "export-weights", "step-three", "-o", "again.safetensors")
    assert read(pathlib.Path(folder) / "again.safetensors") == file
    lig(folder, "train", line, "--input", "4x8", "--data", "synthetic", "--steps", "3", "--device",
        "cpu", "--init", "run.safetensors", "--quiet")


def check_quantizers(folder):
    """The scales and histories that a checkpoint keeps for its recipe are not parameters."""
    folder = pathlib.Path(folder)
    (folder / "text").write_text("What a train reads does not matter here.\n" * 20)
    sequence = LLAMA.format("").replace("=20", "=256").replace("(20", "(256")
    lig(folder, "train", sequence + " ! cross-entropy", "--input", "4x16:int32", "--data", "text:text",
        "--steps", "2", "--quiet", "--device", "cpu", "--recipe", "fp8-delayed", "--checkpoint",
        "c.safetensors")
    kept = read(folder / "c.safetensors")
    assert any(name.startswith("quantizer.") for name in kept), sorted(kept)
    own = {name: one for name, one in kept.items() if name[0].isdigit()}
    lig(folder, "export-weights", "c.safetensors", "-o", "own.safetensors")
    assert read(folder / "own.safetensors") == own
    lig(folder, "export-weights", "c.safetensors", "--names", "llama", "-o", "llama/")
    assert (folder / "llama/config.json").exists()
    lig(folder, "export-weights", sequence, *INPUT, "--weights", "llama", "-o", "back.safetensors")
    assert read(folder / "back.safetensors") == own


def check_rejections(folder):
    def rejected(words, *line, code=1):
        text = lig(folder, "export-weights", *line, "-o", "no.safetensors", code=code)
        assert words in text, f"'{text}' lacks '{words}'"
    sequence = GPT2.format(20, 20)
    lig(folder, "export-weights", sequence, *INPUT, "--names", "gpt2", "-o", "gpt2.safetensors")
    rejected("did you mean 'gpt2'?", sequence, *INPUT, "--names", "gtp2", code=2)
    rejected("--vocabulary needs --names", sequence, *INPUT, "--vocabulary", "3", code=2)
    rejected("the vocabulary is 21, more than the rows of transformer.wte.weight, 20", sequence,
            *INPUT, "--names", "gpt2", "--vocabulary", "21")
    rejected("--type is 'int32'", sequence, *INPUT, "--type", "int32", code=2)
    rejected("0.bias has no counterpart", "linear(3)", "--input", "4x8", "--names", "gpt2")
    rejected("transformer.wte.weight is 20x16, expected 19x16 (for 0.weight)", GPT2.format(19, 19),
            *INPUT, "--weights", "gpt2.safetensors")
    rejected("transformer.h.1.attn.c_attn.bias is surplus; ", sequence.replace("(2)", "(1)"), *INPUT,
            "--weights", "gpt2.safetensors")
    rejected("more, ", LLAMA.format(""), *INPUT, "--weights", "gpt2.safetensors")
    rejected("contains neither model.safetensors nor", sequence, *INPUT, "--weights", ".")


def make_models(transformers):
    gpt2 = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=20, n_positions=12, n_embd=16, n_layer=2, n_head=4))
    yield "gpt2", GPT2.format(20, 20), gpt2
    for tied in (False, True):
        llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=20, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-5,
            tie_word_embeddings=tied))
        yield "llama", LLAMA.format(", tied=0" if tied else ""), llama
    common = {"vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
              "num_key_value_heads": 2, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5,
              "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}
    yield "mixtral", EXPERTS.format(""), transformers.MixtralForCausalLM(
        transformers.MixtralConfig(num_local_experts=3, intermediate_size=6, **common))
    yield ("qwen3-moe", EXPERTS.format(", qk-norm=rms, qk-norm-eps=1e-5"),
           transformers.Qwen3MoeForCausalLM(transformers.Qwen3MoeConfig(
               num_experts=3, moe_intermediate_size=6, head_dim=4, norm_topk_prob=True, **common)))


def check_model(folder, names, sequence, model, size):
    import safetensors.torch
    import torch
    folder = pathlib.Path(folder)
    model.save_pretrained(folder / "model", max_shard_size=size)
    parts = len(list((folder / "model").glob("*.safetensors")))
    assert (parts > 1) == (size != "1GB"), f"{parts} parts"
    lig(folder, "export-weights", sequence, *INPUT, "--weights", "model", "--names", names, "-o",
        "back.safetensors")
    back = safetensors.torch.load_file(folder / "back.safetensors")
    # Newer versions have one tensor for all experts in a module, but not in its files.
    wanted = {name: tensor for path in (folder / "model").glob("*.safetensors")
              for name, tensor in safetensors.torch.load_file(path).items()}
    assert set(back) <= set(wanted), sorted(set(back) - set(wanted))
    for name in set(wanted) - set(back):
        assert name == "lm_head.weight" and model.config.tie_word_embeddings, f"{name} is missing"
    for name, tensor in back.items():
        assert torch.equal(tensor, wanted[name]), f"{name} differs"


def check_padded(folder, model):
    """A vocabulary of 20 tokens in an embedding of 24 rows, and back."""
    import safetensors.torch
    folder = pathlib.Path(folder)
    model.save_pretrained(folder / "model")
    text = lig(folder, "export-weights", GPT2.format(24, 24), *INPUT, "--weights", "model",
               "--names", "gpt2", "--vocabulary", "20", "-o", "back.safetensors")
    assert "28 tensors" in text, text
    back = safetensors.torch.load_file(folder / "back.safetensors")
    assert back["transformer.wte.weight"].equal(model.transformer.wte.weight)
    lig(folder, "export-weights", GPT2.format(24, 24), *INPUT, "--weights", "model", "-o",
        "own.safetensors")
    own = safetensors.torch.load_file(folder / "own.safetensors")["0.weight"]
    assert own[:20].equal(model.transformer.wte.weight) and not own[20:].any()


def check_padding(folder):
    """A model whose embedding is padded when its weights are read trains as it would without
    padding: the padding is not a class, and exports omit it."""
    folder = pathlib.Path(folder)
    (folder / "tokens.bin").write_bytes(struct.pack("<600H", *(7 * i * i % 50 for i in range(600))))
    lig(folder, "export-weights", GPT2.format(50, 50), *INPUT, "--seed", "3", "--names", "gpt2", "-o",
        "model.safetensors")
    losses, tensors = [], []
    for rows in (50, 64):
        text = lig(folder, "train", GPT2.format(rows, rows) + " ! cross-entropy(label-smoothing=0.1)",
                   *INPUT, "--data", "tokens:tokens.bin", "--init", "model.safetensors", "--steps",
                   "20", "--device", "cpu", "--seed", "5", "--json")
        found = json.loads(text)
        losses.append((found["loss"]["first"], found["loss"]["last"], found["eval"]["loss"]))
        lig(folder, "export-weights", "last", "--names", "gpt2", "-o", f"{rows}.safetensors")
        tensors.append(read(folder / f"{rows}.safetensors"))
    assert all(abs(a - b) < 1e-5 * a for a, b in zip(*losses)), losses
    assert "classes=50" in lig(folder, "runs", "show", "last")
    assert {name: one[1] for name, one in tensors[0].items()} == {
        name: one[1] for name, one in tensors[1].items()}
    for name, one in tensors[0].items():
        values, others = (struct.unpack(f"<{len(x[2]) // 4}f", x[2]) for x in (one, tensors[1][name]))
        assert max(abs(a - b) for a, b in zip(values, others)) < 1e-4, name


def list_cases():
    yield "gpt2 names", lambda folder: check_round(folder, GPT2.format(20, 20), "gpt2")
    yield "llama names", lambda folder: check_round(folder, LLAMA.format(""), "llama")
    yield "tied llama", lambda folder: check_round(folder, LLAMA.format(", tied=0"), "llama")
    yield "mixtral names", lambda folder: check_round(folder, EXPERTS.format(""), "mixtral")
    yield ("qwen3-moe names",
           lambda folder: check_round(folder, EXPERTS.format(", qk-norm=rms, qk-norm-eps=1e-5"),
                                      "qwen3-moe"))
    yield "weights of a run", check_run
    yield "quantizers", check_quantizers
    yield "padding", check_padding
    yield "rejections", check_rejections
    try:
        import safetensors.torch  # noqa: F401
        import transformers
    except ImportError as missing:
        yield f"models of transformers # SKIP {missing.name} is not installed", lambda folder: None
        return
    for names, sequence, model in make_models(transformers):
        for size in ("1GB", "10KB"):
            yield (f"{names} by transformers, parts of {size}",
                   lambda folder, n=names, s=sequence, m=model, z=size:
                   check_model(folder, n, s, m, z))
        if names == "gpt2":
            yield "padded vocabulary", lambda folder, m=model: check_padded(folder, m)


def main():
    failed = 0
    for number, (title, check) in enumerate(list_cases(), 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(folder)
                print(f"ok {number} {title}")
            except (AssertionError, KeyError, OSError) as problem:
                failed += 1
                print(f"not ok {number} {title}\n# {problem}")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
