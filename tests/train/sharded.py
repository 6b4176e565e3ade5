#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks that shard the optimizer state (--shard-optimizer) train the same as others."""
import json
import pathlib
import shutil
import struct
import sys

from layouts import HEAD, MODELS, train
from ranks import Folder, LAYER, LIG, MLP, TIED, VALUES, difference, run, text

SHARD = '--shard-optimizer'
WIDE = 'linear(2048) ! relu ! linear(2048) ! relu ! linear(2048) ! mean-squared-error'
ALL = dict(MODELS, tokens=MLP, drawn=LAYER, shared=TIED, values=VALUES)


def data(model, *words):
    return text('8x7' if model == 'drawn' else '8x8', *words)


def tensors(path):
    """The types and bytes of the tensors of a safetensors file."""
    content = pathlib.Path(path).read_bytes()
    size, = struct.unpack('<Q', content[:8])
    head, data = json.loads(content[8:8 + size]), content[8 + size:]
    return {name: (entry['dtype'], data[slice(*entry['data_offsets'])])
            for name, entry in head.items() if name != '__metadata__'}


def only(numbers, *keys):
    return {key: value for key, value in numbers.items() if key[1] in keys}


def losses(folder, model, layout, *more):
    """Losses, validation losses and norms of 50 steps, against one rank."""
    words = (ALL[model], *data(model, '--steps', 50, '--eval-every', 20, '--clip', 0.5), *more)
    one, _ = folder.train('one', 1, *words)
    many, _ = train(folder, 'many', layout, *words, SHARD)
    found = difference(one, many)
    assert found < 1e-5, f'{found:.2g}, expected less than 1e-5'


def equal(folder, model, layout, *more):
    """Without clipping, compared with unsharded ranks: the same bits in every loss, and in the
    checkpoint in every parameter, moment and master weight."""
    place = ('--data', 'csv:table.csv?target=y', '--batch', 16, '--seed', 3)
    words = (ALL[model], *(place if model == 'values' else data(model)), '--steps', 12,
             '--eval-every', 5, *more)
    whole, end = train(folder, 'whole', layout, *words)
    parts, other = train(folder, 'parts', layout, *words, SHARD)
    keys = ('loss', 'eval_loss', 'eval_accuracy')
    assert only(whole, *keys) == only(parts, *keys) and (12, 'loss') in whole
    assert difference(whole, parts) < 1e-5, difference(whole, parts)
    whole, parts = tensors(end), tensors(other)
    assert whole.keys() == parts.keys(), whole.keys() ^ parts.keys()
    different = [name for name in whole if whole[name] != parts[name]]
    assert not different, different


def buckets(folder):
    """Several ranges of 25 MiB: shards begin and end within parameters."""
    words = (WIDE, '--data', 'synthetic', '--input', '4x2048', '--seed', 3, '--steps', 2)
    _, end = folder.train('whole', 2, *words)
    _, other = folder.train('parts', 2, *words, SHARD)
    whole, parts = tensors(end), tensors(other)
    moments = [name for name in whole if name.startswith('optimizer.moment.')]
    assert len(moments) == 6 and whole.keys() == parts.keys()
    assert all(whole[name] == parts[name] for name in whole)


WEIGHTS = 'linear(512) ! gelu ! linear(512) ! relu ! linear(512) ! linear(512) ! mean-squared-error'


def count_collectives(folder, *words):
    said = folder.lig('fuse', WEIGHTS, '--input', '8x512', '--device', 'null', '--ranks', 2,
                      '--json', *words)
    found = json.loads(said)['ranks']
    return found['collectives'], found['bucket_bytes'] >> 20


def small_buckets(folder, *more):
    """Four weights of 1 MiB and the biases: five collectives with the smallest buckets, else two.
    The losses are those of one rank, and a checkpoint can be resumed with any."""
    assert count_collectives(folder) == (2, 25)
    assert count_collectives(folder, '--bucket-size', 1) == (5, 1)
    assert count_collectives(folder, '--bucket-size', 2) == (3, 2)
    words = (WEIGHTS, '--data', 'synthetic', '--input', '8x512', '--seed', 3, '--clip', 0.5)
    one, _ = folder.train('one', 1, *words, '--steps', 8)
    for size in (1, 2, 1024):
        many, _ = folder.train(f'many{size}', 2, *words, '--steps', 8, '--bucket-size', size, *more)
        assert difference(one, many) < 1e-5, (size, difference(one, many))
    folder.train('half', 2, *words, '--steps', 4, '--bucket-size', 1, *more)
    for other in ((), ('--bucket-size', 3), ('--bucket-size', 1024), ('--no-shard-optimizer',)):
        shutil.copy(folder.path / 'half.safetensors', folder.path / 'copy.safetensors')
        rest, _ = folder.train('rest', 2, '--resume', 'copy.safetensors', '--steps', 8, *other)
        assert (8, 'loss') in rest
        assert difference({key: one[key] for key in rest}, rest) < 1e-5, other


