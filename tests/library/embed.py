#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks the results of the Python programs of data/doc/tutorial.md, as TAP: verdicts for a GPU that
is not in the machine, a training run on the CPU with a callback for each step, and its record in the
store.
"""
import pathlib
import tempfile

import gi

gi.require_version("Ligature", "1")
from gi.repository import GLib, Ligature  # noqa: E402

from explain import explain  # noqa: E402
from xor import read, train  # noqa: E402


def check(number, name, holds):
    print(f"{'ok' if holds else 'not ok'} {number} - {name}")


def main():
    print("1..5")
    verdicts = explain("layer-norm ! linear(512) ! gelu ! linear(256)", "128x256:bf16")
    check(1, "verdicts with their reasons",
          verdicts[0].startswith("taken at 1: forward-linear-bias-activation")
          and any(line.startswith("rejected at ") for line in verdicts))
    try:
        Ligature.Sequence.from_expression("linear(8) ! gleu")
    except GLib.Error as error:
        check(2, "an error as an exception", error.matches(Ligature.error_quark(), Ligature.Error.OP)
              and "gelu" in error.message)
    with tempfile.TemporaryDirectory() as folder:
        data, store = pathlib.Path(folder, "xor.csv"), pathlib.Path(folder, "runs.db")
        data.write_text("a,b,xor\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
        uuid, losses = train(data, store)
        check(3, "one callback per step", len(losses) == 500)
        check(4, "the loss falls", losses[0] > 0.1 and losses[-1] < 1e-4)
        rows, steps, values = read(store, uuid)
        check(5, "the store has the run and its losses",
              [row.uuid for row in rows] == [uuid] and rows[0].status == "done"
              and rows[0].last_step == 500 and steps == list(range(1, 501)) and values == losses)


if __name__ == "__main__":
    main()
