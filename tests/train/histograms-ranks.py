#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Histograms of runs on several ranks contain each element of a weight or gradient once, whether
parameters, the update, or neither are sharded, and are those of one rank."""
import json

from layouts import MODELS, train
from ranks import LAYER, TIED, run, text
from sharded import SHARD

ALL = dict(MODELS, drawn=LAYER, shared=TIED)


def read(folder, name):
    said = json.loads(folder.lig('runs', 'show', name, '--histograms', '--json'))
    return {(one['parameter'], one['gradient']): one for one in said['histograms']}


def spread(one, step):
    """The counts of each bin, by sign and exponent. Values that are only rounding errors, such as
    the gradient of an attention layer's key bias, are one bin."""
    rms, found = one['rms'][step], {'small': one['zeros'][step]}
    for sign in ('positive', 'negative'):
        for exponent, count in zip(one['exponents'], one[sign][step]):
            key = (sign, exponent) if 2 ** exponent > 1e-4 * rms else 'small'
            found[key] = found.get(key, 0) + count
    return found


def equal(folder, model, layout, *more):
    """Sums over ranks are rounded differently, so that a few values change their bin."""
    words = (ALL[model], *text('8x7' if model == 'drawn' else '8x8', '--steps', 3, '--histograms', 2,
                               '--optimizer', 'sgd', '--lr', 0.1), *more)
    folder.train('one', 1, *words, '--name', 'one')
    train(folder, 'many', layout, *words, '--name', 'many')
    one, many = read(folder, 'one'), read(folder, 'many')
    assert list(one) == list(many) and len(one) >= 8, (list(one), list(many))
    for key, a in one.items():
        b = many[key]
        assert a['steps'] == b['steps'] == [2, 3], (key, a['steps'], b['steps'])
        assert a['elements'] == b['elements'], (key, a['elements'], b['elements'])
        for step in range(2):
            scale = max(abs(a['rms'][step]), 1e-6)
            for figure in ('min', 'max', 'mean', 'rms'):
                gap = abs(a[figure][step] - b[figure][step])
                assert gap <= 1e-4 * scale, (key, figure, a[figure], b[figure])
            here, there = spread(a, step), spread(b, step)
            assert sum(there.values()) == b['elements'], (key, there)
            moved = sum(abs(here.get(bin, 0) - there.get(bin, 0)) for bin in {*here, *there})
            assert moved <= 2 + 0.02 * a['elements'], (key, step, moved, a['elements'])


def losses(folder, layout, *more):
    """The losses are those without histograms, to the last bit."""
    words = (MODELS['layer'], *text('8x8', '--steps', 6), *more)
    plain, _ = train(folder, 'plain', layout, *words)
    counted, _ = train(folder, 'counted', layout, *words, '--histograms', 1)
    assert plain == counted and (6, 'loss') in plain


TESTS = [
    *((equal, *case) for case in (
        ('drawn', 'data=2'), ('shared', 'data=4'), ('layer', 'tensor=2'), ('llama', 'tensor=2'),
        ('layer', 'data=2,tensor=2'), ('sequence', 'data=2,tensor=2'), ('layer', 'context=2'),
        ('divided', 'data=4,expert=2'), ('divided', 'data=4,expert=2', SHARD),
        ('drawn', 'data=2', SHARD), ('shared', 'data=4', SHARD),
        ('layer', 'data=2,tensor=2', SHARD), ('sequence', 'data=2,tensor=2', SHARD),
        ('shared', 'data=2', '--accumulate', 2), ('layer', 'tensor=2', '--accumulate', 2))),
    (losses, 'data=2'), (losses, 'data=2,tensor=2', SHARD),
]

if __name__ == '__main__':
    run(TESTS)
