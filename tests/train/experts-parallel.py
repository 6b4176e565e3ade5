#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks that share the experts of mixtures train the same as one rank that has all of them, stop or
drop rows if one gets too many, and resume each other's checkpoints."""
import json
import pathlib
import sqlite3

from layouts import HEAD, MODELS, gradients, init, losses, resume_other, resume_same, train
from ranks import difference, run, text
from sharded import SHARD

TINY = pathlib.Path(__file__).parents[2] / 'data/examples/mixture-tiny.lig'
# Other options of the experts: {0} are those of the ranks.
OPTIONS = {
    'output': 'transformer-layer(4, experts=8, expert-features=16, activation=swiglu, aux=0.1, '
              'weights-at=output{0})',
    'relu': 'transformer-layer(4, experts=8, top-k=3, expert-features=16, activation=relu{0})',
    'balanced': 'transformer-layer(4, experts=4, expert-features=16, activation=swiglu, '
                'shared-features=24, router-score=sigmoid, balance=0.01{0})',
    'limited': 'transformer-layer(4, experts=8, expert-features=16, activation=swiglu, bias=false{0})',
}
DIVIDED = ', parallel=expert, exchange-capacity={}, overflow={}'


# The parts of a mixture; an op may be added after dispatch.
PARTS = ('embedding(32) ! make-extra-output(tokens) ! linear(8) ! '
         'router(2, weights=w, experts=e) ! load-branch(tokens) ! '
         'permute(8, experts=e, weights=w, offsets=o, places=p, scales=s) ! '
         'dispatch(capacity=8, offsets=o, scales=s, own-offsets=oo, own-scales=os, sent=st, '
         'received=r) ! {0}grouped-linear(48, groups=8, offsets=oo, parallel=expert) ! '
         'scaled-swiglu(scales=os) ! grouped-linear(32, groups=8, offsets=oo, parallel=expert) ! '
         'combine(sent=st, received=r) ! unpermute(places=p) ! ' + HEAD)


def model(name, capacity=8, overflow='stop'):
    return f'embedding(32) ! {OPTIONS[name].format(DIVIDED.format(capacity, overflow))} ! {HEAD}'


def equal(folder, name, layout, *more):
    words = (model(name), *text('8x8', '--steps', 20, '--eval-every', 10, '--clip', 0.5), *more)
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    found = difference(one, many)
    assert found < 1e-5, f'{found:.2g}, expected less than 1e-5'


def tiny(folder):
    """The example, with its experts on 2 and 4 ranks."""
    sequence = json.loads(TINY.read_text())
    sequence['ops'][1]['ops'][0].update(parallel='expert', **{'exchange-capacity': 4})
    (folder.path / 'tiny.lig').write_text(json.dumps(sequence))
    words = ('tiny.lig', *text('8x16', '--steps', 10, '--dtype', 'fp32'))
    one, _ = folder.train('one', 1, *words)
    for layout in ('data=2,expert=2', 'data=4,expert=2', 'data=4,expert=4'):
        many, _ = train(folder, 'many', layout, *words)
        found = difference({key: one[key] for key in one if key[1] != 'eval_accuracy'},
                           {key: many[key] for key in many if key[1] != 'eval_accuracy'})
        assert found < 1e-4, f'{found:.2g} with {layout}'


def stops(folder, *more):
    """A step that sends more rows than there is room for ends the run, on all ranks."""
    said = folder.lig('train', model('limited', 1), *text('8x8', '--steps', 4), '--ranks', 4,
                      '--parallel', 'data=4,expert=4', '--device', 'cpu', *more, fails=True)
    lines = [line for line in said.splitlines() if 'expert rank' in line]
    assert len(lines) == 1, said
    # 2 x 8 tokens of a rank with 2 experts each have 32 rows, 8 of them for each rank.
    words = lines[0].replace(',', '').split()
    assert int(words[words.index('is') + 1]) > 8 and 'capacity 1 has room for 8;' in lines[0], said


def drops(folder):
    """Rows that do not fit are omitted and counted; with enough room none are."""
    found = []
    for capacity in (1, 1.5, 4):
        words = (model('limited', capacity, 'drop'), *text('8x8', '--steps', 4))
        many, _ = train(folder, 'many', 'data=4,expert=4', *words)
        with sqlite3.connect(folder.path / 'store.db') as store:
            rows = store.execute("SELECT value FROM metric WHERE name = 'exchange-dropped' AND "
                                 "run = (SELECT max(run) FROM metric) ORDER BY step").fetchall()
        dropped = [value for value, in rows]
        assert len(dropped) == 4, dropped
        found.append((dropped, many[(4, 'loss')]))
    assert all(count > 0 for count in found[0][0]), found
    # 4 ranks have 128 rows in all.
    assert all(count < 64 for count in found[0][0]), found
    assert sum(found[1][0]) < sum(found[0][0]) and found[2][0] == [0, 0, 0, 0], found
    one, _ = folder.train('one', 1, *words)
    assert abs(one[(4, 'loss')] - found[2][1]) < 1e-4 and found[0][1] != found[2][1], (one, found)


