#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Uses the library from Python like an embedding program: compiles a sequence for a GPU that is not
in the machine and prints why each fusion was taken or rejected, trains XOR on the CPU with a
callback for every step, and reads the run from the store. Checks the results of all three, as TAP.
"""
import pathlib
import tempfile

import gi

gi.require_version("Ligature", "1")
from gi.repository import GLib, Ligature  # noqa: E402


# data/doc/tutorial.md shows the code from here on.
def explain(expression, shape):
    """Prints the verdicts of a sequence on an H200, which this machine need not have."""
    sequence = Ligature.Sequence.from_expression(expression)
    ok, shape, dtype = Ligature.Shape.parse(shape, Ligature.Dtype.FP32)
    sequence.set_input(shape, dtype)
    device = Ligature.Device.open("null:h200")
    plan = Ligature.Plan.compile(sequence, device, None)
    lines = []
    for verdict in plan.get_verdicts():
        if verdict.taken or verdict.reason != Ligature.Reason.PATTERN:
            word = "taken" if verdict.taken else "rejected"
            lines.append(f"{word}: {verdict.fusion.name} at {verdict.first}: {verdict.text}")
            print("#", lines[-1])
    return lines
# data/doc/tutorial.md shows the code up to here.


# data/doc/tutorial.md shows the code from here on.
def train(data, store):
    """Trains XOR on the CPU; returns the uuid of the run and the loss of each step."""
    sequence = Ligature.Sequence.from_expression(
        "linear(8, init-std=1) ! gelu ! linear(1, init-std=1) ! mean-squared-error")
    ok, shape, dtype = Ligature.Shape.parse("4x2", Ligature.Dtype.FP32)
    sequence.set_input(shape, dtype)
    settings = Ligature.RunSettings.new()
    for name, value in (("data", f"csv:{data}?validation=0"), ("name", "xor"), ("steps", "500"),
                        ("lr", "0.01"), ("checkpoint", f"{store}.safetensors")):
        settings.set(name, value)
    device = Ligature.Device.open("cpu")
    run = Ligature.Run.new(sequence, device, settings, None, Ligature.Store.open(str(store)))
    losses = []
    loop = GLib.MainLoop()
    run.connect("step", lambda run, step, loss: losses.append(loss))
    run.connect("progress", lambda run, progress: print(f"# {progress.step} of {progress.steps}"))
    run.connect("ended", lambda run, status, message: loop.quit())
    run.start()
    loop.run()
    run.wait()
    return run.get_uuid(), losses
# data/doc/tutorial.md shows the code up to here.


# data/doc/tutorial.md shows the code from here on.
def read(store, uuid):
    """Prints the runs of a store; returns them and the loss at each step of one run."""
    store = Ligature.Store.open_existing(str(store), Ligature.StoreAccess.READ)
    rows = store.list_runs(None)
    for row in rows:
        print(f"# run {row.uuid[:8]}: {row.name}, {row.status}, loss {row.last_loss:.3g}")
    ok, steps, values = store.get_metric(uuid, "loss")
    return rows, steps, values
# data/doc/tutorial.md shows the code up to here.


def check(number, name, holds):
    print(f"{'ok' if holds else 'not ok'} {number} - {name}")


def main():
    print("1..5")
    verdicts = explain("layer-norm ! linear(512) ! gelu ! linear(256)", "128x256:bf16")
    check(1, "verdicts with their reasons",
          verdicts[0].startswith("taken: forward-linear-bias-activation at 1:")
          and any(line.startswith("rejected: ") for line in verdicts))
    try:
        Ligature.Sequence.from_expression("linear(8) ! gleu")
    except GLib.Error as error:
        check(2, "an error as an exception", error.matches(Ligature.error_quark(), Ligature.Error.OP)
              and "gelu" in error.message)
    with tempfile.TemporaryDirectory() as folder:
        data, store = pathlib.Path(folder, "xor.csv"), pathlib.Path(folder, "runs.db")
        data.write_text("a,b,xor\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
        uuid, losses = train(data, store)
        check(3, "a call for each step", len(losses) == 500)
        check(4, "the loss falls", losses[0] > 0.1 and losses[-1] < 1e-4)
        rows, steps, values = read(store, uuid)
        check(5, "the store has the run and its losses",
              [row.uuid for row in rows] == [uuid] and rows[0].status == "done"
              and rows[0].last_step == 500 and steps == list(range(1, 501)) and values == losses)


if __name__ == "__main__":
    main()