def recorded_buckets(folder):
    """The run's record has the size, also if resumed or repeated; invalid sizes are rejected."""
    words = (MLP, *text('8x8', '--steps', 4), '--ranks', 2, '--device', 'cpu', '--json')
    run = json.loads(folder.lig('train', *words, '--bucket-size', 2))['run']
    folder.lig('train', '--resume', run, '--steps', 6, '--ranks', 2)
    settings = json.loads(folder.lig('runs', 'show', run, '--json'))['settings']
    assert settings['bucket-size'] == 2 and settings['steps'] == 6, settings
    said = json.loads(folder.lig('runs', 'repeat', run, '--json'))
    assert json.loads(folder.lig('runs', 'show', said['run'], '--json'))['settings'][
        'bucket-size'] == 2
    for command in (('train', *words), ('fuse', WEIGHTS, '--input', '8x512', '--device', 'null')):
        for wrong in (0, -1, 1025, 1.5, 'x'):
            said = folder.lig(*command, f'--bucket-size={wrong}', fails=True)
            assert f"--bucket-size is '{wrong}', expected a whole number from 1 to 1024" in said, said


def skipped(folder, ranks):
    """An overflow in the shard of one rank skips the update of all."""
    rows = [f'{i % 7},{i * i % 5},{3000 * (i % 7)}' for i in range(203)]
    (folder.path / 'large.csv').write_text('a,b,y\n' + '\n'.join(rows) + '\n')
    found = []
    for more in ((), (SHARD,)):
        said = folder.lig('train', VALUES, '--data', 'csv:large.csv?target=y', '--batch', 16,
                          '--steps', 24, '--dtype', 'fp16', '--device', 'cpu', '--ranks', ranks,
                          '--seed', 3, '--lr', 0.01, '--json', *more)
        found.append(json.loads(said))
    names = ('skipped_updates', 'loss_scale', 'loss', 'eval')
    assert 0 < found[0]['skipped_updates'] < 24, found[0]
    assert [found[0][name] for name in names] == [found[1][name] for name in names], found


def resume_same(folder, model, layout, *more):
    """Half of the steps, then the others with the same parallelism: the same bits."""
    words = (ALL[model], *data(model, '--checkpoint-every', 100, '--clip', 0.5), SHARD, *more)
    whole, end = train(folder, 'whole', layout, *words, '--steps', 12)
    train(folder, 'half', layout, *words, '--steps', 6)
    # The checkpoint says that the optimizer is sharded.
    rest, _ = train(folder, 'rest', layout, '--resume', 'half.safetensors', '--steps', 12)
    assert all(whole[key] == value for key, value in rest.items()) and (12, 'loss') in rest
    assert tensors(end) == tensors(folder.path / 'half.safetensors')


def resume_other(folder, model, layout, first, others):
    """A checkpoint depends neither on the parallelism nor on the sharding of optimizer state."""
    words = (ALL[model], *text('8x8'))
    whole, _ = folder.train('whole', 1, *words, '--steps', 12)
    train(folder, 'half', layout, *words, '--steps', 6, *first)
    for other, *more in others:
        shutil.copy(folder.path / 'half.safetensors', folder.path / 'copy.safetensors')
        rest, _ = train(folder, 'rest', other, '--resume', 'copy.safetensors', '--steps', 12, *more)
        found = difference(only({key: whole[key] for key in rest}, 'loss'), only(rest, 'loss'))
        assert found < 1e-5 and (12, 'loss') in rest, f'{found:.2g} with {other} {more}'


def recorded(folder):
    """The run's record has the setting, also of a run that is resumed without the option."""
    words = (MLP, *text('8x8', '--steps', 4), '--ranks', 2, '--device', 'cpu', '--json')
    run = json.loads(folder.lig('train', *words, SHARD))['run']
    folder.lig('train', '--resume', run, '--steps', 6, '--ranks', 2)
    settings = json.loads(folder.lig('runs', 'show', run, '--json'))['settings']
    assert settings['shard-optimizer'] == 1 and settings['steps'] == 6, settings
    # On one rank the setting has no effect, and the result is that of one rank.
    said = json.loads(folder.lig('runs', 'repeat', run, '--json'))
    again = json.loads(folder.lig('runs', 'show', said['run'], '--json'))['settings']
    assert again['shard-optimizer'] == 1, again


