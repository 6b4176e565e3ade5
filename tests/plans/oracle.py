#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the plans of a build with those of an earlier commit, byte for byte: their JSON, their text,
verdicts, fixes and predicted times. For changes of the compiler that must not change what it makes.

Usage: oracle.py [--commit COMMIT] [--only TEXT] BUILD

The earlier commit, built in BUILD/earlier, is by default the last one, or the one before it if the work
tree has no changes. Both programs read the sequences of this work tree. There are no checksums in the
tree: predicted times may differ between CPUs. Exits with 1 if a case differs, and shows where.
"""
import argparse
import difflib
import glob
import itertools
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from earlier import ROOT, find_both

LAYOUTS = [(4, 'data=4'), (4, 'tensor=2,data=2'), (4, 'context=2,tensor=2'), (2, 'tensor=2')]
# The rest that no example has: several inputs and outputs of the caller, channels with several readers, ties,
# memory, frozen ops, recomputed blocks, recipes of single ops, attention of every kind.
EXPRESSIONS = [
    ('add-extra-input ! linear(16) ! add-extra-input ! gelu ! add-extra-input', '8x16'),
    ('make-extra-output ! linear(16) ! make-extra-output ! gelu ! make-extra-output', '8x16'),
    ('make-extra-output(to=a) ! linear(16) ! add-extra-input(from=a) ! gelu ! linear(16) ! '
     'add-extra-input(from=a) ! layer-norm ! make-extra-output(to=b) ! linear(16) ! '
     'add-extra-input(from=b)', '8x16'),
    ('embedding(32, vocabulary=64) ! position-embedding(8) ! linear(32) ! gelu ! '
     'linear(64, tied=0, bias=false) ! cross-entropy', '4x8:int32'),
    ('embedding(32, vocabulary=64) ! transformer-layer(4, mask=none) ! make-extra-output(to=memory) ! '
     'transformer-layer(4, layer-type=decoder, memory=memory) ! linear(64) ! cross-entropy', '4x8:int32'),
    ('block(2, recompute=all){ layer-norm ! linear(64) ! gelu ! dropout(0.1) ! linear(16) } ! '
     'mean-squared-error', '64x16'),
    ('linear(32, recipe=none) ! gelu ! linear(32) ! silu ! linear(16, trained=false) ! rms-norm', '64x32'),
    ('embedding(64, vocabulary=64) ! transformer-layer(4, kv-heads=2, rotary=true, normalization=rms-norm, qk-norm=rms, '
     'activation=swiglu, window=4) ! transformer-layer(4, softcap=30, alibi=true) ! linear(64) ! '
     'cross-entropy(label-smoothing=0.1)', '4x16:int32'),
    ('l2-normalization ! linear(48) ! constant-scale(0.5) ! '
     'add-extra-input ! relu', '8x16x32'),
    ('layer-norm-mlp(128) ! drop-path(0.1) ! layer-norm-linear(64) ! geglu ! linear(32) ! '
     'add-extra-input ! rms-norm', '64x32'),
]
H200 = ['--device', 'null:h200']
HALF = ['--dtype', 'bf16']
ADAMW = ['--optimizer', 'adamw']


def list_sequences():
    found = glob.glob(f'{ROOT}/data/examples/*.lig') + glob.glob(f'{ROOT}/tests/plans/*.lig')
    return sorted(path.removeprefix(f'{ROOT}/') for path in found if '/bad-' not in path)


def list_options():
    """Yields the options of `lig plan` with which each sequence is compiled."""
    policies = ['none', 'all', 'measured']
    for device, dtype, policy in itertools.matmul(['null:h200', 'null'], ['fp32', 'bf16', 'fp16'],
                                                   policies):
        yield ['--device', device, '--dtype', dtype, '--policy', policy, *ADAMW]
    yield [*H200, '--eval']
    for level in ('cheap', 'all'):
        yield [*H200, *HALF, '--recompute', level, *ADAMW]
    for recipe, policy in itertools.matmul(['delayed', 'current', 'rows', 'block'], policies[1:]):
        yield [*H200, *HALF, '--recipe', f'fp8-{recipe}', '--policy', policy, *ADAMW]
    for recipe in ('mxfp8', 'nvfp4'):
        yield ['--device', 'null:b200', *HALF, '--recipe', recipe]
    yield [*H200, '--dtype', 'bf16:fp8', '--recipe', 'fp8-delayed', *ADAMW]
    for (count, layout), more in itertools.matmul(LAYOUTS, ([], ['--shard-optimizer'])):
        yield [*H200, *HALF, *ADAMW, '--ranks', str(count), '--parallel', layout, *more]


def list_commands(now):
    """Yields the commands of `lig`: each sequence with each option, each op and fusion by itself."""
    for sequence, options in itertools.matmul(list_sequences(), list_options()):
        yield ['plan', sequence, *options, '--json']
        yield ['plan', sequence, *options, '--text']
        fused = [word for word in options if word not in (*ADAMW, '--shard-optimizer')]
        yield ['fuse', sequence, *fused, '--json']
    ops = json.loads(now.run('lig', 'ops', '--json').stdout)
    for name in [op['op'] for op in ops] + sorted(list_fusions(now)):
        yield ['ops', name, '--json']


def list_fusions(now):
    ops = json.loads(now.run('lig', 'ops', '--json').stdout)
    return {fusion['fusion'] for op in ops
            for fusion in json.loads(now.run('lig', 'ops', op['op'], '--json').stdout)['fusions']}


def list_examples(now):
    """Returns expressions with their inputs: of each op and of each fusion."""
    found = []
    for op in json.loads(now.run('lig', 'ops', '--json').stdout):
        found += [op['example'].split(' @ ')] if op['example'] else []
    for fusion in sorted(list_fusions(now)):
        document = json.loads(now.run('lig', 'ops', fusion, '--json').stdout)
        found += [[document['example'], '64x64']] if document.get('example') else []
    return found


def list_places():
    """Yields the devices and types with which expressions are compiled."""
    yield from (['--device', 'null'], [*H200, *HALF], [*H200, *HALF, '--recipe', 'fp8-current'],
                ['--device', 'null:b200', *HALF, '--recipe', 'mxfp8'],
                [*H200, *HALF, '--ranks', '2', '--parallel', 'tensor=2', '--rank', '1'])


def list_lines(now):
    """Yields what `lig` has no option for: plans of each rank, of accumulation, of calibration, of
    comparisons; and examples, also those of one op."""
    base = [*H200, *HALF, *ADAMW]
    more = [['--accumulate'], ['--accuracy'], ['--keep-values'], ['--recall', '--eval'], ['--tf32'],
            ['--input-gradient'], ['--freeze', '0.*'], ['--accumulate', '--recompute', 'cheap'],
            ['--calibrating', '--recipe', 'fp8-delayed'],
            ['--accumulate', '--recipe', 'fp8-delayed', '--dtype', 'bf16:fp8']]
    ranks = [['--ranks', str(count), '--parallel', layout, '--rank', str(rank), *shard, '--policy', policy]
             for count, layout in LAYOUTS[1:] + [(8, 'data=2,context=2,tensor=2')]
             for rank in range(count) for shard in ([], ['--shard-optimizer'])
             for policy in ('all', 'measured')]
    for sequence, options in itertools.matmul(list_sequences(), more + ranks):
        yield [*base, *options, sequence]
    for (expression, shape), place, policy, evaluated in itertools.matmul(
            list_examples(now) + EXPRESSIONS, list_places(), ('none', 'all', 'measured'), ([], ['--eval'])):
        yield [*place, '--policy', policy, *evaluated, '--input', shape, expression]
    for (expression, shape), place, more in itertools.matmul(
            EXPRESSIONS, list_places(), (['--input-gradient'], ['--accumulate'], ['--recompute', 'all'],
                                         ['--keep-values', '--accuracy'])):
        yield [*place, *more, *ADAMW, '--input', shape, expression]


def quote(words):
    return ' '.join(f"'{word}'" if set(word) & set(' !(){},=') else word for word in words)


def show_difference(one, other):
    lines = difflib.unified_diff(one.splitlines(), other.splitlines(), 'earlier', 'now', lineterm='', n=1)
    for line in itertools.islice(lines, 24):
        print('    ' + line[:200])


def compare_commands(both, commands):
    """Runs each command with both programs. Returns the ones that differ."""
    def run(words):
        return [(done.returncode, done.stdout, done.stderr)
                for done in (programs.run('lig', *words) for programs in both)]
    different = []
    with ThreadPoolExecutor(2) as pool:
        for words, (one, other) in zip(commands, pool.map(run, commands)):
            if one != other:
                different.append(words)
                if len(different) <= 5:
                    print(f'  lig {quote(words)}: {one[0]}, {other[0]}')
                    show_difference(one[1] + one[2], other[1] + other[2])
    return different


def compare_lines(both, lines):
    """Compares the checksums of all lines, and shows the texts of the first ones that differ."""
    text = ''.join(quote(words) + '\n' for words in lines)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda programs: programs.run('print-plans', text=text), both))
    one, other = (each.stdout.splitlines() for each in done)
    if not all(len(sums) == len(lines) for sums in (one, other)):
        sys.exit(f'print-plans: {len(one)} and {len(other)} of {len(lines)} cases: '
                 f'{done[0].stderr}{done[1].stderr}')
    print(f'  {sum(line.startswith("rejected") for line in other)} cases are rejected by design')
    different = [words for words, a, b in zip(lines, one, other) if a != b]
    for words in different[:5]:
        print('  print-plans ' + quote(words))
        show_difference(*(programs.run('print-plans', '--whole', text=quote(words) + '\n').stdout
                          for programs in both))
    return different


def main():
    parser = argparse.ArgumentParser(description='Compares plans with those of an earlier commit.')
    parser.add_argument('build')
    parser.add_argument('--commit')
    parser.add_argument('--only', default='', help='only cases that contain this text')
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as store:
        both = find_both(options.build, options.commit, store)
        commands = [words for words in list_commands(both[1]) if options.only in quote(words)]
        lines = [words for words in list_lines(both[1]) if options.only in quote(words)]
        different = compare_commands(both, commands) + compare_lines(both, lines)
    print(f'{len(commands)} commands and {len(lines)} other plans, {len(different)} differ, '
          f'{time.monotonic() - begun:.0f} s')
    return 1 if different or not commands + lines else 0


if __name__ == '__main__':
    sys.exit(main())
