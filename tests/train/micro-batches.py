#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The loss and the gradient of a step do not depend on how its rows are divided into micro-batches
and ranks: they are means over all rows that the loss counts. The expected values are computed here,
in double precision."""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cli'))
from terminal import run  # noqa: E402

LIG = os.environ['LIG']
FEATURES, CLASSES, RATE, STEPS = 5, 3, 0.5, 3
# The rows of a micro-batch of all ranks, the micro-batches of a step, the ranks.
DIVISIONS = [(8, 1, 1), (4, 2, 1), (2, 4, 1), (1, 8, 1)]
RANKS = [(8, 1, 2), (4, 2, 2), (2, 4, 2), (8, 1, 4), (4, 2, 4)]
HEADS = [['--policy', 'none'], ['--policy', 'all']]


def make_rows(labels):
    generator = random.Random(len(labels) + sum(labels))
    return [([round(generator.gauss(0, 1), 6) for _ in range(FEATURES)], label) for label in labels]


def train(rows, division, *more, ignored=0, smoothing=0.0):
    """Returns the losses and the gradients' norms of the steps, each of which has all rows once."""
    batch, accumulate, ranks = division
    with open('rows.csv', 'w', encoding='ascii') as file:
        for values, label in rows:
            file.write(','.join(map(str, values)) + f',{label}\n')
    loss = f'cross-entropy(ignored={ignored}, label-smoothing={smoothing})'
    words = ['train', f'linear({CLASSES}, init-std=0, bias=false) ! {loss}', '--data',
             'csv:rows.csv?validation=0', '--input', f'{batch}x{FEATURES}', '--accumulate', str(accumulate),
             '--steps', str(STEPS), '--optimizer', 'sgd', '--momentum', '0', '--schedule', 'constant',
             '--warmup', '0', '--lr', str(RATE), '--device', 'cpu', '--metrics', '-', '--quiet', *more]
    if ranks > 1:
        words += ['--ranks', str(ranks)]
    result = subprocess.run([LIG, *words], check=False, text=True, capture_output=True,
                            stdin=subprocess.DEVNULL)
    assert result.returncode == 0, (words, result.stderr)
    found = [json.loads(line) for line in result.stdout.splitlines() if line.startswith('{')]
    return [(row['loss'], row['grad_norm']) for row in found if 'loss' in row]


def compute(rows, ignored, smoothing):
    """The same in double precision, of all rows at once."""
    weight = [[0.0] * FEATURES for _ in range(CLASSES)]
    counted = [row for row in rows if row[1] != ignored]
    results = []
    for _ in range(STEPS):
        loss, gradient = 0.0, [[0.0] * FEATURES for _ in range(CLASSES)]
        for values, label in counted:
            logits = [sum(a * b for a, b in zip(line, values)) for line in weight]
            lse = math.log(sum(map(math.exp, logits)))
            for c in range(CLASSES):
                q = (1 - smoothing) * (c == label) + smoothing / CLASSES
                loss += q * (lse - logits[c]) / len(counted)
                for i in range(FEATURES):
                    gradient[c][i] += (math.exp(logits[c] - lse) - q) * values[i] / len(counted)
        results.append((loss, math.sqrt(sum(value * value for line in gradient for value in line))))
        for c in range(CLASSES):
            for i in range(FEATURES):
                weight[c][i] -= RATE * gradient[c][i]
    return results


def compare(rows, divisions, unlabelled=None, **loss):
    wanted = compute(rows, loss.get('ignored', 0) if unlabelled is None else unlabelled,
                     loss.get('smoothing', 0.0))
    for division in divisions:
        for head in HEADS:
            found = train(rows, division, *head, **loss)
            assert len(found) == STEPS, found
            for step, pair in enumerate(zip(found, wanted)):
                for one, other in zip(*pair):
                    assert abs(one - other) <= 1e-6 * max(abs(other), 1), (division, head, step, *pair)


UNEVEN = make_rows([0, 0, 0, 0, 0, 1, 2, 1])


def micro_batches():
    compare(UNEVEN, DIVISIONS)


def smoothed():
    compare(UNEVEN, DIVISIONS, smoothing=0.25)


def all_counted():
    compare(UNEVEN, DIVISIONS, ignored=-100)


def unlabelled():
    """Labels of -1 are ignored for any ignored target of the loss."""
    rows = make_rows([0, -1, -1, -1, 2, 1, 2, 1])
    compare(rows, DIVISIONS, unlabelled=-1, ignored=-100)
    if shutil.which('mpirun'):
        compare(rows, RANKS[1:2], unlabelled=-1, ignored=-100)


def without_labels():
    """Some micro-batches count no rows, and one step counts none."""
    compare(make_rows([0, 0, 0, 0, 0, 0, 0, 2]), DIVISIONS)
    for division in DIVISIONS:
        found = train(make_rows([0, 0, 0, 0, 0, 0, 0, 0, 1, 2])[:8], division)
        assert all(pair == (0, 0) for pair in found), found


def ranks():
    compare(UNEVEN, RANKS)


def ranks_smoothed():
    compare(UNEVEN, RANKS[1:3], smoothing=0.25)


tests = [micro_batches, smoothed, all_counted, unlabelled, without_labels]
if shutil.which('mpirun'):
    tests += [ranks, ranks_smoothed]
with tempfile.TemporaryDirectory() as folder:
    # OpenMPI frees little at its end.
    os.environ.update(LIGATURE_STORE=folder + '/runs.db', XDG_DATA_HOME=folder, ASAN_OPTIONS='detect_leaks=0')
    os.chdir(folder)
    run(tests)
