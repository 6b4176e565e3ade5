#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks that shard sequences train the same as one process."""

import layouts
from layouts import (HEAD, accumulate, bits_16, gradients, init, losses, reject, resume_other,
                     resume_same)
from ranks import difference, run

START = 'embedding(32) ! position-embedding(16) ! '
GPT = START + ('dropout(0.1) ! transformer-layer(4, hidden-dropout=0.1, drop-path=0.2, '
               'attention-dropout=0.1) ! transformer-layer(4, attention-dropout=0.3) ! layer-norm ! ' + HEAD)
LLAMA = ('embedding(32) ! transformer-layer(8, kv-heads=2, activation=swiglu, ffn-features=56, '
         'normalization=rms-norm, bias=false, rotary=true, qk-norm=rms, attention-dropout=0.2, '
         'parallel=none) ! rms-norm ! ' + HEAD)
ENCODER = START + ('transformer-layer(4, mask=none, rotary=true, rotary-interleaved=true, '
                   'attention-dropout=0.15) ! ' + HEAD)
WINDOW = START + ('transformer-layer(4, window=5, softcap=3, attention-dropout=0.1) ! '
                  'transformer-layer(2) ! ' + HEAD)
ALIBI = ('embedding(32) ! transformer-layer(4, alibi=true, parallel-attention-mlp=true, '
         'attention-dropout=0.2) ! ' + HEAD)
CAPPED = START + 'transformer-layer(4, softcap=3, kv-heads=2) ! ' + HEAD
SEQUENCE = (START + 'shard-rows ! dropout(0.1) ! transformer-layer(4, parallel=sequence, hidden-dropout=0.1, '
            'drop-path=0.2) ! layer-norm ! all-gather(gradient=part) ! ' + HEAD)
SHARDED = LLAMA.replace(', parallel=none', '')
TIED = ('embedding(32) ! position-embedding(20) ! transformer-layer(4) ! layer-norm ! '
        'linear(256, bias=false, tied=0) ! cross-entropy')
# 101 is e, the most frequent letter: each rank counts another number of rows.
IGNORED = TIED.replace('cross-entropy', 'cross-entropy(ignored=101)')
AGAIN = START + 'block(2, recompute=all) { transformer-layer(4) } ! ' + HEAD
# Ring attention, and gathered keys.
SINKS = START + ('transformer-layer(4, kv-heads=2, sinks=true, attention-dropout=0.1) ! '
                 'block(1, recompute=all) { transformer-layer(4, sinks=true, window=5) } ! ' + HEAD)

layouts.SHAPE = '8x16'
layouts.MODELS = {'gpt': GPT, 'llama': LLAMA, 'encoder': ENCODER, 'window': WINDOW, 'alibi': ALIBI,
                  'capped': CAPPED, 'sharded': SHARDED, 'sequence': SEQUENCE,
                  'tied': TIED, 'ignored': IGNORED, 'again': AGAIN, 'sinks': SINKS}


def shard(folder, model, layout):
    """Ranks with different shards of the same sequences shard the optimizer state, too."""
    words = (layouts.MODELS[model], *layouts.text('8x16', '--steps', 12, '--clip', 0.5))
    one, _ = folder.train('one', 1, *words)
    many, _ = layouts.train(folder, 'many', layout, *words, '--shard-optimizer')
    assert difference(one, many) < 1e-5, difference(one, many)
    rest, _ = layouts.train(folder, 'rest', 'data=2', '--resume', 'many.safetensors', '--steps', 16)
    assert (16, 'loss') in rest


def reject_shape(folder, model, shape, layout, *said):
    words = (model, *layouts.text(shape, '--steps', 1, '--device', 'cpu', '--parallel', layout,
                                  '--ranks', layouts.count(layout)))
    lines = folder.lig('train', *words, fails=True).splitlines()
    assert any(all(part in line for part in said) for line in lines), lines


def add_up(folder, layout, factor):
    """If all blocks of the sequence have the same contents, a sum over context ranks is a
    multiple."""
    (folder.path / 'same.txt').write_text('ink.' * 3000)
    model = 'embedding(32) ! linear(24) ! %s ! gelu ! linear(256) ! cross-entropy'
    words = ('--data', 'text:same.txt', '--input', f'8x{8 * factor}', '--steps', 20, '--lr', 0.003)
    one, _ = folder.train('one', 1, model % f'constant-scale({factor})', *words)
    many, _ = layouts.train(folder, 'many', layout, model % 'all-reduce(group=context)', *words)
    assert difference(one, many) < 1e-5, difference(one, many)


def by_data(folder):
    """Ranks with the same sequence shard communicate their rows like without other groups."""
    model = 'embedding(32) ! linear(24) ! all-reduce(group=data) ! gelu ! linear(256) ! cross-entropy'
    words = (model, *layouts.text('8x16', '--steps', 20))
    data, _ = layouts.train(folder, 'data', 'data=2', *words)
    both, _ = layouts.train(folder, 'both', 'data=2,context=2', *words)
    assert difference(data, both) < 1e-5, difference(data, both)


