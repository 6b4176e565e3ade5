#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares exported models with `lig apply`: each op and each shipped sequence is exported, checked
by PyPI's `onnx`, and run by `onnxruntime` on the CPU, also with another batch size and sequence
length; prints TAP. Skipped without onnx, onnxruntime, numpy and safetensors.

    LIG=build/app/lig python3 tests/truth/exported.py [NAME...]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import ml_dtypes
    import numpy
    import onnx
    import onnxruntime
    import safetensors.numpy
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is not installed")
    sys.exit(0)

LIG = os.path.abspath(os.environ["LIG"])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "data/examples"
TOLERANCE = {"fp32": 1e-5, "bf16": 2e-2, "fp16": 2e-3}
LOSSES = ("cross-entropy", "mean-squared-error")
# They take minutes; tested only if they are named.
LARGE = ("gpt2-124m.lig", "llama-1b.lig", "llama-layer.lig")
# Variants that the examples of ops do not have.
MORE = {
    "attention window": "attention(4, kv-heads=2, window=3) @ 2x7x32",
    "attention both sides": "attention(2, mask=none, window=2) @ 2x7x24",
    "attention without mask": "attention(2, mask=none) @ 2x5x24",
    "attention softcap": "attention(2, softcap=2, scale=0.7) @ 2x5x24",
    "attention alibi": "attention(6, kv-heads=3, alibi=true) @ 2x5x48",
    "attention sinks": "attention(4, kv-heads=2, sinks=true, window=3) @ 2x5x32",
    "attention lengths": "attention(2, lengths=caller) @ 2x5x24",
    "attention lengths, all": "attention(2, mask=none, lengths=caller) @ 2x5x24",
    "attention documents": "attention(2, documents=caller) @ 2x5x24",
    "attention memory": "attention(2, memory=caller, mask=none) @ 2x5x8",
    "attention memory, bottom right":
        "attention(2, memory=caller, mask=causal-bottom-right) @ 2x5x8",
    "attention bottom right, lengths":
        "attention(2, lengths=caller, mask=causal-bottom-right) @ 2x5x24",
    "attention one text": "attention(2) @ 5x24",
    "rotary interleaved": "rotary(2, interleaved=true, fraction=0.5) @ 2x5x48",
    "rotary yarn": "rotary(2, kv-heads=1, scaling=yarn, original=32, high=32) @ 2x5x32",
    "rotary llama3": "rotary(2, scaling=llama3, original=16) @ 2x5x24",
    "rotary one position": "rotary(2, fraction=0.5) @ 24",
    "qk-norm l2": "qk-norm(4, kv-heads=2, kind=l2) @ 2x5x32",
    "qk-norm layer": "qk-norm(4, kv-heads=2, kind=layer) @ 2x5x32",
    "layer-norm two axes": "layer-norm([3, 4], zero-centered-gamma=true) @ 2x3x4",
    "rms-norm two axes": "rms-norm([3, 4], zero-centered-gamma=true) @ 2x3x4",
    "swiglu interleaved": "swiglu(interleave=2) @ 3x8",
    "position-embedding one position": "position-embedding(8) @ 16",
    "a loss": "linear(5) ! gelu ! linear(3) ! cross-entropy @ 4x8",
    "branches": "make-extra-output(a, caller=true) ! linear(8) ! add-extra-input(a) @ 4x8",
    "a tied embedding": "embedding(8, vocabulary=16) ! linear(16, bias=false, tied=0) @ 2x5:int32",
}


def arrange(sequence):
    """Returns the words of a command for a file, or an expression with its input."""
    if sequence.endswith(".lig"):
        return (sequence,)
    expression, _, shape = sequence.rpartition(" @ ")
    return (expression, "--input", shape)


def run(folder, *words, code=0):
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db", XDG_DATA_HOME=str(folder))
    result = subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                            capture_output=True)
    assert result.returncode == code, f"lig {' '.join(words)}: {result.stderr}"
    return result.stdout if code == 0 else result.stderr


