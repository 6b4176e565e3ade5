#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks that shard parameters, rows or both train the same as one process."""
import json
import os
import shutil
import sqlite3
import subprocess

from ranks import LIG, difference, read, run, text

HEAD = 'linear(256) ! cross-entropy'
START = 'embedding(32) ! position-embedding(8) ! '
MLP = START + ('layer-norm ! linear(48, parallel=column{0}) ! gelu ! linear(32, parallel=row{0}) ! '
               + HEAD)
GATED = START + ('linear(96, parallel=column, sections=[1, 1]) ! swiglu ! '
                 'linear(32, parallel=row, bias=false) ! ' + HEAD)
LAYER = START + ('transformer-layer(4, hidden-dropout=0.1, attention-dropout=0.2, drop-path=0.2) ! '
                 'transformer-layer(4) ! ' + HEAD)
LLAMA = START + ('transformer-layer(8, kv-heads=4, activation=swiglu, normalization=rms-norm, '
                 'bias=false, rotary=true, qk-norm=rms, attention-dropout=0.1, ffn-features=56) ! '
                 'rms-norm ! ' + HEAD)
ALIBI = START + 'transformer-layer(4, alibi=true, parallel-attention-mlp=true) ! ' + HEAD
MASKED = START + ('transformer-layer(4, activation=geglu, ffn-features=64, residual-post-norm=true, window=3) '
                  '! multi-head-attention(4) ! layer-norm-mlp(64) ! layer-norm-linear(40, parallel=none) '
                  '! ' + HEAD)
TIED = ('embedding(32) ! transformer-layer(4) ! layer-norm ! '
        'linear(256, bias=false, tied=0) ! cross-entropy')
BY_ROWS = 'embedding(32) ! position-embedding(8) ! shard-rows ! {} ! all-gather(gradient=part) ! ' + HEAD
SEQUENCE = BY_ROWS.format(
    'dropout(0.2) ! transformer-layer(4, parallel=sequence, hidden-dropout=0.1, '
    'attention-dropout=0.2) ! layer-norm')
SEQUENCE_LLAMA = BY_ROWS.format(
    'transformer-layer(8, kv-heads=4, parallel=sequence, activation=swiglu, '
    'normalization=rms-norm, bias=false, rotary=true, drop-path=0.2) ! rms-norm')

CROSS = START + ('make-extra-output(m) ! layer-norm ! multi-head-attention(4, memory=m) ! '
                 'transformer-layer(4, layer-type=decoder, memory=m) ! ' + HEAD)

EXPERTS = ('transformer-layer(4, experts=6, expert-features=16, activation=swiglu, '
           'router-score=sigmoid, balance=0.01{})')
BALANCED = START + EXPERTS.format('') + ' ! ' + HEAD
BALANCED_BY_ROWS = BY_ROWS.format(EXPERTS.format(', parallel=sequence'))

# Each rank has some of the experts; the room is for all rows, as on one rank.
DIVIDED = ('embedding(32) ! position-embedding(8) ! '
           'transformer-layer(4, experts=8, expert-features=16, activation=swiglu, aux=0.1, z=0.01, '
           'parallel=expert, exchange-capacity=8) ! ' + HEAD)

# Only a vocabulary is sharded: of an embedding, and of the head before the loss.
BODY = ' ! transformer-layer(4) ! layer-norm ! '
UNTIED = 'embedding(32, parallel=vocabulary)' + BODY + ('linear(256, parallel=column) ! '
                                                        'cross-entropy(label-smoothing=0.2)')
# 101 is e, the most frequent letter.
IGNORED = TIED.replace('cross-entropy', 'cross-entropy(ignored=101, label-smoothing=0.1)')
WHOLE = 'embedding(32, parallel=none)' + BODY + 'linear(256, parallel=none) ! cross-entropy'
ODD = 'embedding(32, vocabulary=257)' + BODY + 'linear(257, bias=false, tied=0) ! cross-entropy'
# The logits are scaled before the loss, so that the linear is not a head, and all have the embedding.
SCALED = TIED.replace('cross-entropy', 'constant-scale(0.5) ! cross-entropy')
SEQUENCE_HEAD = ('embedding(32) ! position-embedding(8) ! shard-rows ! '
                 'transformer-layer(4, parallel=sequence) ! layer-norm ! '
                 'linear(256, bias=false, tied=0, sequence-parallel=true) ! '
                 'cross-entropy(label-smoothing=0.1)')
