# SPDX-License-Identifier: MIT
"""Files of an earlier version are read: a sequence with a former name of an op, options, a device
description, a store and a checkpoint, which continues and is repeated with the same bits. The
folder tests/cli/former has what that version wrote, with @FOLDER@ for the folder of its files."""
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

LIG = os.path.abspath(os.environ['LIG'])
FORMER = pathlib.Path(__file__).resolve().parent / 'former'
RUN = 'a1fe5ecf-f7cb-4461-8ace-a2a7d0c70e34'
# The losses of steps 13 to 16, which that version printed when it continued its checkpoint.
CONTINUED = [0.082600825, 0.07908355, 0.041681614, 0.045091268]


def make_folder(folder):
    for name in ('rows.csv', 'sequence.lig', 'device.json'):
        shutil.copy(FORMER / name, folder)
    store = sqlite3.connect(folder / 'runs.db')
    store.executescript((FORMER / 'store.sql').read_text().replace('@FOLDER@', str(folder)))
    store.close()
    data = (FORMER / 'checkpoint.safetensors').read_bytes()
    length, = struct.unpack('<Q', data[:8])
    header = data[8:8 + length].decode().replace('@FOLDER@', str(folder)).rstrip().encode()
    header += b' ' * (-len(header) % 8)
    (folder / 'c.safetensors').write_bytes(struct.pack('<Q', len(header)) + header + data[8 + length:])


class Folder:
    def __init__(self, path):
        self.path = path
        make_folder(path)

    def lig(self, *words, code=0):
        # The kernels and the number of threads are those of the recorded run.
        environment = dict(os.environ, LIGATURE_STORE=str(self.path / 'runs.db'),
                           LIGATURE_CPU='baseline', OMP_NUM_THREADS='1',
                           XDG_DATA_HOME=str(self.path), LC_ALL='C.UTF-8')
        result = subprocess.run([LIG, *words], cwd=self.path, env=environment, text=True,
                                capture_output=True, stdin=subprocess.DEVNULL)
        assert result.returncode == code, (words, result)
        return result


def sequence(folder):
    """New files have the current name, and a remark says so once."""
    written = folder.lig('fuse', 'sequence.lig', '--device', 'null:h200', '--apply-mend', '1', '-o', 'new.lig')
    assert '"load-branch"' in (folder.path / 'new.lig').read_text()
    assert written.stderr.count('lig: recall is now called load-branch') == 1, written.stderr
    assert 'lig: --apply-mend is now called --apply-fix' in written.stderr, written.stderr
    again = folder.lig('fuse', 'new.lig', '--device', 'null:h200')
    assert 'is now called' not in again.stderr, again.stderr


def description(folder):
    """The rates of matmuls have another key now."""
    old = json.loads((folder.path / 'device.json').read_text())['product']
    new = json.loads(folder.lig('devices', 'null:device.json', '--json').stdout)[0]['matmul']
    assert {key: new[key] for key in old} == old, new


def shown(folder):
    runs = json.loads(folder.lig('runs', 'list', '--json').stdout)
    assert len(runs) == 2, runs
    text = folder.lig('runs', 'show', '87e9808a').stdout
    assert 'load-branch(x)' in text and '\n  cpus ' in text, text


def continued(folder):
    result = folder.lig('train', '--resume', RUN[:8], '--steps', '16', '--metrics', 'm.jsonl', '--device', 'cpu')
    assert 'lig: held-out is now called validation' in result.stderr, result.stderr
    lines = [json.loads(line) for line in (folder.path / 'm.jsonl').read_text().splitlines()]
    losses = [line['loss'] for line in lines if 'loss' in line]
    assert all(abs(a - b) < 1e-5 for a, b in zip(losses, CONTINUED)) and len(losses) == 4, losses


def repeated(folder):
    text = folder.lig('runs', 'repeat', RUN[:8], '--device', 'cpu').stdout
    # Another compiler, or sanitizers, may round otherwise.
    assert text.startswith(('bitwise identical', 'within the noise')), text
    assert 'sequence' not in text and 'the data is' not in text, text


def main():
    tests = [sequence, description, shown, continued, repeated]
    print(f'1..{len(tests)}')
    failed = 0
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as path:
            try:
                test(Folder(pathlib.Path(path)))
                print(f'ok {number} {test.__name__}')
            except Exception as error:  # every failure is reported as one
                failed += 1
                print(*(f'# {line}' for line in repr(error).splitlines()), sep='\n')
                print(f'not ok {number} {test.__name__}')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