def kind(folder, layout):
    """Rows of a table are not sequences."""
    words = ('linear(16) ! relu ! linear(1) ! mean-squared-error', '--data', 'csv:table.csv',
             '--batch', 8, '--steps', 1, '--device', 'cpu', '--parallel', layout, '--ranks', 2)
    lines = folder.lig('train', *words, fails=True)
    assert 'no sequence axis' in lines and 'context=2' in lines, lines


TESTS = [
    *((losses, model, layout) for model, layout in (
        ('gpt', 'context=2'), ('gpt', 'context=4'), ('gpt', 'data=2,context=2'), ('ignored', 'context=2'), ('ignored', 'data=2,context=2'),
        ('llama', 'context=2'), ('llama', 'context=4'), ('llama', 'data=2,context=2'),
        ('encoder', 'context=2'), ('encoder', 'context=4'), ('encoder', 'data=2,context=2'),
        ('capped', 'context=4'), ('window', 'context=2'), ('window', 'context=4'),
        ('alibi', 'context=4'), ('tied', 'data=2,context=2'), ('again', 'context=2'),
        ('again', 'context=4'), ('sinks', 'context=2'), ('sinks', 'context=4'), ('sinks', 'tensor=2'),
        ('sinks', 'context=2,tensor=2'),
        ('gpt', 'context=2,tensor=2'), ('sharded', 'context=2,tensor=2'), ('llama', 'context=2,tensor=2'),
        ('window', 'context=2,tensor=2'), ('alibi', 'context=2,tensor=2'), ('tied', 'context=2,tensor=2'),
        ('sequence', 'context=2,tensor=2'), ('sequence', 'data=2,context=2,tensor=2'),
        ('gpt', 'data=2,context=2,tensor=2'))),
    *((gradients, model, layout) for model, layout in (
        ('gpt', 'context=2'), ('gpt', 'context=4'), ('gpt', 'data=2,context=2'), ('llama', 'context=4'),
        ('capped', 'context=4'), ('encoder', 'context=4'), ('window', 'context=2'),
        ('sharded', 'context=2,tensor=2'), ('alibi', 'context=2,tensor=2'),
        ('sequence', 'context=2,tensor=2'), ('sinks', 'context=4'), ('sinks', 'context=2,tensor=2'))),
    (accumulate, 'gpt', 'data=2,context=2'), (bits_16, 'gpt', 'context=2', 'bf16:fp32'),
    (bits_16, 'llama', 'context=4', 'bf16:fp32'), (bits_16, 'encoder', 'context=4', 'fp16:fp32'),
    (resume_same, 'gpt', 'data=2,context=2'), (resume_same, 'llama', 'context=4'),
    (resume_other, 'gpt', 'data=2,context=2', 'data=1', 'data=4', 'context=4', 'tensor=2'),
    (resume_other, 'sinks', 'context=2,tensor=2', 'data=1', 'context=4', 'tensor=2'),
    (bits_16, 'sharded', 'context=2,tensor=2', 'bf16:fp32'),
    (resume_same, 'gpt', 'context=2,tensor=2'),
    (resume_other, 'sharded', 'context=2,tensor=2', 'data=1', 'context=2', 'tensor=2'),
    (shard, 'gpt', 'context=2'), (shard, 'llama', 'data=2,context=2'),
    (shard, 'gpt', 'context=2,tensor=2'),
    (add_up, 'context=2', 2), (add_up, 'context=4', 4), (add_up, 'data=2,context=2', 2), (by_data,),
    (reject, START + 'all-reduce(group=context, of=gradient) ! ' + HEAD, 'context=2', 'of=gradient', 'context=2', 'of=output'),
    (reject, START + 'attention(4, block=first) ! ' + HEAD, 'context=2', 'block=first', 'context=2'),
    (init, 'llama', 'context=2'), (kind, 'context=2'),
    (reject_shape, GPT, '8x15', 'context=2', '15', '4'),
    (reject_shape, GPT, '8x12', 'context=4', '12', '8'),
    (reject_shape, GPT, '9x16', 'data=2,context=2', '9', '2'),
    (reject, START + 'transformer-layer(4, mask=none, window=3) ! ' + HEAD, 'context=2', 'window'),
    (reject, START + 'make-extra-output(m) ! multi-head-attention(4, memory=m) ! ' + HEAD,
     'context=2', 'memory'),
    (reject, 'embedding(32) ! reshape([8, -1]) ! linear(32) ! ' + HEAD, 'context=2', 'context=2'),
    (reject, 'embedding(32) ! layer-norm([16, 32]) ! ' + HEAD, 'context=2', '32'),
    (reject, 'embedding(32) ! all-gather(group=context) ! ' + HEAD, 'context=2', 'context=2', 'group=data'),
    (reject, 'embedding(32) ! position-embedding(15) ! ' + HEAD, 'context=2', '16', '15'),
]

if __name__ == '__main__':
    run(TESTS)