NORMED = 'embedding(32)' + BODY + 'layer-norm-linear(256) ! cross-entropy'

MODELS = {'untied': UNTIED, 'whole': WHOLE, 'odd': ODD, 'scaled': SCALED,
          'sequence-head': SEQUENCE_HEAD, 'normed': NORMED, 'cross': CROSS, 'mlp': MLP.format(''), 'mlp-by-rows': BY_ROWS.format(
              'layer-norm ! linear(48, parallel=column, sequence-parallel=true) ! gelu ! '
              'linear(32, parallel=row, sequence-parallel=true) ! rms-norm'),
          'gated': GATED, 'layer': LAYER, 'llama': LLAMA, 'alibi': ALIBI, 'masked': MASKED,
          'tied': TIED, 'balanced': BALANCED, 'divided': DIVIDED, 'balanced-by-rows': BALANCED_BY_ROWS, 'sequence': SEQUENCE, 'sequence-llama': SEQUENCE_LLAMA}


SHAPE = '8x8'


def count(layout):
    """The number of ranks of a parallelism; expert ranks are data ranks."""
    ranks = 1
    for word in layout.split(','):
        group, size = word.split('=')
        ranks *= 1 if group == 'expert' else int(size)
    return ranks


def train(folder, name, layout, *words):
    return folder.train(name, count(layout), *words, '--parallel', layout)


def losses(folder, model, layout):
    """Losses, validation losses and norms of 50 steps."""
    words = (MODELS[model], *text(SHAPE, '--steps', 50, '--eval-every', 20, '--clip', 0.5))
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    found = difference(one, many)
    assert found < 1e-5, f'{found:.2g}, expected less than 1e-5'


def ignored(folder, layout, *more):
    """Each rank counts another number of rows, and the last validation batch is incomplete."""
    words = (IGNORED, *text('8x8', '--steps', 50, '--eval-every', 20, '--clip', 0.5), *more)
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    found = difference(one, many)
    assert found < 1e-5, f'{found:.2g}, expected less than 1e-5'


def gradients(folder, model, layout):
    """A step of sgd at rate 1 subtracts the gradients; checkpoints have unsharded parameters."""
    words = (MODELS[model], *text(SHAPE, '--steps', 1, '--optimizer', 'sgd', '--lr', 1))
    one = read(folder.train('one', 1, *words)[1])
    many = read(train(folder, 'many', layout, *words)[1])
    assert one.keys() == many.keys()
    for name, values in one.items():
        most = max(map(abs, values))
        assert len(values) == len(many[name]), name
        for a, b in zip(values, many[name]):
            assert abs(a - b) <= 1e-5 * max(most, 1e-3), f'{name}: {a} and {b} of {most}'


def accumulate(folder, model, layout):
    words = (MODELS[model], *text(SHAPE, '--steps', 12, '--accumulate', 3, '--clip', 0.1))
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    assert difference(one, many) < 1e-5, difference(one, many)


def bits_16(folder, model, layout, dtype):
    """16-bit terms are rounded before they are added."""
    words = (MODELS[model], *text(SHAPE, '--steps', 20, '--dtype', dtype))
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    one, many = ({key: m[key] for key in m if key[1] == 'loss'} for m in (one, many))
    assert difference(one, many) < 0.002, difference(one, many)


def resume_same(folder, model, layout):
    """Half of the steps, then the others with the same parallelism: the same bits."""
    words = (MODELS[model], *text(SHAPE, '--checkpoint-every', 100))
    whole, end = train(folder, 'whole', layout, *words, '--steps', 12)
    train(folder, 'half', layout, *words, '--steps', 6)
    rest, _ = train(folder, 'rest', layout, '--resume', 'half.safetensors', '--steps', 12)
    assert all(whole[key] == value for key, value in rest.items()) and (12, 'loss') in rest
    assert read(end) == read(folder.path / 'half.safetensors')


def recorded_ranks(folder):
    """The ranks of the newest run, which those that continue it replace."""
    return folder.lig('runs', 'list', '--columns', 'ranks').splitlines()[1].strip()


