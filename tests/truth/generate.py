#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares greedy generation with PyPI's `transformers`; prints TAP: randomly initialized GPT-2,
Llama, Qwen3 and Mistral models, and Mixtral, Qwen3 with experts and GPT-OSS, four prompts of different
lengths in one batch, 200 tokens each in fp32, with a cache on both sides. Skipped without torch
and transformers.

    LIG=build/app/lig python3 tests/truth/generate.py [--device cpu,cuda:0]

The weights are large enough that the most probable token changes from position to position; where
the two largest logits are almost equal, a different order of summation may choose the other one, so
a difference counts only if the logits of transformers differ by more than 1e-3 there.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import torch
    import transformers
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

from devices import choose

LIG = os.path.abspath(os.environ["LIG"])
VOCABULARY, NEW, WINDOW = 97, 200, 24
LENGTHS = (1, 9, 30, 47)
USUAL = {"vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 112,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 512, "tie_word_embeddings": False, "initializer_range": 0.2,
         "attn_implementation": "eager", "bos_token_id": None, "eos_token_id": None,
         "pad_token_id": 0}


def decoder(extra, eps):
    return (f"embedding(64, vocabulary={VOCABULARY}) ! block(2) {{ transformer-layer(4, kv-heads=2, "
            f"ffn-features=112, activation=swiglu, normalization=rms-norm, eps={eps}, bias=false, "
            f"rotary=true{extra}) }} ! rms-norm(eps={eps}) ! linear({VOCABULARY}, bias=false)")


def make_gpt2():
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=256, n_embd=48, n_layer=3, n_head=4, resid_pdrop=0,
        embd_pdrop=0, attn_pdrop=0, initializer_range=0.2, attn_implementation="eager",
        bos_token_id=None, eos_token_id=None, pad_token_id=0)
    expression = (f"embedding(48, vocabulary={VOCABULARY}) ! position-embedding(256) ! "
                  "block(3) { transformer-layer(4) } ! layer-norm ! "
                  f"linear({VOCABULARY}, bias=false, tied=0)")
    return transformers.GPT2LMHeadModel(config), expression


def make_llama():
    config = transformers.LlamaConfig(**USUAL, rms_norm_eps=1e-5)
    return transformers.LlamaForCausalLM(config), decoder("", "1e-5")


def make_qwen3():
    config = transformers.Qwen3Config(**USUAL, rms_norm_eps=1e-6, head_dim=16)
    return transformers.Qwen3ForCausalLM(config), decoder(", qk-norm=rms", "1e-6")


def make_mistral():
    config = transformers.MistralConfig(**USUAL, rms_norm_eps=1e-5, sliding_window=WINDOW,
                                        head_dim=16)
    return transformers.MistralForCausalLM(config), decoder(f", window={WINDOW}", "1e-5")


def with_experts(expression):
    return expression.replace("ffn-features=112",
                              "experts=5, top-k=2, expert-features=112, weights-at=output")


def make_mixtral():
    config = transformers.MixtralConfig(**USUAL, rms_norm_eps=1e-5, num_local_experts=5,
                                        num_experts_per_tok=2,
                                        rope_parameters={"rope_type": "default", "rope_theta": 1e4})
    return transformers.MixtralForCausalLM(config), with_experts(decoder("", "1e-5"))


def make_qwen3_moe():
    config = transformers.Qwen3MoeConfig(**USUAL, rms_norm_eps=1e-6, head_dim=16, num_experts=5,
                                         num_experts_per_tok=2, moe_intermediate_size=112)
    more = ", qk-norm=rms, router-first=score, router-normalize=false"
    return transformers.Qwen3MoeForCausalLM(config), with_experts(decoder(more, "1e-6"))


def make_gpt_oss():
    config = transformers.GptOssConfig(**USUAL, head_dim=16, num_local_experts=5, sliding_window=WINDOW,
                                       num_experts_per_tok=2)
    layer = ("transformer-layer(4, kv-heads=2, sinks=true, experts=5, top-k=2, expert-features=112, "
             "weights-at=output, router-bias=true, activation=clamped-swiglu, "
             "normalization=rms-norm, rotary=true, rotary-base=150000, rotary-scaling=yarn, "
             "rotary-factor=32, rotary-high=32, rotary-original=4096, rotary-truncate=false")
    return transformers.GptOssForCausalLM(config), (
        f"embedding(64, vocabulary={VOCABULARY}) ! {layer}, window={WINDOW}) ! {layer}) ! rms-norm ! "
        f"linear({VOCABULARY}, bias=false)")


CASES = {"GPT-2": make_gpt2, "Llama": make_llama, "Qwen3": make_qwen3, "Mistral": make_mistral,
         "Mixtral": make_mixtral, "Qwen3 with experts": make_qwen3_moe, "GPT-OSS": make_gpt_oss}


def generate_theirs(model, prompts):
    longest = max(map(len, prompts))
    padded = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    tokens = model.generate(padded, attention_mask=mask, do_sample=False, max_new_tokens=NEW,
                            min_new_tokens=NEW, use_cache=True)
    return tokens[:, longest:].tolist()


def generate_ours(folder, expression, prompts, device):
    command = [LIG, "generate", expression, "--input", "1x256:int32", "--weights", folder,
               "--max", str(NEW), "--temperature", "0", "--json", "--device", device]
    for prompt in prompts:
        command += ["--tokens", ",".join(map(str, prompt))]
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["cache"]["bytes"] > 0, document["cache"]
    return [[token["token"] for token in text["generated"]] for text in document["texts"]]


def assert_equal(model, prompt, ours, theirs):
    """Compares the tokens up to the first place where both are as good."""
    for place, (own, other) in enumerate(zip(ours, theirs)):
        if own == other:
            continue
        with torch.no_grad():
            logits = model(torch.tensor([prompt + theirs[:place]])).logits[0, -1]
        gap = float(logits[other] - logits[own])
        assert abs(gap) < 1e-3, f"token {place}: {own} instead of {other}, logits differ by {gap:g}"
        return place
    assert len(ours) == len(theirs) == NEW
    return NEW


def run(make, device):
    torch.manual_seed(11)
    model, expression = make()
    model.eval()
    prompts = [torch.randint(0, VOCABULARY, (length,)).tolist() for length in LENGTHS]
    theirs = generate_theirs(model, prompts)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        ours = generate_ours(folder, expression, prompts, device)
    equal = [assert_equal(model, *texts) for texts in zip(prompts, ours, theirs)]
    distinct = len({tuple(text) for text in theirs}) + len(set(theirs[0]))
    assert distinct > 6, "the texts are too uniform to compare"
    return equal


def main():
    devices = choose(LIG, __doc__)
    cases = [(name, device) for name in CASES for device in devices]
    print(f"1..{len(cases)}")
    for number, (name, device) in enumerate(cases, 1):
        try:
            equal = run(CASES[name], device)
            print(f"ok {number} {name} on {device} # {equal} of {NEW} tokens alike")
        except AssertionError as problem:
            print(f"# {problem}".replace("\n", "\n# "))
            print(f"not ok {number} {name} on {device}")


main()
