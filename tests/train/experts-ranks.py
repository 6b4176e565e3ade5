#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mixtures of experts on several ranks train what one rank trains, with a load-balancing loss whose
load is that of all rows, and record the same load and all dropped rows; ranks profile with it."""
import json

from layouts import train
from ranks import run, text

MODEL = ('embedding(16) ! transformer-layer(2, experts=6, expert-features=16, activation=swiglu, '
         'aux=0.1, z=0.01, bias=false) ! layer-norm ! linear(256) ! cross-entropy')


# The rows are divided among the ranks of a tensor group.
BY_ROWS = MODEL.replace('embedding(16) !', 'embedding(16) ! shard-rows !').replace(
    'bias=false)', 'bias=false, parallel=sequence) ! all-gather(gradient=part)')


def read(folder, name):
    return json.loads(folder.lig('runs', 'show', name, '--json'))['experts']


def equal(folder, layout, *more, model=MODEL):
    words = (model, *text('8x8', '--steps', 4, '--load-every', 2, '--lr', 0.01), *more)
    one, _ = train(folder, 'one', 'data=1', *words, '--name', 'one')
    many, _ = train(folder, 'many', layout, *words, '--name', 'many')
    for key, value in one.items():
        if key[1] in ('loss', 'eval-loss', 'gradient-norm'):
            assert abs(value - many[key]) <= 2e-5 * max(abs(value), 1), (key, value, many[key])
    a, b = read(folder, 'one')[0], read(folder, 'many')[0]
    assert a['steps'] == b['steps'] == [2, 4] and a['experts'] == b['experts'] == 6, (a, b)
    for here, there in zip(a['z'], b['z']):
        assert abs(here - there) <= 1e-4 * abs(here), (a['z'], b['z'])
    for here, there in zip(a['loads'], b['loads']):
        assert sum(here) == sum(there), (here, there)
        # Sums over ranks are rounded differently, so that a token may change its expert.
        assert sum(abs(x - y) for x, y in zip(here, there)) <= 4, (here, there)


def dropped(folder, layout, parts):
    """A capacity of one row for each expert and rank with other rows."""
    words = text('8x8', '--steps', 4, '--load-every', 2, '--lr', 0.01)
    train(folder, 'limited', layout, MODEL.replace('aux=0.1', 'capacity=0.0001'), *words,
          '--name', 'limited')
    series = read(folder, 'limited')[0]
    choices = sum(map(sum, series['loads']))
    # An expert keeps a row of each part in which a token selects it.
    kept = sum(parts * sum(load > 0 for load in loads) for loads in series['loads'])
    assert choices == 2 * 2 * 64, series
    assert choices - kept <= series['dropped'] < choices, (series, kept)
    if parts == 1:
        assert series['dropped'] == choices - kept, (series, kept)


def profiled(folder):
    """All ranks read the load of a run, though only the first one has a store."""
    words = (MODEL, *text('8x8', '--steps', 2, '--load-every', 1, '--lr', 0.01))
    train(folder, 'one', 'data=1', *words, '--name', 'one')
    for load in ('one', 'zipf:1'):
        profile = json.loads(folder.lig('profile', MODEL, '--input', '8x8:int32', '--device', 'cpu',
                                        '--steps', '2', '--ranks', '2', '--load', load, '--json'))
        run = json.loads(folder.lig('runs', 'show', 'one', '--json'))['run']
        assert profile['expert_load'] == (run if load == 'one' else load), profile['expert_load']


def replicated(folder, layout):
    """Ranks of a tensor group divide the heads, and each computes all experts."""
    shared = MODEL.replace('bias=false', 'shared-features=12, shared-gate=true')
    equal(folder, layout, model=shared)


def by_rows(folder, layout):
    equal(folder, layout, model=BY_ROWS)


TESTS = [(by_rows, 'tensor=2'), (by_rows, 'data=2,tensor=2'), (replicated, 'tensor=2'),
         (replicated, 'data=2,tensor=2'), (dropped, 'data=1', 1),
         (dropped, 'data=2', 2), (dropped, 'tensor=2', 1), (profiled,),
         (equal, 'data=2'), (equal, 'data=4'), (equal, 'context=2'),
         (equal, 'data=2', '--accumulate', 2)]

if __name__ == '__main__':
    run(TESTS)
