#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions of trained runs; prints TAP: unscaled rows get the predictions that `lig apply` gives
for the rows that this test standardizes; the loss of the validation file is that of the run; the
columns may have another order; images; values; hostile files. And generation from a run."""
import csv
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

LIG = os.path.abspath(os.environ["LIG"])
CLASSES = ["setosa", "versicolor", "virginica"]
folder = pathlib.Path(tempfile.mkdtemp())
environment = dict(os.environ, LIGATURE_STORE=str(folder / "runs.db"), XDG_DATA_HOME=str(folder))
checks = []


def lig(*arguments, fails=False, **options):
    done = subprocess.run([LIG, *map(str, arguments)], cwd=folder, env=environment, text=True,
                          capture_output=True, check=False, **options)
    assert (done.returncode != 0) == fails, f"{arguments}: {done.returncode} {done.stderr}"
    return done


def check(function):
    checks.append(function)
    return function


def write_rows(name, count, seed, order=(0, 1, 2, 3), separator=","):
    """Writes a table whose columns have very different units."""
    chance = random.Random(seed)
    header = ["length", "weight", "share", "species"]
    with open(folder / name, "w", encoding="utf-8") as file:
        file.write(separator.join(header[i] for i in order) + "\n")
        for _ in range(count):
            kind = chance.randrange(3)
            row = [f"{5 + 2 * kind + chance.gauss(0, .8):.4f}", f"{1000 * kind + chance.gauss(0, 400):.2f}",
                   f"{chance.gauss(0, 1) * 1e-4:.3e}", CLASSES[kind]]
            file.write(separator.join(row[i] for i in order) + "\n")


def read(name):
    with open(folder / name, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def save_tensors(name, tensors):
    header, data = {}, b""
    for key, (shape, values) in tensors.items():
        part = struct.pack(f"<{len(values)}f", *values)
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / name).write_bytes(struct.pack("<Q", len(text)) + text + data)


def load_tensor(name, key):
    data = (folder / name).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])[key]
    first, end = entry["data_offsets"]
    count = (end - first) // 4
    kind = "f" if entry["dtype"] == "F32" else "i"
    return entry["shape"], struct.unpack(f"<{count}{kind}", data[8 + size + first:8 + size + end])


def train_classes():
    write_rows("train.csv", 240, 1)
    write_rows("new.csv", 101, 2)
    lig("train", "linear(16) ! gelu ! linear(3) ! cross-entropy", "--data",
        "csv:train.csv?standardize=true&validation=new.csv", "--steps", 150, "--lr", 0.01,
        "--device", "cpu", "--name", "iris")
    return json.loads(lig("runs", "show", "iris", "--json").stdout)


@check
def rows_are_standardized():
    """The same numbers as from a calculation here, and as lig apply gives for standardized rows."""
    run = train_classes()
    lig("predict", "iris", "--input", "new.csv", "-o", "out.csv", "--batch", 32, "--device", "cpu")
    features = run["inputs"]["table"]["features"]
    header, rows = read("new.csv")
    scaled = []
    for row in rows:
        for feature in features:
            value = float(row[header.index(feature["name"])])
            scaled.append((value - feature["mean"]) / feature["std"])
    save_tensors("x.safetensors", {"input": ([len(rows), 3], scaled)})
    lig("predict", "iris", "--input", "x.safetensors", "-o", "y.safetensors", "--device", "cpu")
    _, logits = load_tensor("y.safetensors", "output")
    _, chosen = load_tensor("y.safetensors", "prediction")
    titles, predicted = read("out.csv")
    assert titles == header + ["prediction"] + [f"probability.{name}" for name in CLASSES], titles
    for number, row in enumerate(predicted):
        own = logits[3 * number:3 * number + 3]
        total = sum(math.exp(value - max(own)) for value in own)
        assert row[:4] == rows[number]
        assert row[4] == CLASSES[own.index(max(own))] == CLASSES[chosen[number]], row
        for place, value in enumerate(own):
            probability = math.exp(value - max(own)) / total
            assert abs(float(row[5 + place]) - probability) < 1e-5, (row, probability)


@check
def the_loss_is_that_of_the_run():
    run = json.loads(lig("runs", "show", "iris", "--json").stdout)
    metrics = {metric["name"]: metric["last"] for metric in run["metrics"]}
    for batch in (1000, 101, 64, 7):
        found = json.loads(lig("predict", "iris", "--input", "new.csv", "--json", "--batch", batch,
                               "--device", "cpu").stdout)
        assert found["rows"] == 101 and found["task"] == "class", found
        assert abs(found["loss"] - metrics["eval-loss"]) < 1e-5, (found, metrics)
        assert abs(found["accuracy"] - metrics["eval-accuracy"]) < 1e-9, (found, metrics)


@check
def columns_are_found_by_name():
    write_rows("turned.csv", 101, 2, order=(3, 2, 0, 1), separator=";")
    plain = lig("predict", "iris", "--input", "new.csv", "--device", "cpu").stdout.splitlines()
    turned = lig("predict", "iris", "--input", "turned.csv", "--device", "cpu").stdout.splitlines()
    assert [line.split(",")[4:] for line in plain] == [line.split(",")[4:] for line in turned]
    header, rows = read("new.csv")
    with open(folder / "bare.csv", "w", encoding="utf-8") as file:
        file.write("extra," + ",".join(header[:3]) + "\n")
        file.writelines("x," + ",".join(row[:3]) + "\n" for row in rows)
    done = lig("predict", "iris", "--input", "bare.csv", "--device", "cpu")
    assert "ignoring 1 column " in done.stderr and "loss" not in done.stderr, done.stderr
    assert [line.split(",")[4:] for line in done.stdout.splitlines()] == \
        [line.split(",")[4:] for line in plain]


@check
def values_and_missing_targets():
    chance = random.Random(3)
    rows = [(chance.random(), chance.random()) for _ in range(60)]
    with open(folder / "values.csv", "w", encoding="utf-8") as file:
        file.writelines(f"{a:.5f},{b:.5f},{2 * a - b:.5f},{a:.5f}\n" for a, b in rows)
    lig("train", "linear(2) ! mean-squared-error", "--data", "csv:values.csv?target=3,4&validation=0.1",
        "--steps", 30, "--device", "cpu", "--name", "values")
    lig("predict", "values", "--input", "values.csv", "-o", "v.csv", "--device", "cpu")
    titles, predicted = read("v.csv")
    assert titles == ["1", "2", "3", "4", "prediction.3", "prediction.4"], titles
    total = sum((float(row[4]) - float(row[2])) ** 2 + (float(row[5]) - float(row[3])) ** 2
                for row in predicted) / (2 * len(predicted))
    found = json.loads(lig("predict", "values", "--input", "values.csv", "--json", "--batch", 16,
                           "--device", "cpu").stdout)
    assert abs(found["loss"] - total) < 1e-5 * max(1, total), (found, total)
    assert found["accuracy"] is None and found["task"] == "value"
    header, rows = read("new.csv")
    with open(folder / "missing.csv", "w", encoding="utf-8") as file:
        file.write(",".join(header) + "\n")
        file.writelines(",".join(row[:3] + ["" if i % 2 else row[3]]) + "\n"
                        for i, row in enumerate(rows))
    done = lig("predict", "iris", "--input", "missing.csv", "--device", "cpu")
    assert "over 51 targets" in done.stderr, done.stderr


@check
def images():
    chance = random.Random(4)
    labels = [chance.randrange(2) for _ in range(50)]
    pixels = bytes(min(255, max(0, int(chance.gauss(60 + 120 * label, 40))))
                   for label in labels for _ in range(9))
    (folder / "t-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, 50, 3, 3) + pixels)
    (folder / "t-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, 50) + bytes(labels))
    lig("train", "linear(2) ! cross-entropy", "--data", "idx:t-images-idx3-ubyte", "--steps", 60, "--lr", 0.05,
        "--device", "cpu", "--name", "images")
    found = json.loads(lig("predict", "images", "--input", "t-images-idx3-ubyte", "--json", "--device",
                           "cpu").stdout)
    assert found["rows"] == 50 and found["accuracy"] > 0.8, found
    lines = lig("predict", "images", "--input", "t-images-idx3-ubyte", "--device",
                "cpu").stdout.splitlines()
    assert lines[0] == "prediction,probability.0,probability.1" and len(lines) == 51, lines[:2]


@check
def hostile_files():
    cases = [
        ("length,weight\n1,2\n", "column share is missing from the header"),
        ("a,b\n1,2\n", "columns length, weight, share are missing from the header"),
        ("length,weight,share\n1,2\n", "has 2 fields, the first row has 3"),
        ("length,weight,share\n1,x,3\n", "column weight is 'x', expected a number"),
        ("length,weight,share\n1,,3\n", "column weight is empty, expected a number"),
        ("length,weight,share,species\n1,2,3,emu\n", "none of the 3 classes of the training data"),
        ("length,weight,share\n", "has a header and no rows"),
        ("", "is empty"),
        ("length,weight,share\n1,2,\0\n", "is 0, a csv file is text"),
    ]
    for text, message in cases:
        (folder / "bad.csv").write_text(text, encoding="utf-8")
        done = lig("predict", "iris", "--input", "bad.csv", "--device", "cpu", fails=True)
        assert message in done.stderr, (text, done.stderr)
        assert not done.stdout, done.stdout
    for arguments, message in [
            (("nothing",), "nothing"), (("linear(3)",), "has no trained weights"),
            (("iris", "-o", "x.png"), ".csv or .safetensors"), (("iris", "--batch", "0"), "batch")]:
        done = lig("predict", *arguments, "--input", "new.csv", fails=True)
        assert message in done.stderr, (arguments, done.stderr)


@check
def texts():
    """A run continues texts; the same seed gives the same text among others, and with the window."""
    (folder / "book.txt").write_text("the cat sat on the mat and the dog sat on the log. " * 60,
                                     encoding="utf-8")
    lig("train", "embedding(32, vocabulary=256) ! position-embedding(48) ! transformer-layer(4) ! "
        "linear(256) ! cross-entropy", "--input", "8x48:int32", "--data", "text:book.txt", "--steps", 60,
        "--lr", 0.003, "--device", "cpu", "--name", "book", "--sample-every", 20, "--sample-prompts", "the |on",
        "--sample-tokens", 12)
    arguments = ["generate", "book", "--device", "cpu", "--max", 30, "--seed", 5]
    alone = lig(*arguments, "--prompt", "the ").stdout
    assert alone.startswith("the ") and len(alone.encode()) >= 30, alone
    document = json.loads(lig(*arguments, "--prompt", "the ", "--prompt", "a dog", "--copies", 5,
                              "--json").stdout)
    assert [len(text["generated"]) for text in document["texts"]] == [30] * 10
    assert "the " + document["texts"][0]["text"] + "\n" == alone, (document["texts"][0], alone)
    assert len({text["text"] for text in document["texts"][:5]}) > 1
    assert document["cache"]["bytes"] == 2 * 9 * 48 * 32 * 4, document["cache"]
    greedy = [lig(*arguments, "--prompt", "the c", "--temperature", 0, *more).stdout
              for more in ((), ("--no-cache",))]
    assert greedy[0] == greedy[1], greedy
    text = document["texts"][0]["text"]
    stopped = json.loads(lig(*arguments, "--prompt", "the ", "--stop", text[9:12], "--json")
                         .stdout)["texts"][0]
    assert stopped["ended"] == "stop" and stopped["text"] == text[:text.index(text[9:12])], stopped


@check
def samples():
    """Samples are stored, and change nothing of the training."""
    shown = json.loads(lig("runs", "show", "book", "--json").stdout)
    assert [(one["step"], one["number"], one["prompt"]) for one in shown["samples"]] == \
        [(step, number, prompt) for step in (20, 40, 60) for number, prompt in enumerate(("the ", "on"))]
    assert all(one["text"] for one in shown["samples"])
    lig("train", "embedding(32, vocabulary=256) ! position-embedding(48) ! transformer-layer(4) ! "
        "linear(256) ! cross-entropy", "--input", "8x48:int32", "--data", "text:book.txt", "--steps", 60,
        "--lr", 0.003, "--device", "cpu", "--name", "plain")
    losses = [[line.split(",")[-1] for line in
               lig("runs", "export", name, "--metric", "loss", "-o", "-", "--format", "csv")
               .stdout.splitlines()[1:]] for name in ("book", "plain")]
    assert losses[0] == losses[1] and len(losses[0]) == 60, losses[0][:3]
    done = lig("train", "linear(3) ! cross-entropy", "--data", "csv:train.csv", "--steps", 5,
               "--sample-every", 2, "--device", "cpu", fails=True)
    assert "input is not tokens" in done.stderr, done.stderr


@check
def lines():
    """Requests and tokens as lines of JSON."""
    requests = ['{"id": "a", "prompt": "the ", "max": 4}', "rubbish", '{"x": 1}',
                '{"id": "b", "prompt": "on", "temperature": -1}',
                '{"id": "c", "tokens": [116, 999], "max": 2}', '{"cancel": "z"}',
                '{"id": "d", "prompt": "the ", "max": 1000000}', '{"cancel": "d"}']
    done = lig("generate", "book", "--device", "cpu", "--lines", input="\n".join(requests) + "\n")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[0]["vocabulary"] == 256, found[0]
    errors = [line["error"] for line in found if "error" in line]
    assert len(errors) == 5 and any("temperature is -1" in error for error in errors), errors
    assert any("token 1 of the prompt is 999" in error for error in errors), errors
    tokens = [line for line in found if line.get("id") == "a" and "token" in line]
    ends = [line for line in found if line.get("id") == "a" and "ended" in line]
    assert len(tokens) == 4 and ends[0]["ended"] == "length", (tokens, ends)
    assert all(len(line["alternatives"]) == 5 for line in tokens)
    cancelled = [line for line in found if line.get("id") == "d" and "ended" in line]
    assert cancelled[0]["ended"] == "cancelled", cancelled


def main():
    print(f"1..{len(checks)}")
    failed = False
    for number, function in enumerate(checks, 1):
        try:
            function()
            print(f"ok {number} {function.__name__}", flush=True)
        except (AssertionError, KeyError, IndexError, ValueError) as problem:
            failed = True
            print(f"# {type(problem).__name__}: {problem}".replace("\n", "\n# "))
            print(f"not ok {number} {function.__name__}", flush=True)
    subprocess.run(["rm", "-rf", str(folder)], check=False)
    sys.exit(failed)


main()