def list_cases():
    for op in json.loads(run(".", "ops", "--json")):
        if op["op"] not in LOSSES:
            yield op["op"], op["example"]
    yield from MORE.items()
    yield "external", external
    for path in sorted(EXAMPLES.glob("*.lig")):
        if path.name not in LARGE or path.name in sys.argv:
            yield path.name, str(path)


def make_input(wanted, lengths, random):
    """Random numbers; whole numbers stay below all limits of the sequences."""
    shape = [lengths.get(axis, 1) if isinstance(axis, str) else axis for axis in wanted.shape]
    if wanted.type == "tensor(int32)":
        return random.integers(0, 3, shape, dtype=numpy.int32)
    value = random.standard_normal(shape).astype(numpy.float32)
    # The graph rounds an input of 16 bits, which `lig apply` takes in any type.
    narrow = wanted.name.endswith(":fp32")
    return value.astype(ml_dtypes.bfloat16).astype(numpy.float32) if narrow else value


def make_weights(folder, sequence, random):
    """Writes random weights: initial biases are zeros and would hide errors."""
    run(folder, "export-weights", *arrange(sequence), "-o", "w.safetensors")
    weights = safetensors.numpy.load_file(f"{folder}/w.safetensors")
    changed = {name: value + random.standard_normal(value.shape, dtype=numpy.float32) * numpy.float32(
                   0.3 if value.ndim < 2 else value.shape[-1] ** -0.5)
               for name, value in weights.items()}
    safetensors.numpy.save_file(changed, f"{folder}/w.safetensors")
    return ("--weights", "w.safetensors") if weights else ()


def with_numbers(model):
    """Numpy has no bf16: the ends of the graph become fp32, converted inside."""
    wide, graph = onnx.TensorProto.FLOAT, model.graph
    before, after = [], []
    for end in graph.input:
        kind = end.type.tensor_type
        if kind.elem_type in (onnx.TensorProto.BFLOAT16, onnx.TensorProto.FLOAT16):
            before.append(onnx.helper.make_node("Cast", [f"{end.name}:fp32"], [end.name],
                                                to=kind.elem_type))
            end.name, kind.elem_type = f"{end.name}:fp32", wide
    for end in graph.output:
        kind = end.type.tensor_type
        if kind.elem_type in (onnx.TensorProto.BFLOAT16, onnx.TensorProto.FLOAT16):
            after.append(onnx.helper.make_node("Cast", [end.name], [f"{end.name}:fp32"], to=wide))
            end.name, kind.elem_type = f"{end.name}:fp32", wide
    nodes = before + list(graph.node) + after
    del graph.node[:]
    graph.node.extend(nodes)
    return model.SerializeToString()


def apply(folder, words, dtype):
    run(folder, "apply", *words, "--input", "x.safetensors", "-o", "y.safetensors", "--device",
        "cpu", "--dtype", dtype)
    return {name: value.astype(numpy.float64) for name, value in
            safetensors.numpy.load_file(f"{folder}/y.safetensors").items()}


def measure(value, want):
    """The largest difference, relative to the largest value."""
    assert value.shape == want.shape, f"an output is {value.shape}, expected {want.shape}"
    return numpy.abs(value - want).max(initial=0) / max(1e-3, numpy.abs(want).max(initial=0))


