#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A verification finds a corrupted output of each fusion with a collective."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job import launch, run  # noqa: E402

FUSIONS = {'forward-all-gather-linear', 'forward-linear-reduce-scatter', 'backward-linear-reduce-scatter',
           'backward-all-gather-linear', 'forward-linear-all-reduce', 'backward-linear-all-reduce'}


def spoiled(count):
    job = launch(count)
    output, errors = job.communicate(timeout=200)
    assert job.returncode == 0, f'{job.returncode}: {output}{errors}'
    found = {line for line in output.splitlines() if not line.startswith('#')}
    assert found == FUSIONS, found ^ FUSIONS


run([(spoiled, 2)])