def resume_other(folder, model, layout, *others):
    """A checkpoint does not depend on the parallelism."""
    words = (MODELS[model], *text(SHAPE))
    whole, _ = folder.train('whole', 1, *words, '--steps', 12)
    train(folder, 'half', layout, *words, '--steps', 6)
    for other in others:
        shutil.copy(folder.path / 'half.safetensors', folder.path / 'copy.safetensors')
        rest, _ = train(folder, 'rest', other, '--resume', 'copy.safetensors', '--steps', 12)
        found = difference({key: whole[key] for key in rest if key[1] == 'loss'},
                           {key: value for key, value in rest.items() if key[1] == 'loss'})
        assert found < 1e-5, f'{found:.2g} with {other}'
        assert recorded_ranks(folder) == (str(count(other)) if count(other) > 1 else '-'), other


def init(folder, model, layout):
    """Parameters of a checkpoint of one process are sharded when they are read."""
    words = (MODELS[model], *text(SHAPE))
    _, start = folder.train('start', 1, *words, '--steps', 3)
    one, _ = folder.train('one', 1, *words, '--steps', 5, '--init', start)
    many, _ = train(folder, 'many', layout, *words, '--steps', 5, '--init', start)
    assert difference(one, many) < 1e-5, difference(one, many)


def correction(folder, model, layout, *more):
    """The corrections of a router do not depend on the parallelism, and all ranks have the same."""
    words = (MODELS[model], *text('8x8', '--steps', 10, '--lr', 1e-4), *more)
    one = read(folder.train('one', 1, *words)[1])
    _, end = train(folder, 'many', layout, *words)
    many = read(end)
    names = [name for name in one if name.endswith('correction')]
    assert names == [name for name in many if name.endswith('correction')] and len(names) == 1
    assert one[names[0]] == many[names[0]] and any(one[names[0]]), (one[names[0]], many[names[0]])
    # Each rank continues with its own correction, which decides its losses.
    whole, _ = train(folder, 'whole', layout, MODELS[model], *text('8x8', '--steps', 20, '--lr', 1e-4), *more)
    rest, _ = train(folder, 'rest', layout, '--resume', end, '--steps', 20)
    assert all(whole[key] == value for key, value in rest.items()) and (20, 'loss') in rest


BY_ROWS_FUSIONS = ('forward-all-gather-linear', 'forward-linear-reduce-scatter',
                   'backward-linear-reduce-scatter', 'backward-all-gather-linear')
FUSIONS = ('forward-linear-all-reduce', 'backward-linear-all-reduce')


def exchanges(folder, model, layout, fusions):
    """The numbers of collectives of groups of the first of the fusions, which are all taken."""
    plan = folder.lig('fuse', MODELS[model], '--input', f'{SHAPE}:int32', '--device', 'null',
                      '--policy', 'all', '--ranks', count(layout), '--parallel', layout, '--json')
    plan = json.loads(plan)
    taken = {verdict['fusion'] for verdict in plan['verdicts'] if verdict['taken']}
    assert taken.issuperset(fusions), taken
    return {sum(kernel in ('ring_exchange', 'all_reduce') for kernel in group['kernels'])
            for group in plan['forward'] if group['fusion'] == fusions[0]}


def overlapping(folder, model, layout, *more):
    """Matmuls that overlap their collectives compute the same as unfused ones, in any number of
    parts."""
    words = (MODELS[model], *text(SHAPE, '--steps', 20, '--clip', 0.5), *more, '--policy', 'all')
    by_rows = 'shard-rows' in MODELS[model]
    fusions, others = BY_ROWS_FUSIONS if by_rows else FUSIONS, int(layout.split('tensor=')[1]) - 1
    apart, _ = train(folder, 'apart', layout, *words,
                     *(word for name in fusions for word in ('--forbid', name)))
    for pieces in 1, 2, 4:
        os.environ['LIGATURE_PIECES'] = str(pieces)
        try:
            assert exchanges(folder, model, layout, fusions) == {pieces * others if by_rows else max(pieces, 2)}
            together, _ = train(folder, 'together', layout, *words)
        finally:
            del os.environ['LIGATURE_PIECES']
        assert difference(together, apart) < 1e-5, difference(together, apart)