def equal_parts(folder, layout):
    """The parts of the macro, with other ops between them."""
    words = (PARTS.format('rms-norm ! '), *text('8x8', '--steps', 10))
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    assert difference(one, many) < 1e-5, difference(one, many)


def rejected(folder, layout, ranks, sentence, sequence=None):
    said = folder.lig('train', sequence or MODELS['divided'], *text('8x8', '--steps', 2), '--device',
                      'cpu', '--ranks', ranks, '--parallel', layout, fails=True)
    assert sentence in said, said


TESTS = [
    (tiny,), (losses, 'divided', 'data=2,expert=2'), (losses, 'divided', 'data=4,expert=2'),
    (losses, 'divided', 'data=4,expert=4'), (gradients, 'divided', 'data=4,expert=2'),
    (gradients, 'divided', 'data=4,expert=4'), (equal, 'output', 'data=4,expert=2'),
    (equal, 'relu', 'data=4,expert=4'), (equal, 'balanced', 'data=4,expert=2'),
    (equal, 'output', 'data=2,expert=2', '--accumulate', 2),
    (equal, 'relu', 'data=4,expert=2', '--accumulate', 2, SHARD),
    (equal, 'output', 'data=4,expert=2', SHARD), (equal, 'relu', 'data=4,expert=4', SHARD),
    (equal, 'balanced', 'data=2,expert=2', '--recompute', 'all'),
    (equal, 'relu', 'data=2,expert=2', '--policy', 'none'),
    (init, 'divided', 'data=4,expert=2'), (resume_same, 'divided', 'data=4,expert=2'),
    (resume_other, 'divided', 'data=4,expert=2', 'data=1', 'data=2', 'data=4,expert=4'),
    (resume_other, 'divided', 'data=2', 'data=4,expert=4'),
    (stops,), (stops, '--accumulate', 2), (drops,),
    (rejected, 'data=4,expert=3', 4, 'expert is 3, expected a divisor of data, 4'),
    (rejected, 'data=2,expert=2,tensor=2', 4, 'expert is 2 and tensor is 2'),
    (rejected, 'data=2,expert=2,context=2', 4, 'expert is 2 and context is 2'),
    (rejected, 'data=4,expert=4', 4, 'experts is 6, expected a multiple of expert, 4',
     MODELS['divided'].replace('experts=8', 'experts=6')),
    (rejected, 'data=2,expert=2', 2, 'no op divides its experts', MODELS['layer']),
    (rejected, 'data=2,expert=2', 2, 'its recipe is fp8-rows, expected none with expert=2',
     MODELS['divided'].replace(HEAD, 'linear(256, recipe=fp8-rows) ! cross-entropy')),
    (rejected, 'data=2,expert=2', 2, 'dropout at 7: its input has the rows of all expert ranks (expert=2)',
     PARTS.format('dropout(0.1) ! ')),
    (rejected, 'data=2,expert=2', 2, 'grouped-linear at 7: its input has the rows of the groups of '
     'one expert rank (expert=2); set parallel=expert', PARTS.format('').replace(', parallel=expert', '')),
    (rejected, 'data=2,expert=2', 2, 'it may mix several; put combine before it',
     PARTS.format('all-reduce(group=data) ! ')),
    (rejected, 'data=2,expert=2', 2, 'linear at 7: its input has the rows of all expert ranks '
     '(expert=2), of which it may mix several; put combine before it', PARTS.format('linear(32) ! ')),
    *[(rejected, 'data=2,expert=2', 2, f'{name} at 7: the rows of its input are sorted by expert',
       PARTS.format(parts)) for name, parts in
      (('position-embedding', 'position-embedding(65536) ! '), ('rotary', 'rotary(2) ! '),
       ('attention', 'attention(2) ! '))],
    (rejected, 'data=2,expert=2', 2, 'put dispatch before it, or set parallel=none',
     PARTS.format('combine(sent=st, received=r) ! ')),
    (rejected, 'data=2,expert=2', 2, 'one of its input and scales has the rows of all expert ranks',
     PARTS.format('').replace('capacity=8', 'capacity=1').replace('scales=os)', 'scales=s)')),
    (equal_parts, 'data=2,expert=2'), (equal_parts, 'data=4,expert=4'),
]

if __name__ == '__main__':
    run(TESTS)