def alone(folder):
    """With one data rank nothing is sharded; the option does not change any bit."""
    for layout in ('data=1', 'tensor=2'):
        words = (ALL['layer'], *text('8x8', '--steps', 5))
        whole, end = train(folder, 'whole', layout, *words)
        parts, other = train(folder, 'parts', layout, *words, SHARD)
        assert whole == parts and tensors(end) == tensors(other), layout


# Run in a process of its own: the largest process that it waited for.
MEASURE = '''
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open('most.txt', 'w'))
sys.exit(done.returncode)
'''


def memory(folder, ranks):
    """A rank needs less memory: three quarters of two arrays of 21 MB."""
    model = 'embedding(64) ! linear(16384) ! relu ! ' + HEAD
    most = []
    for more in ((), (SHARD,)):
        folder.measure('train', model, *text('8x8', '--steps', 2), '--ranks', ranks, '--device',
                       'cpu', *more)
        most.append(int((folder.path / 'most.txt').read_text()))
    assert most[0] - most[1] > 22000, f'{most[0]} and {most[1]} KiB'


class Measuring(Folder):
    def measure(self, *words):
        import ranks
        lig = ranks.LIG
        ranks.LIG = sys.executable
        try:
            self.lig('-c', MEASURE, lig, *words)
        finally:
            ranks.LIG = lig


def rejected(folder):
    """Master weights that are the only copy of the weights are on each rank."""
    said = folder.lig('train', MLP, *text('16x8', '--steps', 2), '--dtype', 'bf16:fp8', '--recipe',
                      'fp8-current', '--device', 'cpu', '--ranks', 2, SHARD, fails=True)
    sentences = [line for line in said.splitlines() if 'parameters in fp8' in line]
    assert len(sentences) == 1 and 'shard-optimizer' in sentences[0], said
    said = folder.lig('plan', MLP, '--input', '8x8:int32', '--device', 'null', '--ranks', 2, SHARD,
                      fails=True)
    assert 'give --optimizer' in said, said


TESTS = [
    *((losses, *case) for case in (
        ('tokens', 'data=2'), ('tokens', 'data=4'), ('drawn', 'data=2'), ('shared', 'data=4'),
        ('layer', 'data=2,tensor=2'), ('sequence', 'data=2,tensor=2'), ('llama', 'data=2,tensor=2'),
        ('tied', 'data=2,tensor=2'),
        ('tokens', 'data=4', '--optimizer', 'sgd', '--momentum', 0.9, '--lr', 0.05),
        ('tokens', 'data=2', '--accumulate', 3))),
    *((equal, *case) for case in (
        ('tokens', 'data=2'), ('drawn', 'data=4'), ('values', 'data=4'),
        ('tokens', 'data=4', '--optimizer', 'sgd', '--lr', 0.05),
        ('tokens', 'data=4', '--optimizer', 'sgd', '--momentum', 0.9),
        ('tokens', 'data=2', '--accumulate', 3, '--weight-decay', 0.1),
        ('tokens', 'data=2', '--dtype', 'bf16', '--weight-decay', 0.1),
        ('tokens', 'data=4', '--dtype', 'bf16', '--accumulate', 2),
        ('tokens', 'data=2', '--dtype', 'bf16:fp32'),
        ('tokens', 'data=4', '--dtype', 'fp16'),
        ('tokens', 'data=2', '--freeze', '0.*'),
        ('layer', 'data=2,tensor=2'), ('sequence', 'data=2,tensor=2'),
        ('layer', 'data=2,tensor=2', '--dtype', 'bf16'))),
    (buckets,), (small_buckets,), (small_buckets, SHARD), (recorded_buckets,), (skipped, 2), (skipped, 4),
    (resume_same, 'drawn', 'data=2'), (resume_same, 'sequence', 'data=2,tensor=2'),
    (resume_same, 'tokens', 'data=4', '--dtype', 'bf16'),
    (resume_other, 'tokens', 'data=4', (SHARD,), (
        ('data=1',), ('data=4', '--no-shard-optimizer'), ('data=2',))),
    (resume_other, 'layer', 'data=2,tensor=2', (SHARD,), (
        ('data=4',), ('tensor=4',), ('data=2,tensor=2', '--no-shard-optimizer'))),
    (resume_other, 'tokens', 'data=2', (), (('data=4', SHARD), ('data=2', SHARD))),
    (recorded,), (alone,), (rejected,),
    # A sanitizer keeps memory that was freed, so that its processes say nothing about ours.
    *([] if b'__asan_init' in pathlib.Path(LIG).read_bytes() else [(memory, 4)]),
]

if __name__ == '__main__':
    run(TESTS, Measuring)
