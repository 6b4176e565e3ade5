#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data-parallel training on 2 and 4 ranks of this machine trains the same as one process."""
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

LIG = os.environ['LIG']
MLP = 'embedding(32) ! layer-norm ! linear(64) ! gelu ! linear(256) ! cross-entropy'
LAYER = ('embedding(32) ! position-embedding(7) ! linear(64) ! transformer-layer(4, '
         'hidden-dropout=0.1, attention-dropout=0.2) ! drop-path(0.3) ! linear(256) ! cross-entropy')
TIED = ('embedding(32) ! rms-norm ! linear(48) ! swiglu ! linear(32) ! dropout(0.2) ! '
        'linear(256, bias=false, tied=0) ! cross-entropy')
VALUES = 'linear(16) ! relu ! linear(1) ! mean-squared-error'
NUMBERS = ('loss', 'eval_loss', 'eval_accuracy', 'grad_norm')


class Folder:
    """A folder with a text, a table, and its own store."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        words = ['ink', 'type', 'letter', 'kern', 'rule', 'case', 'page']
        text = ' '.join(words[i * i * 31 % 7] for i in range(3000))
        (self.path / 'text.txt').write_text(text)
        rows = [f'{i % 7},{i * i % 5},{(i % 7) * 0.5 - (i * i % 5) * 0.25}' for i in range(203)]
        (self.path / 'table.csv').write_text('a,b,y\n' + '\n'.join(rows) + '\n')

    def lig(self, *words, fails=False):
        environment = dict(os.environ, HOME=str(self.path), XDG_DATA_HOME=str(self.path / 'data'),
                           LIGATURE_STORE=str(self.path / 'store.db'), OMP_NUM_THREADS='1')
        done = subprocess.run([LIG, *map(str, words)], cwd=self.path, env=environment, text=True,
                              capture_output=True, timeout=300)
        assert (done.returncode != 0) == fails, f'{words}: {done.returncode}: {done.stderr}'
        return done.stderr if fails else done.stdout

    def train(self, name, ranks, *words):
        """Returns the numbers of each step, and the file of the checkpoint."""
        metrics, checkpoint = self.path / f'{name}.jsonl', self.path / f'{name}.safetensors'
        metrics.unlink(missing_ok=True)
        place = [] if '--resume' in words else ['--checkpoint', checkpoint]
        self.lig('train', *words, *place, '--ranks', ranks, '--device', 'cpu', '--metrics', metrics)
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        return {(line['step'], key): line[key] for line in lines for key in NUMBERS
                if line.get(key) is not None}, checkpoint


def read(path):
    """The tensors of a safetensors file in fp32, as lists."""
    content = pathlib.Path(path).read_bytes()
    size, = struct.unpack('<Q', content[:8])
    head, data = json.loads(content[8:8 + size]), content[8 + size:]
    return {name: struct.unpack(f'<{(entry["data_offsets"][1] - entry["data_offsets"][0]) // 4}f',
                                data[slice(*entry['data_offsets'])])
            for name, entry in head.items() if name != '__metadata__' and entry['dtype'] == 'F32'}


def difference(a, b):
    """The largest relative difference between numbers of the same names."""
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    return max(abs(a[key] - b[key]) / max(abs(a[key]), 1e-6) for key in a)


def compare(folder, ranks, limit, *words):
    """Compares all numbers of all steps; a few rows may decide the accuracy of 16 bits."""
    one, _ = folder.train('one', 1, *words)
    many, _ = folder.train('many', ranks, *words)
    if limit > 1e-4:
        one, many = ({key: m[key] for key in m if key[1] != 'eval_accuracy'} for m in (one, many))
    found = difference(one, many)
    assert found < limit, f'{found:.2g}, expected less than {limit:.2g}'


def text(shape, *words):
    return ('--data', 'text:text.txt', '--input', shape, '--seed', 3, *words)


def losses_mlp(folder, ranks):
    compare(folder, ranks, 1e-5, MLP, *text('8x8', '--steps', 50, '--eval-every', 20, '--clip', 1))


def losses_layer(folder, ranks):
    """All random numbers follow the global index of an element; 7 tokens and 3 rows per rank let
    the shards begin at any offset."""
    compare(folder, ranks, 1e-5, LAYER, *text('12x7', '--steps', 50, '--clip', 0.5))


def waits(folder, ranks):
    """The waits that a run ends with are medians of the steps whose median time it ends with."""
    said = json.loads(folder.lig('train', MLP, *text('8x8', '--steps', 40), '--device', 'cpu',
                                 '--ranks', ranks, '--json'))
    store = sqlite3.connect(folder.path / 'store.db')
    for name, found in (('exposed-ms', said['ranks']['exposed_ms']),
                        ('imbalance-ms', said['ranks']['imbalance_ms']),
                        ('step-ms', said['step_ms']['median'])):
        values = [value for value, in store.execute('SELECT value FROM metric WHERE name = ? '
                                                    'ORDER BY value', (name,))]
        wanted = values[len(values) // 2]
        assert abs(found - wanted) <= 1e-4 * wanted, f'{name} is {found}, expected {wanted}'
    assert 0 < said['ranks']['exposed_ms'] < said['step_ms']['median'], said


def losses_tied(folder, ranks):
    """A gradient that several steps write is averaged after the last."""
    compare(folder, ranks, 1e-5, TIED, *text('8x8', '--steps', 30, '--lr', 0.01))


def losses_accumulate(folder, ranks):
    compare(folder, ranks, 1e-5, MLP, *text('8x8', '--steps', 20, '--accumulate', 3, '--optimizer',
                                            'sgd', '--momentum', 0.9, '--lr', 0.05))


def losses_values(folder, ranks):
    """The last validation batch is incomplete, for some ranks empty."""
    compare(folder, ranks, 1e-5, VALUES, '--data', 'csv:table.csv?target=y', '--batch', 16,
            '--steps', 40, '--eval-every', 10, '--lr', 0.01)


def losses_16_bits(folder, ranks, dtype):
    """16-bit gradients are rounded before they are added."""
    compare(folder, ranks, 0.002, MLP, *text('8x8', '--steps', 20, '--dtype', dtype))


def scales(folder, ranks):
    """The largest amax of all ranks determines the scales of all, from the first step on."""
    words = (MLP, *text('16x8', '--dtype', 'bf16', '--recipe', 'fp8-delayed', '--steps', 1))
    one, many = [read(folder.train(f'scales{n}', n, *words)[1]) for n in (1, ranks)]
    names = [name for name in one if name.startswith('quantizer.') and '.gradient.' not in name]
    assert len(names) == 12 and all(one[name] == many[name] for name in names), names
    # The mean over fewer rows has larger gradients.
    for name in (f'quantizer.{i}.gradient.scale' for i in (2, 4)):
        assert abs(one[name][0] / many[name][0] - ranks) < 0.1 * ranks, (one[name], many[name])


def gradients(folder, ranks):
    """A step of sgd at rate 1 subtracts the gradients."""
    words = (LAYER, *text('12x7', '--steps', 1, '--optimizer', 'sgd', '--lr', 1))
    files = [read(folder.train(f'gradients{n}', n, *words)[1]) for n in (1, ranks)]
    assert files[0].keys() == files[1].keys() and len(files[0]) >= 16
    for name, values in files[0].items():
        most = max(map(abs, values))
        for a, b in zip(values, files[1][name]):
            assert abs(a - b) <= 1e-5 * max(most, 1e-3), f'{name}: {a} and {b} of {most}'


def resume_same(folder, ranks):
    """Half of the steps, then the others on the same number of ranks: the same bits."""
    words = (LAYER, *text('12x7', '--checkpoint-every', 100))
    whole, end = folder.train('whole', ranks, *words, '--steps', 12)
    folder.train('half', ranks, *words, '--steps', 6)
    rest, _ = folder.train('rest', ranks, '--resume', 'half.safetensors', '--steps', 12)
    assert all(whole[key] == value for key, value in rest.items()) and (12, 'loss') in rest
    assert read(end) == read(folder.path / 'half.safetensors')


def resume_other(folder, ranks):
    """A checkpoint does not depend on the number of ranks."""
    words = (LAYER, *text('12x7'))
    whole, _ = folder.train('whole', 1, *words, '--steps', 12)
    folder.train('half', ranks, *words, '--steps', 6)
    for other in (1, 6 // ranks):
        shutil.copy(folder.path / 'half.safetensors', folder.path / 'copy.safetensors')
        rest, _ = folder.train('rest', other, '--resume', 'copy.safetensors', '--steps', 12)
        found = difference({key: whole[key] for key in rest if key[1] == 'loss'},
                           {key: value for key, value in rest.items() if key[1] == 'loss'})
        assert found < 1e-5, f'{found:.2g} on {other} ranks'


def rejected(folder, ranks):
    """A batch that the ranks do not divide is rejected with one message that has both numbers."""
    said = folder.lig('train', MLP, *text('9x8'), '--device', 'cpu', '--ranks', ranks, fails=True)
    sentences = [line for line in said.splitlines() if 'batch size' in line]
    assert len(sentences) == 1 and f'is 9, expected a multiple of {ranks}' in sentences[0], said


TESTS = [(waits, 2), (losses_mlp, 2), (losses_mlp, 4), (losses_layer, 2), (losses_layer, 4), (losses_tied, 2),
         (losses_accumulate, 4), (losses_values, 4), (losses_16_bits, 2, 'bf16'),
         (losses_16_bits, 4, 'fp16'), (scales, 2), (scales, 4), (gradients, 2), (gradients, 4), (resume_same, 2), (resume_other, 2),
         (rejected, 2)]


def run(tests, make=Folder):
    """Runs the tests that the command line names, or all, a line each."""
    if not shutil.which('mpirun'):
        print('1..0 # SKIP mpirun is not installed (package openmpi-bin)')
        return
    chosen = [test for test in tests if len(sys.argv) < 2 or test[0].__name__ == sys.argv[1]]
    print(f'1..{len(chosen)}')
    for number, (test, *more) in enumerate(chosen, 1):
        name = ' '.join([test.__name__, *map(str, more)]).replace('#', '')
        with tempfile.TemporaryDirectory() as path:
            try:
                test(make(path), *more)
                print(f'ok {number} {name}', flush=True)
            except Exception as problem:  # each test has its own line
                print(f'not ok {number} {name}\n# ' + str(problem).replace('\n', '\n# '), flush=True)


if __name__ == '__main__':
    run(TESTS)
