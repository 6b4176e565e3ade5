#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains small models and asks `lig predict --lines` for rows; prints TAP. Influences are compared with
finite differences of other rows, a confusion matrix with the rows counted one by one."""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import traceback

LIG = os.environ["LIG"]
COLUMNS = ["size", "weight", "age"]
CLASSES = ["blue", "green", "red"]


def make_rows(count):
    """Rows of three classes that overlap."""
    draw = random.Random(3)
    for _ in range(count):
        label = draw.randrange(3)
        yield [round(draw.gauss(2 * label, 1.2), 3), round(draw.gauss(5000 - 400 * label, 300), 1),
               round(draw.gauss(40, 9), 2), CLASSES[label]]


def write_table(path, rows):
    lines = [",".join([*COLUMNS, "colour"])]
    path.write_text("\n".join(lines + [",".join(map(str, row)) for row in rows]) + "\n")


class Home:
    """A folder with its own store."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = dict(os.environ, LIGATURE_STORE=str(self.folder / "store.db"),
                                XDG_DATA_HOME=folder)

    def train(self, sequence, shape, data, name, steps=60):
        subprocess.run([LIG, "train", sequence, "--input", shape, "--data", data, "--steps",
                        str(steps), "--lr", "0.02", "--device", "cpu", "--name", name],
                       env=self.environment, check=True, capture_output=True)

    def ask(self, name, *requests, options=()):
        """The description of the model, and the answers."""
        lines = "".join(json.dumps(dict(request, id=str(i))) + "\n"
                        for i, request in enumerate(requests))
        output = subprocess.run([LIG, "predict", name, "--lines", "--device", "cpu", *options],
                                env=self.environment, check=True, input=lines, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        first, *answers = [json.loads(line) for line in output.splitlines()]
        assert [answer["id"] for answer in answers] == [str(i) for i in range(len(requests))], answers
        return first, answers


def near(a, b, tolerance=1e-4):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def make_classes(home, options="&standardize=true"):
    table = home.folder / "rows.csv"
    write_table(table, make_rows(200))
    home.train("linear(8) ! gelu ! dropout(0.3) ! linear(3) ! cross-entropy", "16x3",
               f"csv:{table}?validation=0.25{options}", "classes")
    return table


def test_description(home):
    table = make_classes(home)
    first, _ = home.ask("classes")
    assert first["task"] == "class" and first["classes"] == CLASSES, first
    assert first["targets"] == ["colour"] and first["validation"] == 50, first
    assert first["remark"] is None and first["image"] is None, first
    assert [feature["name"] for feature in first["features"]] == COLUMNS
    weights = [float(line.split(",")[1]) for line in table.read_text().splitlines()[1:]]
    weight = first["features"][1]
    assert min(weights) <= weight["min"] < weight["mean"] < weight["max"] <= max(weights) + 1, weight
    assert 200 < weight["std"] < 700, weight


def test_row(home):
    """A typed row, and the same row with its target."""
    make_classes(home)
    row = {"size": "1.5", "weight": 4700, "age": "33"}
    _, (free, known) = home.ask("classes", {"row": row}, {"row": row, "target": "green"})
    total = sum(math.exp(value) for value in free["values"])
    for probability, value in zip(free["probabilities"], free["values"], strict=True):
        assert near(probability, math.exp(value) / total)
    assert free["prediction"] == free["probabilities"].index(max(free["probabilities"]))
    assert free["loss"] is None
    assert near(known["loss"], -math.log(free["probabilities"][1]), 1e-3), known


def test_influence(home):
    """Gradient times input, without the dropout of the training."""
    make_classes(home)
    row = {"size": 1.5, "weight": 4700.0, "age": 33.0}
    first, (answer,) = home.ask("classes", {"row": row})
    steps = [0.02 * feature["std"] for feature in first["features"]]
    moved = [{"row": dict(row, **{name: row[name] + sign * step})}
             for name, step in zip(COLUMNS, steps) for sign in (1, -1)]
    _, answers = home.ask("classes", *moved)
    for i, feature in enumerate(first["features"]):
        above, below = (answers[2 * i + j]["values"][answer["prediction"]] for j in (0, 1))
        expected = (above - below) / (2 * steps[i]) * (row[feature["name"]] - feature["mean"])
        assert near(answer["influence"][i], expected, 5e-3), (i, answer["influence"], expected)


def test_validation(home):
    """A validation row, typed again from its text, gives the same prediction. The text is that of the
    file, although the model reads scaled fp32 numbers."""
    table = make_classes(home)
    written = [line.split(",") for line in table.read_text().splitlines()[1:]]
    _, answers = home.ask("classes", *({"validation": i} for i in range(50)))
    for answer in answers:
        cells = [float(answer["row"][name]) for name in COLUMNS]
        assert any(cells == [float(cell) for cell in row[:3]] for row in written), answer["row"]
    held = answers[7]
    _, (typed,) = home.ask("classes", {"row": held["row"], "target": CLASSES[held["target"]]})
    assert held["prediction"] == typed["prediction"]
    assert near(held["loss"], typed["loss"], 1e-3), (held, typed)
    for a, b in zip(held["influence"], typed["influence"], strict=True):
        assert near(a, b, 1e-3)


def test_confusion(home):
    """The matrix, the accuracy and the worst rows, from all rows one by one."""
    make_classes(home)
    _, answers = home.ask("classes", *({"validation": i} for i in range(50)), {"evaluate": True},
                          {"cell": [1, 2]}, {"cell": [0, 0]})
    rows, (whole, wrong, right) = answers[:50], answers[50:]
    counts = [[0] * 3 for _ in range(3)]
    for row in rows:
        counts[row["target"]][row["prediction"]] += 1
    assert whole["rows"] == 50 and whole["confusion"] == counts, (whole["confusion"], counts)
    assert near(whole["accuracy"], sum(counts[i][i] for i in range(3)) / 50)
    assert near(whole["loss"], sum(row["loss"] for row in rows) / 50, 1e-3)
    order = sorted(range(50), key=lambda i: -rows[i]["loss"])
    assert [worst["row"] for worst in whole["worst"]][:10] == order[:10]
    for worst in whole["worst"]:
        row = rows[worst["row"]]
        assert near(worst["loss"], row["loss"], 1e-3)
        assert (worst["target"], worst["prediction"]) == (row["target"], row["prediction"])
    for cell, target, prediction in ((wrong, 1, 2), (right, 0, 0)):
        expected = [i for i in order if (rows[i]["target"], rows[i]["prediction"])
                    == (target, prediction)]
        assert sorted(cell["rows"]) == sorted(expected), (cell, expected)
        assert cell["losses"] == sorted(cell["losses"], reverse=True)


def test_values(home):
    """A linear model: its value is the sum of the influences and the prediction of the mean row."""
    draw = random.Random(5)
    table = home.folder / "values.csv"
    rows = [[draw.gauss(0, 1), draw.gauss(50, 10)] for _ in range(80)]
    table.write_text("a,b,y\n" + "".join(f"{a},{b},{3 * a - 0.2 * b + 1}\n" for a, b in rows))
    home.train("linear(1) ! mean-squared-error", "16x2",
               f"csv:{table}?validation=0.25&standardize=true", "values", 300)
    first, (answer, known) = home.ask("values", {"row": {"a": 2, "b": 40}},
                                      {"row": {"a": 2, "b": 40}, "target": "5"})
    assert first["task"] == "value" and first["classes"] == [] and answer["prediction"] is None
    means = {feature["name"]: feature["mean"] for feature in first["features"]}
    _, (middle, whole) = home.ask("values", {"row": means}, {"evaluate": True})
    assert near(sum(answer["influence"]) + middle["values"][0], answer["values"][0], 1e-3)
    assert near(known["loss"], (answer["values"][0] - 5) ** 2, 1e-2), (known, answer)
    assert whole["confusion"] is None and whole["accuracy"] is None and whole["rows"] == 20
    losses = [worst["loss"] for worst in whole["worst"]]
    assert losses == sorted(losses, reverse=True) and len(losses) == 20
    assert near(whole["loss"], sum(losses) / 20, 1e-3), whole


def test_images(home):
    """Images: pixels of validation rows; none can be typed."""
    draw = random.Random(9)
    images = home.folder / "images-idx3-ubyte"
    labels = home.folder / "labels-idx1-ubyte"
    classes = [draw.randrange(2) for _ in range(40)]
    pixels = bytes(min(255, 200 * label + draw.randrange(50)) for label in classes for _ in range(6))
    images.write_bytes(struct.pack(">IIII", 0x803, 40, 2, 3) + pixels)
    labels.write_bytes(struct.pack(">II", 0x801, 40) + bytes(classes))
    home.train("linear(2) ! cross-entropy", "8x6", f"idx:{images}?validation=0.25", "images")
    first, (typed, held) = home.ask("images", {"row": {}}, {"validation": 0})
    assert first["image"] == [2, 3] and first["features"] == [] and first["classes"] == ["0", "1"]
    assert "images" in typed["error"], typed
    assert len(held["pixels"]) == 6 and all(0 <= pixel <= 1 for pixel in held["pixels"]), held
    assert held["influence"] is None and held["target"] in (0, 1), held


def test_changed(home):
    """Rows of changed data are not validation rows of the run."""
    table = make_classes(home)
    write_table(table, make_rows(190))
    first, (held, whole) = home.ask("classes", {"validation": 0}, {"evaluate": True})
    assert first["validation"] == 0 and "has changed" in first["remark"], first
    assert "error" in held and "has changed" in whole["error"], (held, whole)
    first, _ = home.ask("classes", options=["--data", f"csv:{table}?validation=0.1"])
    assert first["validation"] == 19, first
    table.unlink()
    first, _ = home.ask("classes")
    assert first["validation"] == 0 and "rows.csv" in first["remark"], first


def test_rejected(home):
    make_classes(home, "")
    whole = {"size": 1, "weight": 2, "age": 3}
    _, answers = home.ask("classes", {"row": {"size": 1, "weight": 2}}, {"row": dict(whole, age="x")},
                          {"row": whole, "target": "black"}, {"validation": -1}, {"cell": [0]},
                          {"cell": [0, 3]}, {})
    for answer, words in zip(answers, ("age is empty", "age is 'x'", "'black'", "last one is 49", "[target",
                                       "from 0 to 2", "none of"), strict=True):
        assert words in answer["error"], (words, answer)


def main():
    tests = [test_description, test_row, test_influence, test_validation, test_confusion, test_values,
             test_images, test_changed, test_rejected]
    print(f"1..{len(tests)}")
    failed = False
    for number, test in enumerate(tests, 1):
        title = test.__name__.removeprefix("test_")
        try:
            with tempfile.TemporaryDirectory(prefix="ligature-") as folder:
                test(Home(folder))
            print(f"ok {number} - {title}")
        except Exception:
            failed = True
            print(f"not ok {number} - {title}")
            print("# " + traceback.format_exc().replace("\n", "\n# "))
    sys.exit(failed)


main()
