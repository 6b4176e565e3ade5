#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mixtures of experts on several ranks train what one rank trains, with a load-balancing loss whose
load is that of all rows, and record the same load."""
import json

from layouts import train
from ranks import run, text

MODEL = ('embedding(16) ! transformer-layer(2, experts=6, expert-features=16, activation=swiglu, '
         'aux=0.1, z=0.01, bias=false) ! layer-norm ! linear(256) ! cross-entropy')


def read(folder, name):
    return json.loads(folder.lig('runs', 'show', name, '--json'))['experts']


def equal(folder, layout, *more):
    words = (MODEL, *text('8x8', '--steps', 4, '--load-every', 2, '--lr', 0.01), *more)
    one, _ = train(folder, 'one', 'data=1', *words, '--name', 'one')
    many, _ = train(folder, 'many', layout, *words, '--name', 'many')
    for key, value in one.items():
        if key[1] in ('loss', 'eval-loss', 'gradient-norm'):
            assert abs(value - many[key]) <= 2e-5 * max(abs(value), 1), (key, value, many[key])
    a, b = read(folder, 'one')[0], read(folder, 'many')[0]
    assert a['steps'] == b['steps'] == [2, 4] and a['experts'] == b['experts'] == 6, (a, b)
    for here, there in zip(a['loads'], b['loads']):
        assert sum(here) == sum(there), (here, there)
        # Sums over ranks are rounded differently, so that a token may change its expert.
        assert sum(abs(x - y) for x, y in zip(here, there)) <= 4, (here, there)


TESTS = [(equal, 'data=2'), (equal, 'data=4'), (equal, 'context=2'),
         (equal, 'data=2', '--accumulate', 2)]

if __name__ == '__main__':
    run(TESTS)
