#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares randomly initialized GPT-2, Llama, Mixtral and Qwen3 models, the last two with experts,
with PyPI's `transformers`, as TAP: logits, loss, all gradients, and the losses of 20 steps of
AdamW, on each device, with the policies none and all. Skipped without torch, transformers and
safetensors.

    LIG=build/app/lig python3 tests/truth/models.py [--device cpu,cuda:0]
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
    import transformers
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

from devices import choose

LIG = os.path.abspath(os.environ["LIG"])
BATCH, LENGTH, VOCABULARY, STEPS = 3, 24, 97, 20
POLICIES = ("none", "all")
LLAMA3 = {"rope_type": "llama3", "rope_theta": 50000.0, "factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 64}


def make_gpt2():
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=32, n_embd=48, n_layer=3, n_head=4, resid_pdrop=0,
        embd_pdrop=0, attn_pdrop=0, initializer_range=0.15, attn_implementation="eager")
    expression = (f"embedding(48, vocabulary={VOCABULARY}) ! position-embedding(32) ! "
                  "block(3){ transformer-layer(4) } ! layer-norm ! "
                  f"linear({VOCABULARY}, bias=false, tied=0)")
    return transformers.GPT2LMHeadModel(config), expression, rename_gpt2


def rename_gpt2(tensors):
    """Returns the tensors of a GPT-2, values or gradients, under the names of its sequence."""
    result = {"0.weight": tensors["transformer.wte.weight"],
              "1.weight": tensors["transformer.wpe.weight"]}
    parts = {"ln_1": "attention-norm", "attn.c_attn": "qkv", "attn.c_proj": "proj",
             "ln_2": "mlp-norm", "mlp.c_fc": "fc1", "mlp.c_proj": "fc2"}
    for layer in range(3):
        for theirs, ours in parts.items():
            for kind in ("weight", "bias"):
                tensor = tensors[f"transformer.h.{layer}.{theirs}.{kind}"]
                transposed = theirs.split(".")[-1].startswith("c_")
                result[f"2.{layer}.0.{ours}.{kind}"] = tensor.t() if transposed else tensor
    for kind in ("weight", "bias"):
        result[f"3.{kind}"] = tensors[f"transformer.ln_f.{kind}"]
    return result


def make_llama(tied, scaled):
    rope = LLAMA3 if scaled else {"rope_type": "default", "rope_theta": 10000.0}
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=112, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512,
        rms_norm_eps=1e-5, tie_word_embeddings=tied, initializer_range=0.15, rope_parameters=rope,
        attn_implementation="eager")
    scaling = (", rotary-base=50000, rotary-scaling=llama3, rotary-factor=8, rotary-low=1, "
               "rotary-high=4, rotary-original=64") if scaled else ""
    expression = (f"embedding(64, vocabulary={VOCABULARY}) ! block(2){{ transformer-layer(4, "
                  "kv-heads=2, ffn-features=112, activation=swiglu, normalization=rms-norm, "
                  f"bias=false, rotary=true{scaling}) }} ! rms-norm ! "
                  f"linear({VOCABULARY}, bias=false{', tied=0' if tied else ''})")
    return transformers.LlamaForCausalLM(config), expression, rename_llama


def rename_llama(tensors):
    result = {"0.weight": tensors["model.embed_tokens.weight"],
              "2.weight": tensors["model.norm.weight"]}
    parts = {"attention-norm": ["input_layernorm"], "proj": ["self_attn.o_proj"],
             "qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
             "mlp-norm": ["post_attention_layernorm"], "fc1": ["mlp.gate_proj", "mlp.up_proj"],
             "fc2": ["mlp.down_proj"]}
    for layer in range(2):
        for ours, theirs in parts.items():
            result[f"1.{layer}.0.{ours}.weight"] = torch.cat(
                [tensors[f"model.layers.{layer}.{name}.weight"] for name in theirs])
    if "lm_head.weight" in tensors:
        result["3.weight"] = tensors["lm_head.weight"]
    return result


def make_experts(theirs, more, **options):
    """Returns a model of two layers with five experts, of which each token has two."""
    config = theirs(
        vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, rms_norm_eps=1e-6,
        tie_word_embeddings=False, initializer_range=0.15, num_experts_per_tok=2,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        attn_implementation="eager", **options)
    expression = (f"embedding(64, vocabulary={VOCABULARY}) ! block(2){{ transformer-layer(4, "
                  "kv-heads=2, experts=5, expert-features=56, activation=swiglu, "
                  "weights-at=output, normalization=rms-norm, eps=1e-6, bias=false, "
                  f"rotary=true{more}) }} ! rms-norm(eps=1e-6) ! linear({VOCABULARY}, bias=false)")
    return transformers.AutoModelForCausalLM.from_config(config), expression, rename_experts


