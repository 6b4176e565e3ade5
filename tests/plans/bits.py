#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares trainings on the CPU with those of an earlier commit, bit for bit: the losses of all steps
and the arrays of the checkpoint. For changes that must not change a number.

Usage: bits.py [--commit COMMIT] [--only TEXT] BUILD

As tests/plans/oracle.py, whose sibling this is: it compares what plans are, this what they compute.
"""
import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from earlier import ROOT, find_both

STEPS = 20
TEXT = ['--data', 'text:words.txt?validation=0.2']
SYNTHETIC = ['--data', 'synthetic']
BYTES = ['data/examples/byte-model.lig', *TEXT, '--input', '8x16:int32']
CLASSES = ['data/examples/classifier.lig', *SYNTHETIC]
GPT2 = ['data/examples/gpt2-tiny.lig', *TEXT, '--input', '4x32:int32']
PAIRS = ['embedding(48, vocabulary=256) ! transformer-layer(4, mask=none) ! make-extra-output(to=memory) ! '
         'transformer-layer(4, layer-type=decoder, memory=memory) ! linear(256) ! cross-entropy',
         *TEXT, '--input', '4x32:int32']
NARROW = ['embedding(48, vocabulary=256) ! block(2){ transformer-layer(4, rotary=true) } ! '
          'linear(256) ! cross-entropy', *TEXT, '--input', '4x32:int32']

TRAININGS = {
    'bytes': BYTES,
    'bytes-none': [*BYTES, '--policy', 'none'],
    'bytes-sgd': [*BYTES, '--optimizer', 'sgd', '--momentum', '0.9'],
    'bytes-clipped': [*BYTES, '--clip', '0.5', '--schedule', 'cosine', '--warmup', '5'],
    'bytes-accumulate': [*BYTES, '--accumulate', '3'],
    'bytes-bf16': [*BYTES, '--dtype', 'bf16:fp32'],
    'bytes-fp16': [*BYTES, '--dtype', 'fp16:fp32'],
    'classes': CLASSES,
    'classes-none': [*CLASSES, '--policy', 'none'],
    'classes-2-ranks': [*CLASSES, '--ranks', '2'],
    'gpt2': GPT2,
    'gpt2-none': [*GPT2, '--policy', 'none'],
    'gpt2-sgd': [*GPT2, '--optimizer', 'sgd'],
    'gpt2-recompute': [*GPT2, '--recompute', 'all'],
    'gpt2-accumulate': [*GPT2, '--accumulate', '2', '--recompute', 'cheap'],
    'gpt2-delayed': [*GPT2, '--recipe', 'fp8-delayed', '--calibrate', '4'],
    'gpt2-block': [*GPT2, '--recipe', 'fp8-block'],
    'gpt2-fp8-weights': [*GPT2, '--dtype', 'bf16:fp8', '--recipe', 'fp8-delayed'],
    'gpt2-2-ranks': [*GPT2, '--ranks', '2', '--shard-optimizer'],
    'narrow-tensor': [*NARROW, '--ranks', '2', '--parallel', 'tensor=2'],
    'narrow-4-ranks': [*NARROW, '--ranks', '4', '--parallel', 'context=2,tensor=2'],
    'pairs': PAIRS,
    'pairs-none': [*PAIRS, '--policy', 'none'],
    'resumed': BYTES,
}


def write_words(folder):
    """Writes a text that is the same everywhere."""
    chance = random.Random(7)
    words = [''.join(chance.choices('abcdefghijklmnop', k=chance.randint(2, 7))) for _ in range(300)]
    text = ' '.join(chance.choices(words, k=9000))
    (folder / 'words.txt').write_text(text, encoding='ascii')
    (folder / 'data').symlink_to(ROOT / 'data')


def read_arrays(path):
    """Returns the checksum of each array of a checkpoint."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], 'little')
    header = json.loads(content[8:8 + length])
    header.pop('__metadata__', None)
    return {name: hashlib.sha256(content[8 + length + info['data_offsets'][0]:
                                         8 + length + info['data_offsets'][1]]).hexdigest()
            for name, info in header.items()}


def read_losses(output):
    rows = [json.loads(line) for line in output.splitlines()]
    return [{name: row[name] for name in ('step', 'loss', 'gradient_norm', 'eval_loss', 'accuracy')
             if name in row} for row in rows]


def train(programs, folder, name, words):
    """Returns losses and arrays of a training of 20 steps; a resumed one stops in between."""
    checkpoint = folder / 'checkpoint.safetensors'
    checkpoint.unlink(missing_ok=True)
    common = ['--metrics', '-', '--checkpoint', str(checkpoint), '--device', 'cpu']
    parts = [[*words, '--steps', str(STEPS), *common]]
    if name == 'resumed':
        parts = [[*words, '--steps', str(STEPS // 2), *common],
                 ['--resume', str(checkpoint), '--steps', str(STEPS), *common]]
    losses = []
    for part in parts:
        done = programs.run('lig', 'train', *part, folder=folder)
        if done.returncode != 0:
            return f'failed: {done.stderr}', {}
        losses += read_losses(done.stdout)
    return losses, read_arrays(checkpoint)


def compare(both, folder, name, words):
    """Returns whether the training has the same bits with both programs, and prints what differs."""
    begun = time.monotonic()
    one, other = (train(programs, folder, name, words) for programs in both)
    failed = isinstance(other[0], str)
    different = [key for key in {**one[1], **other[1]} if one[1].get(key) != other[1].get(key)]
    same = not failed and one == other
    print(f'{name:18} {"same" if same else "DIFFERENT":9} {len(other[1]):4} arrays '
          f'{time.monotonic() - begun:5.1f} s', flush=True)
    if not same:
        print('  ' + (other[0] if failed else f'losses {"same" if one[0] == other[0] else "differ"}; '
                      f'arrays {different[:5]}'))
    return same


def main():
    parser = argparse.ArgumentParser(description='Compares trainings with those of an earlier commit.')
    parser.add_argument('build')
    parser.add_argument('--commit')
    parser.add_argument('--only', default='', help='only trainings whose name contains this text')
    options = parser.parse_args()
    chosen = {name: words for name, words in TRAININGS.items() if options.only in name}
    if not shutil.which('mpirun'):
        chosen = {name: words for name, words in chosen.items() if '--ranks' not in words}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_words(folder)
        both = find_both(options.build, options.commit, place)
        same = [compare(both, folder, name, words) for name, words in chosen.items()]
    print(f'{len(same)} trainings, {same.count(False)} differ')
    return 1 if False in same or not same else 0


if __name__ == '__main__':
    sys.exit(main())