def write_prices(folder, name, ring, others):
    """A copy of the store in which steps with ring collectives take this many microseconds."""
    shutil.copy(folder.path / 'store.db', folder.path / name)
    with sqlite3.connect(folder.path / name) as store:
        for sign, price in ('', ring), ('NOT', others):
            store.execute('UPDATE tuning SET microseconds = ?, noise = 0 WHERE microseconds > 0 '
                          f"AND key {sign} LIKE '%|%ring_exchange%'", [price])
        rings, = store.execute("SELECT count(*) FROM tuning WHERE key LIKE '%ring_exchange%'").fetchone()
    store.close()
    assert rings > 0


def launch_two(folder, words, *environments):
    """Starts two ranks with separate environments."""
    command = ['timeout', '-k', '5', '60', 'mpirun', '--oversubscribe', '--bind-to', 'none',
               '--allow-run-as-root']
    for number, environment in enumerate(environments):
        command += [':'] * number + [
            '-n', '1', 'env', *environment, LIG, 'train', *map(str, words), '--device', 'cpu',
            '--parallel', 'tensor=2', '--checkpoint', 'other.safetensors', '--quiet']
    return subprocess.run(command, cwd=folder.path, text=True, capture_output=True,
                          env=dict(os.environ, HOME=str(folder.path), OMP_NUM_THREADS='1',
                                   ASAN_OPTIONS='detect_leaks=0',  # those of OpenMPI
                                   LIGATURE_STORE=str(folder.path / 'store.db')))


def disagree(folder, model):
    """Two ranks whose stores have different times choose the same groups, also in evaluations."""
    words = (MODELS[model], *text(SHAPE, '--steps', 6, '--eval-every', 2, '--policy', 'measured'))
    train(folder, 'first', 'tensor=2', *words)
    write_prices(folder, 'quick.db', 1e-3, 1e6)
    write_prices(folder, 'slow.db', 1e6, 1e-3)
    for stores in ('quick', 'slow'), ('slow', 'quick'):
        done = launch_two(folder, words, *([f'LIGATURE_STORE={store}.db'] for store in stores))
        assert done.returncode == 0, f'{stores}: {done.returncode}: {done.stderr}'
        assert len(read(folder.path / 'other.safetensors')) == len(read(folder.path / 'first.safetensors'))


def recipe(folder, model, layout, name):
    """Matmuls of ranks that read quantized copies train what those of one rank train, but for the
    amaxes of parts, and what they train apart from their collectives, but for rounding."""
    words = (MODELS[model], *text(SHAPE, '--steps', 12, '--recipe', name, '--dtype', 'bf16:fp32',
                                  '--policy', 'all'))
    fusions = BY_ROWS_FUSIONS if 'shard-rows' in MODELS[model] else FUSIONS
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    apart, _ = train(folder, 'apart', layout, *words,
                     *(word for fusion in fusions for word in ('--forbid', fusion)))
    losses = [{key: run[key] for key in run if key[1] == 'loss'} for run in (many, one, apart)]
    for other, limit in (losses[1], 0.02), (losses[2], 1e-3):
        found = difference(other, losses[0])
        assert found < limit, f'{found:.2g}, expected less than {limit}'


def rest(folder, layout):
    """An incomplete last validation batch, which ranks cannot shard by rows, counts like on one
    rank."""
    words = ('linear(4) ! shard-rows ! layer-norm ! all-gather(gradient=part) ! mean-squared-error',
             '--input', '8x4', '--data', 'synthetic?samples=61&validation=0.3', '--steps', 1)
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    assert difference(one, many) < 1e-5, difference(one, many)


def data_exchange(folder):
    """Ranks without an incomplete batch skip a collective among data ranks; no rank waits for
    them."""
    folder.train('many', 2, 'linear(8) ! all-reduce(group=data) ! mean-squared-error', '--input',
                 '8x8', '--data', 'synthetic?samples=26&validation=0.7', '--steps', 2)


def data_parts(folder, layout):
    """Between a gather and its shard-rows all rows are computed, and each rank trains its own."""
    model = 'linear(4) ! all-gather(group=data) ! linear(6) ! gelu ! shard-rows(group=data) ! linear(3) ! mean-squared-error'
    words = (model, '--input', '8x6', '--data', 'synthetic?validation=0', '--steps', 20, '--lr', 0.01, '--clip', 0.5)
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words)
    assert difference(one, many) < 1e-5, difference(one, many)