def make_mixtral():
    return make_experts(transformers.MixtralConfig, "", num_local_experts=5, intermediate_size=56)


def make_qwen3(normalized):
    more = ", head-features=24, qk-norm=rms, qk-norm-eps=1e-6"
    return make_experts(transformers.Qwen3MoeConfig,
                        more if normalized else more + ", router-first=score, router-normalize=false",
                        num_experts=5, moe_intermediate_size=56, head_dim=24,
                        norm_topk_prob=normalized)


def stack_experts(tensors, layer):
    """Returns the parameters of a layer's experts, which transformers before 5 has in parts."""
    mlp = f"model.layers.{layer}.mlp."
    if mlp + "experts.gate_up_proj" in tensors:
        return {"router.weight": tensors[mlp + "gate.weight"],
                "experts-fc1.weight": tensors[mlp + "experts.gate_up_proj"],
                "experts-fc2.weight": tensors[mlp + "experts.down_proj"]}
    sparse = f"model.layers.{layer}.block_sparse_moe."
    mixtral = sparse + "gate.weight" in tensors
    base, parts = (sparse, ("w1", "w3", "w2")) if mixtral else (
        mlp, ("gate_proj", "up_proj", "down_proj"))
    gate, up, down = (torch.stack([tensors[f"{base}experts.{expert}.{part}.weight"]
                                   for expert in range(5)]) for part in parts)
    return {"router.weight": tensors[base + "gate.weight"],
            "experts-fc1.weight": torch.cat([gate, up], 1), "experts-fc2.weight": down}


def rename_experts(tensors):
    result = {"0.weight": tensors["model.embed_tokens.weight"],
              "2.weight": tensors["model.norm.weight"], "3.weight": tensors["lm_head.weight"]}
    parts = {"attention-norm.weight": ["input_layernorm"], "proj.weight": ["self_attn.o_proj"],
             "qkv.weight": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
             "mlp-norm.weight": ["post_attention_layernorm"],
             "qk-norm.query": ["self_attn.q_norm"], "qk-norm.key": ["self_attn.k_norm"]}
    for layer in range(2):
        for ours, theirs in parts.items():
            found = [tensors[name] for name in (f"model.layers.{layer}.{one}.weight" for one in theirs)
                     if name in tensors]
            if found:
                result[f"1.{layer}.0.{ours}"] = torch.cat(found)
        for ours, tensor in stack_experts(tensors, layer).items():
            result[f"1.{layer}.0.{ours}"] = tensor
    return result


CASES = {
    "GPT-2": make_gpt2,
    "Llama, untied": lambda: make_llama(False, False),
    "Llama, tied": lambda: make_llama(True, False),
    "Llama, untied, llama3 scaling": lambda: make_llama(False, True),
    "Llama, tied, llama3 scaling": lambda: make_llama(True, True),
    "Mixtral": make_mixtral,
    "Qwen3 with experts, normalized weights": lambda: make_qwen3(True),
    "Qwen3 with experts": lambda: make_qwen3(False),
}


def save(path, tensors):
    safetensors.torch.save_file({name: tensor.detach().contiguous().clone()
                                 for name, tensor in tensors.items()}, path)


def compare(name, got, want, limit):
    assert got.shape == want.shape, f"{name} is {tuple(got.shape)}, expected {tuple(want.shape)}"
    relative_error = float((got.double() - want.double()).norm() /
                           want.double().norm().clamp(min=1e-30))
    assert relative_error <= limit, f"{name}: relative error {relative_error:.2g}, allowed {limit:g}"


