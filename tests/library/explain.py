#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints why each fusion was taken or rejected, on a GPU that is not in this machine."""
import gi

gi.require_version("Ligature", "1")
from gi.repository import Ligature  # noqa: E402


def explain(expression, shape):
    """Returns a line for each verdict whose pattern fits."""
    sequence = Ligature.Sequence.from_expression(expression)
    _, shape, dtype = Ligature.Shape.parse(shape, Ligature.Dtype.FP32)
    sequence.set_input(shape, dtype)
    device = Ligature.Device.open("null:h200")
    plan = Ligature.Plan.compile(sequence, device, None)
    return [f"{'taken' if verdict.taken else 'rejected'} at {verdict.first}: {verdict.text}"
            for verdict in plan.get_verdicts()
            if verdict.taken or verdict.reason != Ligature.Reason.PATTERN]


if __name__ == "__main__":
    for line in explain("layer-norm ! linear(512) ! gelu ! linear(256)", "128x256:bf16"):
        print(line)
