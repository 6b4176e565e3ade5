#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Trains XOR on the CPU with a callback for each step, then reads the run from the store."""
import pathlib
import tempfile

import gi

gi.require_version("Ligature", "1")
from gi.repository import GLib, Ligature  # noqa: E402


def train(data, store):
    """Returns the uuid of the run and the loss of each step."""
    sequence = Ligature.Sequence.from_expression(
        "linear(8, init-std=1) ! gelu ! linear(1, init-std=1) ! mean-squared-error")
    _, shape, dtype = Ligature.Shape.parse("4x2", Ligature.Dtype.FP32)
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
    run.connect("ended", lambda run, status, message: loop.quit())
    run.start()
    loop.run()
    run.wait()
    return run.get_uuid(), losses


def read(store, uuid):
    """Returns the runs of a store, and the steps and losses of one of them."""
    store = Ligature.Store.open_existing(str(store), Ligature.StoreAccess.READ)
    _, steps, losses = store.get_metric(uuid, "loss")
    return store.list_runs(None), steps, losses


def main():
    with tempfile.TemporaryDirectory() as folder:
        data, store = pathlib.Path(folder, "xor.csv"), pathlib.Path(folder, "runs.db")
        data.write_text("a,b,xor\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
        uuid, _ = train(data, store)
        runs, steps, losses = read(store, uuid)
        for run in runs:
            print(f"{run.name}: {run.status} after {run.last_step} steps")
        for step, loss in zip(steps[::100], losses[::100]):
            print(f"step {step}: loss {loss:.4f}")


if __name__ == "__main__":
    main()
