#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Documents that end with a separator: attention sees only its own document, so that a row of
several documents trains like rows of one each."""
import json
import os
import subprocess
import sys
import tempfile

LIG = os.environ['LIG']
LINES = [b'abcdefg hijklm\n', b'nopqr stuvwxyz\n', b'0123456 789abc\n', b'zyxwvut srqpon\n']
MODEL = ('embedding(32, vocabulary=256) ! block(2){{ transformer-layer(4, rotary=true{}) }} ! linear(256) '
         '! cross-entropy')
# As many tokens as a row and the target of its last one; rows of whole lines.
LENGTH = len(LINES[0])


def lig(folder, *words, code=0):
    environment = dict(os.environ, LIGATURE_STORE=os.path.join(folder, 'store.db'))
    result = subprocess.run([LIG, *words], cwd=folder, env=environment, check=False, text=True,
                            capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == code, f'{result.returncode}: {result.stderr}'
    return result.stderr


def losses(folder, model, rows, length, separator=None, ranks=1, kind='text'):
    """Returns the losses of a run in which each batch is all the data."""
    path = os.path.join(folder, 'data.' + ('txt' if kind == 'text' else 'bin'))
    data = b''.join(LINES) + LINES[0][:1]
    with open(path, 'wb') as file:
        file.write(data if kind == 'text' else b''.join(bytes([one, 0]) for one in data))
    options = '&type=uint16' if kind == 'tokens' else ''
    options += '' if separator is None else f'&separator={separator}'
    lig(folder, 'train', model, '--input', f'{rows}x{length}:int32', '--data',
        f'{kind}:{path}?validation=0{options}', '--device', 'cpu', '--steps', '12', '--lr', '.01',
        '--optimizer', 'sgd', '--ranks', str(ranks), '--metrics', 'metrics.jsonl')
    with open(os.path.join(folder, 'metrics.jsonl'), encoding='utf-8') as file:
        found = [json.loads(line)['loss'] for line in file]
    assert len(found) == 12, found
    return found


def assert_near(found, wanted, tolerance=2e-6):
    worst = max(abs(a - b) / abs(b) for a, b in zip(found, wanted))
    assert worst <= tolerance, f'off by {worst}: {found[-1]}, expected {wanted[-1]}'


def same_as_rows(folder):
    divided, plain = MODEL.format(', documents=caller'), MODEL.format('')
    apart = losses(folder, plain, 4, LENGTH)
    for kind in ('text', 'tokens'):
        assert_near(losses(folder, divided, 2, 2 * LENGTH, 10, kind=kind), apart)
        assert_near(losses(folder, divided, 1, 4 * LENGTH, 10, kind=kind), apart)
    whole = losses(folder, plain, 1, 4 * LENGTH)
    assert abs(whole[-1] - apart[-1]) > 1e-4 * apart[-1], (whole, apart)
    # A separator that does not occur does not divide the data.
    assert_near(losses(folder, divided, 1, 4 * LENGTH, 200), whole)


def same_by_ranks(folder):
    divided = MODEL.format(', documents=caller')
    alone = losses(folder, divided, 2, 2 * LENGTH, 10)
    assert_near(losses(folder, divided, 2, 2 * LENGTH, 10, ranks=2), alone)


def evaluated(folder):
    """Validation rows are divided, too, also those of the last, smaller batch."""
    path = os.path.join(folder, 'many.txt')
    with open(path, 'wb') as file:
        file.write(b''.join(LINES) * 12)
    results = []
    for model, rows, length, more in ((MODEL.format(', documents=caller'), 4, 2 * LENGTH, '&separator=10'),
                                      (MODEL.format(''), 8, LENGTH, '')):
        lig(folder, 'train', model, '--input', f'{rows}x{length}:int32', '--data',
            f'text:{path}?validation=0.5{more}', '--device', 'cpu', '--steps', '1', '--lr', '1e-9')
        shown = subprocess.run([LIG, 'runs', 'show', 'last', '--json', '--store',
                                os.path.join(folder, 'store.db')], check=True, capture_output=True)
        results.append(json.loads(shown.stdout)['eval']['loss'])
    # The last token of the data is a target in only one of them.
    assert abs(results[0] - results[1]) < 2e-2 * results[1], results


def rejected(folder):
    def reject(model, data, words, code=1):
        path = os.path.join(folder, 'data.txt')
        with open(path, 'wb') as file:
            file.write(b''.join(LINES) * 2)
        said = lig(folder, 'train', model, '--input', '2x15:int32', '--data', data.format(path), '--device',
                   'cpu', '--steps', '1', code=code)
        assert words in said, said
    divided = MODEL.format(', documents=caller')
    reject(divided, 'text:{}', 'attention reads documents, but the data is not divided into '
           'any; add ?separator=TOKEN')
    reject(MODEL.format(''), 'text:{}?separator=10', 'the data has separator 10, but no op reads documents')
    reject(divided, 'text:{}?separator=256', "separator is '256', expected a whole number from -1 to 255")
    reject(divided, 'text:{}?separator=65536', "separator is '65536', expected a whole number from -1 to 65535",
           code=2)
    reject(MODEL.format(', lengths=caller'), 'text:{}',
           'the sequence takes 2 extra inputs from the caller, but a data set provides only 1, the '
           'targets; ')


TESTS = [same_as_rows, same_by_ranks, evaluated, rejected]
print(f'1..{len(TESTS)}')
failed = 0
for number, test in enumerate(TESTS, 1):
    with tempfile.TemporaryDirectory() as place:
        try:
            test(place)
            print(f'ok {number} {test.__name__}', flush=True)
        except (AssertionError, KeyError, ValueError) as error:
            failed += 1
            print(f'not ok {number} {test.__name__}\n# {error}', flush=True)
sys.exit(failed > 0)
