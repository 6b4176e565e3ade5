#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tokens of tokenizer.json files with those of PyPI's `tokenizers` and prints TAP: byte-level
vocabularies that are trained here with the patterns of GPT-2, Llama 3 and Qwen 2, 10,000 lines of the
tree and 2,000 random strings each. Skipped without that package.

    LIGATURE_ENCODE_TEXT=build/tests/encode-text python3 tests/truth/encode.py
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

# This file has the name of the package.
sys.path = [path for path in sys.path if pathlib.Path(path or ".").resolve() != pathlib.Path(__file__).resolve().parent]
try:
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENCODE = os.path.abspath(os.environ.get("LIGATURE_ENCODE_TEXT", "build/tests/encode-text"))
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LINES, STRINGS = 10_000, 2_000
# Characters at which the syntaxes and the tables of libraries may differ.
ODD = "\u180e\u0085\u00a0\u2028\u2029\u200b\ufeff\u017f\u212a\u1e9e\u0130\u00df\u0149\ufb01\x1c\x1f\x0b\x0c\u00ad\ufffd\U0010ffff"
WORDS = ("<|begin|>", "<|end|>", "  ", "'s", "'LL", "'ſ", "\r\n", "\n\n", "\t", "don't", "é", "e\u0301", "漢字",
         "한글", "\u1112\u1161\u11ab", "😀", "👩‍👩‍👧", "12345", "١٢٣", "²½", "__init__", "::", " (", "ё", "नमस्ते", "pad",
         "naïve", "\u0344", "\u2126", "<|mask|>", "ⅷ")


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def template(first, last=None):
    """Returns a template with tokens around a text."""
    text = f"{first} $A" + (f" {last}" if last else "")
    return lambda made: processors.TemplateProcessing(single=text, special_tokens=[
        (name, made.token_to_id(name)) for name in (first, last) if name])


# Name, splitting, normalizer, template, whether words of the vocabulary are not merged.
KINDS = (
    ("gpt2", pre_tokenizers.ByteLevel(add_prefix_space=False), None, None, False),
    ("gpt2 with a space", pre_tokenizers.ByteLevel(add_prefix_space=True), None, None, False),
    ("llama3", split(LLAMA3), None, template("<|begin|>"), True),
    ("qwen2", split(QWEN2), normalizers.NFC(), template("<|begin|>", "<|end|>"), False),
    ("o200k", split(O200K), normalizers.NFC(), None, True),
    ("digits first", pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(r"\p{N}{1,3}"), "isolated"),
        pre_tokenizers.Split(tokenizers.Regex("[一-龥぀-ゟ゠-ヿ]+"), "isolated"),
        pre_tokenizers.Split("_", "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=True)]), None, None, False),
)


def read_lines():
    """Returns lines of the tree's documents and sources in a fixed random order."""
    paths = [path for pattern in ("*.md", "data/doc/*.md", "po/*.po", "engine/**/*.[ch]", "tests/**/*.py")
             for path in ROOT.glob(pattern)]
    lines = [line for path in sorted(paths) for line in path.read_text(encoding="utf-8").splitlines(True)]
    random.Random(1).shuffle(lines)
    return lines


def make_strings():
    """Returns random strings of known words, odd characters, and characters of all planes."""
    chooser, strings = random.Random(2), ["", " ", "a", "\n", " " * 300, "a" * 5000, "ab " * 2000, "é" * 400]
    while len(strings) < STRINGS:
        parts = []
        for _ in range(chooser.randrange(1, 40)):
            kind = chooser.random()
            if kind < 0.35:
                parts.append(chooser.choice(WORDS))
            elif kind < 0.5:
                parts.append(chooser.choice(ODD))
            else:
                start, end = chooser.choice(((1, 0x250), (0x250, 0xd800), (0xe000, 0x11000), (0x11000, 0x30000)))
                character = chr(chooser.randrange(start, end))
                # The libraries have tables of different versions of Unicode, but none as old as this one.
                if unicodedata.ucd_3_2_0.category(character) != "Cn":
                    parts.append(character)
            parts.append(chooser.choice(("", "", " ", "\n", "'")))
        strings.append("".join(parts))
    return strings


def train(kind, lines):
    name, splitting, normalizer, around, whole = kind
    made = tokenizers.Tokenizer(models.BPE(ignore_merges=whole))
    made.pre_tokenizer, made.decoder = splitting, decoders.ByteLevel()
    if normalizer:
        made.normalizer = normalizer
    made.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=6000, special_tokens=["<|begin|>", "<|end|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    made.add_tokens([tokenizers.AddedToken("naïve", normalized=True), tokenizers.AddedToken("  ", normalized=False),
                     tokenizers.AddedToken("<|pad", normalized=False), "<|pad|>"])
    made.add_special_tokens([tokenizers.AddedToken("<|mask|>", lstrip=True, rstrip=name != "llama3", normalized=False)])
    if around:
        made.post_processor = around(made)
    return made


def run(path, strings, plain):
    """Returns the tokens and the decoded text of each string."""
    result = subprocess.run([ENCODE, path] + (["plain"] if plain else []), check=False, capture_output=True,
                            input="".join(json.dumps(text) + "\n" for text in strings).encode())
    assert result.returncode == 0, result.stderr.decode()
    lines = result.stdout.decode().split("\n")
    assert len(lines) == 2 * len(strings) + 1, f"{len(lines)} lines for {len(strings)} strings"
    return [([int(token) for token in lines[2 * i].split()], json.loads(lines[2 * i + 1]))
            for i in range(len(strings))]


def check(folder, kind, strings, former, plain):
    made = train(kind, strings[:LINES])
    path = f"{folder}/tokenizer.json"
    made.save(path)
    if former:  # merges as texts with a space, which Hugging Face wrote until 2024
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]
        pathlib.Path(path).write_text(json.dumps(document), encoding="utf-8")
    made.encode_special_tokens = plain
    for text, (tokens, decoded) in zip(strings, run(path, strings, plain)):
        want = made.encode(text, add_special_tokens=not plain).ids
        assert tokens == want, f"{text!r} is {want}, not {tokens}"
        want = made.decode(want, skip_special_tokens=False)
        assert decoded == want, f"{text!r} decodes to {want!r}, not {decoded!r}"


def main():
    lines = read_lines()
    strings = lines[:LINES] + make_strings()
    cases = [(kind, number % 2 == 1, plain) for number, kind in enumerate(KINDS) for plain in (False, True)]
    print(f"1..{len(cases)}", flush=True)
    for number, (kind, former, plain) in enumerate(cases, 1):
        label = f"{number} - {kind[0]}, {'plain text' if plain else 'with special tokens'}, {len(strings)} strings"
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(folder, kind, strings, former, plain)
                print(f"ok {label}", flush=True)
            except AssertionError as error:
                print(f"not ok {label}")
                print("\n".join(f"# {line}" for line in str(error).splitlines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