class Case:
    """One model with its data, in PyTorch and on disk."""

    def __init__(self, make, folder):
        torch.manual_seed(5)
        self.folder = pathlib.Path(folder)
        self.model, self.expression, self.rename = make()
        with torch.no_grad():
            for parameter in self.model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(torch.randn_like(parameter) * 0.2)
        tokens = torch.randint(0, VOCABULARY, (BATCH * LENGTH + 1,))
        self.x = tokens[:-1].view(BATCH, LENGTH)
        self.targets = tokens[1:].view(BATCH, LENGTH)
        self.write(tokens)

    def write(self, tokens):
        """Writes weights, inputs, and the tokens in the format of llm.c."""
        save(self.folder / "w.safetensors", self.rename(self.named()))
        save(self.folder / "x.safetensors", {"input": self.x.int()})
        save(self.folder / "xt.safetensors", {"input": self.x.int(), "extra.0": self.targets.int()})
        head = struct.pack("<256i", 20240520, 1, len(tokens), *[0] * 253)
        body = struct.pack(f"<{len(tokens)}H", *tokens.tolist())
        (self.folder / "tokens.bin").write_bytes(head + body)
        self.model.save_pretrained(self.folder / "model")

    def named(self):
        return dict(self.model.named_parameters())

    def loss(self):
        logits = self.model(self.x).logits
        return logits, torch.nn.functional.cross_entropy(logits.view(-1, VOCABULARY),
                                                         self.targets.view(-1))

    def lig(self, *words):
        environment = dict(os.environ, LIGATURE_STORE=str(self.folder / "runs.db"),
                           XDG_DATA_HOME=str(self.folder))
        result = subprocess.run([LIG, *words], cwd=self.folder, env=environment, check=False,
                                text=True, capture_output=True)
        assert result.returncode == 0, f"lig {words[0]}: {result.stderr[-500:]}"

    def apply(self, expression, tensors, *options):
        self.lig("apply", expression, "--weights", "w.safetensors", "--input", tensors, "-o",
                 "y.safetensors", *options)
        return safetensors.torch.load_file(self.folder / "y.safetensors")

    def check_logits(self, *options):
        logits, _ = self.loss()
        compare("logits", self.apply(self.expression, "x.safetensors", *options)["output"], logits,
                1e-4)

    def check_gradients(self, *options):
        self.model.zero_grad()
        _, loss = self.loss()
        loss.backward()
        save(self.folder / "g.safetensors", {"output": torch.ones(())})
        got = self.apply(f"{self.expression} ! cross-entropy", "xt.safetensors", "--grad",
                         "g.safetensors", *options)
        compare("the loss", got["output"], loss.detach(), 1e-5)
        wanted = self.rename({name: parameter.grad for name, parameter in self.named().items()})
        names = {name[5:] for name in got if name.startswith("grad.")}
        assert names == set(wanted), f"gradients differ: {sorted(names ^ set(wanted))}"
        for name, want in wanted.items():
            compare(name, got[f"grad.{name}"], want, 1e-4)

    def train(self):
        """Returns the losses of PyTorch's steps; the model's parameters are restored afterwards."""
        before = {name: parameter.detach().clone() for name, parameter in self.named().items()}
        decays = [parameter for parameter in self.model.parameters() if parameter.dim() > 1]
        others = [parameter for parameter in self.model.parameters() if parameter.dim() < 2]
        optimizer = torch.optim.AdamW([{"params": decays, "weight_decay": 0.1},
                                       {"params": others, "weight_decay": 0}],
                                      lr=3e-3, betas=(0.9, 0.95), eps=1e-8)
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            _, loss = self.loss()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1)
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            for name, parameter in self.named().items():
                parameter.copy_(before[name])
        return losses

    def check_training(self, *options):
        wanted = self.train()
        self.lig("train", f"{self.expression} ! cross-entropy", "--init", "w.safetensors", "--data",
                 "tokens:tokens.bin?validation=0", "--input", f"{BATCH}x{LENGTH}:int32", "--steps",
                 str(STEPS), "--lr", "3e-3", "--weight-decay", "0.1", "--clip", "1", "--metrics",
                 "losses.jsonl", "--quiet", *options)
        lines = (self.folder / "losses.jsonl").read_text().splitlines()
        losses = [json.loads(line)["loss"] for line in lines if '"loss"' in line]
        assert len(losses) == STEPS, f"{len(losses)} steps, expected {STEPS}"
        assert wanted[-1] < wanted[0] - 0.5, wanted
        for step, (got, want) in enumerate(zip(losses, wanted)):
            assert abs(got - want) <= 1e-3, f"step {step}: loss {got:.5f}, expected {want:.5f}"
        print(f"# loss {wanted[0]:.4f} to {wanted[-1]:.4f}, largest difference "
              f"{max(abs(a - b) for a, b in zip(losses, wanted)):.1e}")

    def check_files(self, *options):
        """Loads the folder that `transformers` saved, without conversion, and compares the logits."""
        logits, _ = self.loss()
        self.lig("apply", self.expression, "--weights", "model", "--input", "x.safetensors", "-o",
                 "y.safetensors", *options)
        got = safetensors.torch.load_file(self.folder / "y.safetensors")
        compare("logits", got["output"], logits, 1e-4)


def main():
    devices = choose(LIG, __doc__.splitlines()[0])
    kinds = ("logits", "gradients", "training", "files")
    print(f"1..{len(CASES) * len(kinds) * len(POLICIES) * len(devices)}", flush=True)
    number = 0
    for title, make in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            case = Case(make, folder)
            for options in [(device, policy) for device in devices for policy in POLICIES]:
                for kind in kinds:
                    number += 1
                    label = f"{number} - {title}: {kind} on {options[0]}, policy {options[1]}"
                    try:
                        getattr(case, f"check_{kind}")("--device", options[0], "--policy",
                                                       options[1])
                        print(f"ok {label}", flush=True)
                    except (AssertionError, KeyError) as error:
                        print(f"not ok {label}")
                        print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
