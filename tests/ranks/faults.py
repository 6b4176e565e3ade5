#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills, stops and fails ranks that mpirun started: all processes end, and one message names the
rank and its host."""
import contextlib
import os
import re
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job import launch, run  # noqa: E402

HOST = socket.gethostname()
RESUMED = '; the last checkpoint can be resumed'
# Seconds without a heartbeat, and until all processes are gone.
SILENCE, LIMIT = 3, 20


def exists(process):
    """Returns whether the process runs; one that waits for its parent does not."""
    try:
        with open(f'/proc/{process}/stat', encoding='ascii') as file:
            return file.read().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def begin(count, *words, silence=SILENCE):
    """Starts the job. Returns it and the processes of the ranks."""
    job = launch(count, *words, LIGATURE_RANKS_SILENCE=str(silence))
    processes, seen = {}, []
    while len(processes) < count:
        line = job.stdout.readline()
        assert line, job.stderr.read()
        match = re.fullmatch(r'rank (\d+): process (\d+)\n', line)
        if match:
            processes[int(match[1])] = int(match[2])
        else:
            seen.append(line)
    return job, processes, seen


def finish(job, processes, seen, sentence, called=True, reason='lost'):
    """Checks that nothing is left, that the sentence was printed once, and whether rank 0's program
    was called with it and the reason; None if that depends on when mpirun ends rank 0."""
    end = time.monotonic() + LIMIT
    left = list(processes.values())
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left = [process for process in left if exists(process)]
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    output, errors = job.communicate(timeout=LIMIT)
    assert not left, f'{left} of {processes} are left: {errors}'
    said = [line for line in errors.splitlines() if line.startswith('job: ')]
    assert said == ['job: ' + sentence], f'{said}, expected {sentence}: {errors}'
    noted = f'{reason}: {sentence}\n' in ''.join(seen) + output
    assert called is None or noted == called, output
    assert job.returncode != 0


def killed(count, rank):
    job, processes, seen = begin(count, 'hang')
    os.kill(processes[rank], signal.SIGKILL)
    finish(job, processes, seen,
           f'ranks: rank {rank} on {HOST} ended (process {processes[rank]}){RESUMED}', rank > 0)


def stopped(count, rank):
    job, processes, seen = begin(count, 'hang')
    os.kill(processes[rank], signal.SIGSTOP)
    finish(job, processes, seen,
           f'ranks: rank {rank} on {HOST} sent no heartbeat for {SILENCE} seconds '
           f'(process {processes[rank]}){RESUMED}', True if rank > 0 else None)


def all_stopped():
    """Ranks that were all stopped, as by Ctrl+Z, continue, also on a busy machine. One that judged
    the others wrongly would do so with its first heartbeat."""
    silence = 3 * SILENCE
    job, processes, seen = begin(3, 'hang', silence=silence)
    for number, seconds in ((signal.SIGSTOP, silence + 2), (signal.SIGCONT, SILENCE)):
        for process in processes.values():
            os.kill(process, number)
        time.sleep(seconds)
    if not all(map(exists, processes.values())):
        job.kill()
        raise AssertionError(f'{processes} ended: {"".join(job.communicate(timeout=LIMIT))}')
    os.kill(processes[2], signal.SIGKILL)
    finish(job, processes, seen,
           f'ranks: rank 2 on {HOST} ended (process {processes[2]}){RESUMED}')


def failed(count, rank):
    job, processes, seen = begin(count, 'fail', str(rank))
    sentence = 'data: 3 rows, expected 4'
    finish(job, processes, seen, sentence if rank < 0 else f'rank {rank} on {HOST}: {sentence}',
           reason='failed')


def launcher_killed():
    """The output of ranks whose launcher is gone is lost; they end."""
    job, processes, _ = begin(3, 'hang')
    job.kill()
    end = time.monotonic() + LIMIT
    while any(map(exists, processes.values())):
        assert time.monotonic() < end, processes
        time.sleep(0.05)
    job.communicate(timeout=LIMIT)


run([(killed, 4, rank) for rank in range(4)] + [(killed, 2, rank) for rank in range(2)]
    + [(stopped, 3, rank) for rank in range(3)] + [(all_stopped,)]
    + [(failed, 3, rank) for rank in (0, 1, 2, -1)] + [(launcher_killed,)])
