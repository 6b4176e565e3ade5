#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Broadcasts, sums, comparisons, shared failures, exchanges and gathers among ranks that mpirun
starts."""
import os
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job import launch, run  # noqa: E402


def works(work, count):
    job = launch(count, work)
    output, errors = job.communicate(timeout=120)
    assert job.returncode == 0, f'{job.returncode}: {output}{errors}'


def rejection(count, first):
    """The message names the first rank that differs, and is the same on all ranks."""
    job = launch(count, 'differ', str(first))
    output, errors = job.communicate(timeout=60)
    assert job.returncode == 0, errors
    host = socket.gethostname()
    wanted = (f"the data: rank {first} on {host} has '{'b' * 79}…', rank 0 on {host} has "
              f"'{'a' * 79}…'; give all ranks the same")
    assert output.splitlines() == [wanted] * count, output


def shared(count, failed):
    """All get the message of the first rank that failed; if all failed alike, it names none."""
    job = launch(count, 'share', str(failed))
    output, errors = job.communicate(timeout=60)
    assert job.returncode == 0, errors
    rank = max(failed, 0)
    name = '' if failed == -1 else f'rank {rank} on {socket.gethostname()}: '
    wanted = f'{name}data: {0 if failed < -1 else 3} rows, expected 4'
    assert output.splitlines() == [wanted] * count, output


run([(works, work, count) for work in ('messages', 'pieces', 'leave', 'choices') for count in (1, 2, 4)]
    + [(works, 'choices', 3), (rejection, 2, 1), (rejection, 4, 2)] + [(shared, 3, rank) for rank in (0, 2, -1, -2)])