def data_sum(folder):
    """A sum over data ranks, each with a loss of its own, trains as one that is scattered and gathered,
    whose gradients are those of its parts. Initial values depend on places, so both have two ops."""
    model = 'linear(4) ! gelu ! %s ! linear(3) ! mean-squared-error'
    words = ('--input', '8x6', '--data', 'synthetic', '--steps', 20, '--lr', 0.01)
    whole, _ = folder.train('whole', 2, model % 'all-reduce(group=data) ! identity', *words)
    parts, _ = folder.train('parts', 2, model % 'reduce-scatter(group=data) ! all-gather(group=data)',
                            *words)
    assert difference(whole, parts) < 1e-5, difference(whole, parts)


def other_parts(folder, model):
    """Ranks that would communicate rows in other parts than rank 0 report that instead of
    hanging."""
    words = (MODELS[model], *text(SHAPE, '--steps', 2, '--policy', 'all'))
    done = launch_two(folder, words, ['LIGATURE_PIECES=2'], ['LIGATURE_PIECES=4'])
    lines = [line for line in done.stderr.splitlines() if 'the groups of the plan' in line]
    assert done.returncode not in (0, 124, 137) and lines, f'{done.returncode}: {done.stderr}'


def export(folder, model, layout):
    """Several ranks write the same weight file as one."""
    words = (MODELS[model], *text('8x8', '--steps', 3))
    folder.train('one', 1, *words)
    train(folder, 'many', layout, *words)
    for name in ('one', 'many'):
        folder.lig('export-weights', f'{name}.safetensors', '-o', f'{name}-weights.safetensors')
    one, many = (read(folder.path / f'{name}-weights.safetensors') for name in ('one', 'many'))
    assert one.keys() == many.keys() and '0.weight' in one
    for name, values in one.items():
        assert len(values) == len(many[name]), name
        assert all(abs(a - b) <= 1e-4 for a, b in zip(values, many[name])), name


def reject(folder, model, layout, *said):
    words = (model, *text(SHAPE, '--steps', 1, '--device', 'cpu', '--parallel', layout,
                          '--ranks', count(layout)))
    lines = folder.lig('train', *words, fails=True).splitlines()
    assert any(all(part in line for part in said) for line in lines), lines