def compare(folder, model, words, dtype, lengths, random):
    """Returns the largest error, relative to the largest value of each output, and what is allowed:
    two computations in 16 bits differ by at most twice the error of one. `words` begin a command
    with the sequence."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(with_numbers(model), options,
                                           providers=["CPUExecutionProvider"])
    own = {one.name: make_input(one, lengths, random) for one in session.get_inputs()}
    safetensors.numpy.save_file({name.removesuffix(":fp32"): value for name, value in own.items()},
                                f"{folder}/x.safetensors")
    wanted = apply(folder, words, dtype)
    exact = apply(folder, words, "fp32") if dtype != "fp32" else wanted
    worst, allowed = 0, TOLERANCE[dtype]
    for end, value in zip(session.get_outputs(), session.run(None, own)):
        name = end.name.removesuffix(":fp32").removeprefix("output.")
        worst = max(worst, measure(value, wanted[name]))
        allowed = max(allowed, 2 * measure(wanted[name], exact[name]))
    return worst, allowed


def check_file(folder):
    model = onnx.load(f"{folder}/model.onnx")
    onnx.checker.check_model(f"{folder}/model.onnx", full_check=True)
    return model


def rejection(folder, sequence):
    """Returns the reason if the sequence has an op that is not exported."""
    environment = dict(os.environ, LIGATURE_STORE=f"{folder}/runs.db")
    result = subprocess.run([LIG, "export", *arrange(sequence), "-o", "model.onnx"], cwd=folder,
                            env=environment, check=False, text=True, capture_output=True)
    if result.returncode == 0:
        return None
    match = re.search(r"not exported to ONNX: (.*)", result.stderr)
    assert match, result.stderr
    return match[1]


def without_loss(folder, sequence):
    """The graph ends before a loss, with which `lig apply` would return only that."""
    if not sequence.endswith(".lig"):
        expression, _, shape = sequence.rpartition(" @ ")
        before, _, last = expression.rpartition(" ! ")
        return f"{before} @ {shape}" if last.startswith(LOSSES) else sequence
    found = json.loads(pathlib.Path(sequence).read_text())
    if found["ops"][-1]["op"] in LOSSES:
        del found["ops"][-1]
    (folder / "before.lig").write_text(json.dumps(found))
    return f"{folder}/before.lig"


def case(folder, sequence):
    random = numpy.random.default_rng(7)
    reason = rejection(folder, sequence)
    if reason:
        return f"rejected: {reason}"
    largest = {}
    before_loss = without_loss(folder, sequence)
    for dtype in ("fp32", "bf16"):
        weights = make_weights(folder, sequence, random)
        run(folder, "export", *arrange(sequence), "-o", "model.onnx", "--dtype", dtype, *weights)
        model = check_file(folder)
        axes = {dimension.dim_param: 0 for one in model.graph.input
                for dimension in one.type.tensor_type.shape.dim if dimension.dim_param}
        for length in (2, 3):
            lengths = {name: 2 * length for name in axes}
            words = (arrange(before_loss)[0], *weights)
            copy = onnx.ModelProto.FromString(model.SerializeToString())
            error, allowed = compare(folder, copy, words, dtype, lengths, random)
            assert error <= allowed, \
                f"{dtype}: error {error:.2g}, allowed {allowed:.2g}, length {2 * length}"
            largest[dtype] = max(largest.get(dtype, 0), error)
    return " ".join(f"{dtype} {error:.1e}" for dtype, error in largest.items()) + \
        f" axes: {','.join(axes) or 'none'}"


def external(folder):
    """Weights in a second file are those inside."""
    words = ("linear(30) ! gelu ! linear(7)", "--input", "4x20", "-o")
    run(folder, "export", *words, "inside.onnx")
    run(folder, "export", *words, "beside.onnx", "--external")
    assert (folder / "beside.onnx.data").stat().st_size > 4 * 20 * 30
    onnx.checker.check_model(f"{folder}/beside.onnx", full_check=True)
    x = numpy.random.default_rng(1).standard_normal((5, 20)).astype(numpy.float32)
    one, other = (onnxruntime.InferenceSession(f"{folder}/{name}.onnx",
                                               providers=["CPUExecutionProvider"]).run(None, {"input": x})
                  for name in ("inside", "beside"))
    assert numpy.array_equal(one[0], other[0])
    return "equal"


def main():
    cases = [one for one in list_cases() if len(sys.argv) == 1 or one[0] in sys.argv[1:]]
    print(f"1..{len(cases)}", flush=True)
    failed = 0
    for number, (name, sequence) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                note = sequence(pathlib.Path(folder)) if callable(sequence) else \
                    case(pathlib.Path(folder), sequence)
                print(f"ok {number} - {name}\n# {note}", flush=True)
            except Exception as error:  # pylint: disable=broad-exception-caught
                failed += 1
                print(f"not ok {number} - {name}\n# {sequence}\n# " + str(error).replace("\n", "\n# "),
                      flush=True)
    sys.exit(failed > 0)


main()