TESTS = [
    *((losses, model, layout) for model, layout in (
        ('mlp', 'tensor=2'), ('mlp', 'tensor=4'), ('mlp-by-rows', 'tensor=2'),
        ('gated', 'tensor=4'), ('layer', 'tensor=2'), ('layer', 'tensor=4'),
        ('layer', 'data=2,tensor=2'), ('llama', 'tensor=2'), ('llama', 'tensor=4'),
        ('alibi', 'tensor=2'), ('cross', 'tensor=2'), ('masked', 'tensor=2'), ('tied', 'data=2,tensor=2'),
        ('sequence', 'tensor=2'), ('sequence', 'tensor=4'), ('sequence', 'data=2,tensor=2'),
        ('sequence-llama', 'tensor=2'), ('sequence-llama', 'data=2,tensor=2'),
        ('tied', 'tensor=2'), ('tied', 'tensor=4'), ('untied', 'tensor=2'), ('untied', 'tensor=4'),
        ('untied', 'data=2,tensor=2'), ('whole', 'tensor=2'), ('odd', 'tensor=2'), ('scaled', 'tensor=2'),
        ('sequence-head', 'tensor=2'), ('sequence-head', 'data=2,tensor=2'),
        ('normed', 'tensor=4'))),
    *((gradients, model, layout) for model, layout in (
        ('layer', 'tensor=2'), ('llama', 'tensor=4'), ('masked', 'tensor=4'),
        ('sequence', 'data=2,tensor=2'), ('sequence-llama', 'tensor=4'), ('tied', 'tensor=4'),
        ('untied', 'data=2,tensor=2'), ('sequence-head', 'tensor=4'))),
    *((ignored, layout) for layout in ('tensor=2', 'tensor=4', 'data=2', 'data=4', 'data=2,tensor=2')),
    (ignored, 'data=2', '--force', 'joint-linear-cross-entropy@3'), (ignored, 'data=4', '--accumulate', 2),
    (accumulate, 'layer', 'data=2,tensor=2'), (bits_16, 'layer', 'tensor=2', 'bf16:fp32'),
    (accumulate, 'tied', 'tensor=2'), (bits_16, 'tied', 'tensor=2', 'bf16:fp32'),
    (bits_16, 'untied', 'tensor=2', 'fp16:fp32'),
    (resume_same, 'layer', 'tensor=2'), (resume_same, 'sequence', 'data=2,tensor=2'),
    (resume_other, 'layer', 'data=2,tensor=2', 'data=1', 'data=4', 'tensor=4'),
    (correction, 'balanced', 'data=2'), (correction, 'balanced', 'data=4', '--shard-optimizer'),
    (correction, 'balanced', 'data=2', '--dtype', 'bf16:fp32', '--accumulate', 2),
    (correction, 'balanced', 'tensor=2'), (correction, 'balanced', 'context=2'),
    (correction, 'balanced-by-rows', 'tensor=2'), (correction, 'balanced-by-rows', 'data=2,tensor=2'),
    (resume_same, 'untied', 'tensor=2'), (resume_other, 'tied', 'tensor=2', 'data=1', 'tensor=4'),
    (overlapping, 'sequence', 'tensor=2'), (overlapping, 'sequence-llama', 'tensor=4'),
    (overlapping, 'sequence', 'data=2,tensor=2'), (overlapping, 'layer', 'tensor=2'),
    (overlapping, 'llama', 'tensor=4'), (overlapping, 'mlp', 'data=2,tensor=2'),
    (overlapping, 'sequence', 'data=2,tensor=2', '--shard-optimizer', '--accumulate', 2),
    (recipe, 'layer', 'tensor=2', 'fp8-delayed'), (recipe, 'layer', 'tensor=2', 'fp8-rows'),
    (recipe, 'sequence', 'tensor=2', 'fp8-current'),
    (rest, 'tensor=2'), (rest, 'data=2,tensor=2'), (data_exchange,), (data_sum,),
    (data_parts, 'data=2'), (data_parts, 'data=4'), (data_parts, 'data=2,tensor=2'),
    (other_parts, 'sequence'), (disagree, 'sequence'), (init, 'llama', 'tensor=2'), (init, 'tied', 'tensor=4'), (export, 'tied', 'data=2,tensor=2'),
    (reject, START + 'all-gather(group=data) ! ' + HEAD, 'data=2', 'all-gather at 2', 'data=2', 'shard-rows'),
    (reject, START + 'all-reduce(group=data, of=gradient) ! ' + HEAD, 'data=2', 'of=gradient', 'data=2', 'of=output'),
    (reject, START + 'all-gather(group=data, gradient=part) ! shard-rows(group=data) ! ' + HEAD, 'data=2', 'gradient=part', 'data=2'),
    (reject, START + 'transformer-layer(3, head-features=8) ! ' + HEAD, 'tensor=2', 'heads', '3', '2'),
    (reject, START + 'transformer-layer(4, kv-heads=2) ! ' + HEAD, 'tensor=4', 'kv-heads', '2', '4'),
    (reject, START + 'linear(33, parallel=column) ! linear(32, parallel=row) ! ' + HEAD, 'tensor=2',
     'out-features', '33', '2'),
    (reject, 'embedding(32, vocabulary=257, parallel=vocabulary) ! ' + HEAD, 'tensor=2',
     'embedding at 0', 'vocabulary', '257', '2'),
    (reject, 'embedding(32, vocabulary=255) ! linear(257, parallel=column) ! cross-entropy', 'tensor=2',
     'linear at 1', 'out-features', '257', '2'),
    (reject, 'embedding(32, parallel=vocabulary) ! linear(256, bias=false, tied=0, parallel=none) ! '
     'cross-entropy', 'tensor=2', 'linear at 1', '0.weight', 'same parallel'),
    (reject, START + 'linear(256, parallel=column, sections=[1, 1]) ! cross-entropy', 'tensor=2',
     'cross-entropy at 3', 'columns'),
    (reject, START + 'linear(64, parallel=column) ! layer-norm ! ' + HEAD, 'tensor=2', 'parallel=row'),
]

if __name__ == '__main__':
    run(TESTS)
