#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`lig sweep --ranks`: all ranks train the points of one process; failing points, signals, lost
ranks, and continuing."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import run  # noqa: E402

LIG = os.environ['LIG']
HOST = socket.gethostname()
MODEL = 'linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error'
SHARDED = ('linear(16, init-std=0.3, parallel=column) ! gelu ! linear(4, parallel=row) ! '
           'mean-squared-error')
DATA = ['--input', '32x8', '--data', 'synthetic', '--device', 'cpu']
LIMIT = 30
MPIRUN = ['mpirun', '--oversubscribe', '--bind-to', 'none',
          *(['--allow-run-as-root'] if os.geteuid() == 0 else [])]


def lig(*words, code=0, **more):
    result = subprocess.run([LIG, *words], check=False, text=True, capture_output=True,
                            stdin=subprocess.DEVNULL, timeout=120, **more)
    assert result.returncode == code, f'{words}: {result.returncode}: {result.stderr}'
    return result


def sweep(*words, code=0):
    """Returns the document of a sweep, and the lines of standard error."""
    result = lig('sweep', *words, '--json', code=code)
    return json.loads(result.stdout), result.stderr.splitlines()


def read_parent(process):
    """Returns the parent of a process; None if it is gone."""
    try:
        with open(f'/proc/{process}/stat', encoding='utf-8') as file:
            return int(file.read().rpartition(')')[2].split()[1])
    except OSError:
        return None


def list_children(process):
    return sorted(int(name) for name in os.listdir('/proc')
                  if name.isdigit() and read_parent(name) == process)


def find_second():
    """Returns the row of the second point of the newest sweep; None before it has begun."""
    result = subprocess.run([LIG, 'runs', 'list', '--sweep', 'last', '--json'], check=False, text=True,
                            capture_output=True)
    rows = json.loads(result.stdout) if result.returncode == 0 else []
    return next((row for row in rows if row['point'] == 1), None)


# --- Results ----------------------------------------------------------------------------------

def same_result():
    """Documents have the form of one process's, and nearly its numbers; each run records its ranks
    as one of `lig train` does."""
    words = (MODEL, *DATA, '--steps', '15', '--over', 'lr=0.01,0.001', '--over', 'batch=32,16')
    one, two = [sweep(*words, '--ranks', count)[0] for count in ('1', '2')]
    assert one.keys() == two.keys() and (one['ranks'], one['parallel']) == (1, None), one
    assert (two['ranks'], two['parallel'], two['status']) == (2, 'data=2', 'done'), two
    assert len(one['runs']) == len(two['runs']) == 4
    for a, b in zip(one['runs'], two['runs']):
        assert a['settings'] == b['settings'] and (a['status'], b['status']) == ('done', 'done')
        assert abs(a['eval']['loss'] - b['eval']['loss']) < 1e-5 * a['eval']['loss'], (a, b)
    rows = json.loads(lig('runs', 'list', '--sweep', two['sweep'], '--json').stdout)
    assert [row['point'] for row in rows] == [3, 2, 1, 0], rows
    lig('train', MODEL, *DATA, '--steps', '15', '--seed', '0', '--ranks', '2')
    trained, swept = [json.loads(lig('runs', 'show', name, '--json').stdout)
                      for name in ('last', rows[1]['run'])]
    assert trained['inputs'] == swept['inputs'] and swept['inputs']['ranks'] == 2, swept['inputs']
    assert trained['settings'].keys() == swept['settings'].keys()


def standard_input_and_mpirun():
    """Rank 0 reads the sequence; a user's mpirun starts the ranks; only rank 0 prints."""
    words = ('-', *DATA, '--steps', '2', '--over', 'seed=1,2', '--quiet')
    for command in ([LIG, 'sweep', *words, '--ranks', '2'], [*MPIRUN, '-n', '2', LIG, 'sweep', *words]):
        result = subprocess.run(command, input=MODEL, check=False, text=True, capture_output=True)
        # mpirun and the MPI library may print messages about the machine.
        said = [line for line in result.stderr.splitlines() if line.startswith('lig: ')]
        assert result.returncode == 0 and not said, result.stderr
        document = sweep('--resume', result.stdout.strip())[0]
        assert document['ranks'] == 2 and document['status'] == 'done', document


# --- Failing points ---------------------------------------------------------------------------

def failing_points():
    """A loss that is not finite, a batch that the ranks cannot shard: the other points are
    trained."""
    with open('points.csv', 'w', encoding='ascii') as file:
        file.write('lr,batch\n0.1,4\n1e6,4\n0.1,3\n0.2,2\n')
    document, said = sweep('linear(2) ! mean-squared-error', '--input', '4x2', *DATA[2:], '--steps',
                           '20', '--optimizer', 'sgd', '--list', 'points.csv', '--ranks', '2', code=1)
    states = [point['status'] for point in document['runs']]
    assert states == ['done', 'failed', 'failed', 'done'], document['runs']
    messages = [point['message'] for point in document['runs']]
    assert messages[1].startswith('the loss is '), messages
    assert messages[2] == ('the batch size is 3, expected a multiple of 2, the number of ranks'), messages
    assert said[-1].startswith('lig: 2 of 4 runs failed; try again with: lig sweep --resume '), said
    again = sweep('--resume', 'last', '--retry', code=1)[0]
    assert [point['status'] for point in again['runs']] == states
    assert again['runs'][1]['run'] != document['runs'][1]['run']


def failing_programs():
    """An op that the ranks cannot shard, and a plan that needs more memory than the machine has."""
    with open('/proc/meminfo', encoding='ascii') as file:
        memory = 1024 * int(next(line for line in file if line.startswith('MemTotal')).split()[1])
    words = (SHARDED, *DATA, '--steps', '3', '--ranks', '2', '--parallel', 'tensor=2')
    document = sweep(*words, '--over', '0.out-features=16,15,18', code=1)[0]
    assert document['parallel'] == 'tensor=2'
    assert [point['status'] for point in document['runs']] == ['done', 'failed', 'done'], document
    assert 'out-features is 15, expected a multiple of the tensor-parallel size, 2' in document['runs'][1]['message']
    document = sweep(*words, '--over', f'batch=32,{memory // 100 // 2 * 2},16', code=1)[0]
    assert [point['status'] for point in document['runs']] == ['done', 'failed', 'done'], document
    assert 'the plan does not fit cpu: it needs ' in document['runs'][1]['message'], document['runs'][1]


def hopeless():
    """An error that all points share is reported once, as by one process."""
    for words, code in ((('linear(4)', *DATA, '--over', 'seed=1..50'), 1),
                        ((MODEL, *DATA, '--over', 'lr=0.1,x'), 2)):
        one, two = [lig('sweep', *words, '--json', '--ranks', count, code=code) for count in ('1', '2')]
        assert (one.stdout, one.stderr) == (two.stdout, two.stderr), two.stderr


# --- Continuing -------------------------------------------------------------------------------

class Job:
    """A sweep whose second point is endless, and trains."""

    def __init__(self, *words):
        self.lig = subprocess.Popen([LIG, 'sweep', *words], text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        mpirun = list_children(self.lig.pid)
        end = time.monotonic() + LIMIT
        while not mpirun or len(list_children(mpirun[0])) < 2:
            assert time.monotonic() < end and self.lig.poll() is None, self.lig.stderr.read()
            time.sleep(0.02)
            mpirun = list_children(self.lig.pid)
        self.ranks = list_children(mpirun[0])

    def wait_for(self, step):
        """Returns the row of the second point once its last step is a later one."""
        end = time.monotonic() + LIMIT
        while True:
            row = find_second()
            if row and row['status'] == 'running' and (row['last_step'] or 0) > step:
                return row
            assert time.monotonic() < end and self.lig.poll() is None, row
            time.sleep(0.05)

    def finish(self, code):
        output, errors = self.lig.communicate(timeout=LIMIT)
        assert self.lig.returncode == code, (self.lig.returncode, output, errors)
        return find_second(), errors.splitlines()


ENDLESS = (SHARDED, *DATA, '--eval-every', '100000000', '--checkpoint-every', '200', '--over',
           'steps=2,100000000,3', '--ranks', '2', '--parallel', 'tensor=2')


def begin():
    """Returns a sweep in its own store, so that it is the last one."""
    os.environ['LIGATURE_STORE'] = tempfile.mkdtemp(dir=folder) + '/runs.db'
    return Job(*ENDLESS)


def interrupted():
    """Ctrl+C saves and ends all; the sweep continues with its ranks, and with no others."""
    job = begin()
    first = job.wait_for(0)
    job.lig.send_signal(signal.SIGINT)
    row, errors = job.finish(130)
    assert row['status'] == 'interrupted', row
    assert sum('saving a checkpoint' in line for line in errors) == 1, errors
    assert '1 of 3 runs ended; continue with: lig sweep --resume ' in errors[-1], errors
    for option, value, fixed in (('ranks', '3', 'ranks 2'), ('ranks', '1', 'ranks 2'),
                                 ('parallel', 'data=2', 'parallel tensor=2')):
        said = lig('sweep', '--resume', 'last', '--' + option, value, code=2).stderr
        assert said == (f'lig: --{option} cannot be combined with --resume: the sweep fixes it ({fixed}); '
                        'omit it\n'), said
    result = subprocess.run([*MPIRUN, '-n', '3', LIG, 'sweep', '--resume', 'last'], check=False,
                            text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode != 0
    assert 'the sweep has 2 ranks, but the launcher started 3; start 2\n' in result.stderr, result.stderr
    again = Job('--resume', 'last', '--ranks', '2', '--parallel', 'tensor=2')
    assert again.wait_for(row['last_step'])['run'] == first['run']
    again.lig.send_signal(signal.SIGTERM)
    later, _ = again.finish(130)
    assert later['last_step'] > row['last_step']


def rank_lost():
    """The point is interrupted, and continues from its checkpoint."""
    job = begin()
    first = job.wait_for(400)
    os.kill(job.ranks[1], signal.SIGKILL)
    row, errors = job.finish(1)
    said = [line for line in errors if 'ranks: ' in line]
    assert len(said) == 1, errors
    assert said[0].startswith(f'lig: ranks: rank 1 on {HOST} ended (process '), said
    assert row['status'] == 'interrupted', row
    again = Job('--resume', 'last')
    assert len(again.ranks) == 2 and again.wait_for(row['last_step'])['run'] == first['run']
    again.lig.send_signal(signal.SIGINT)
    again.finish(130)


if not shutil.which('mpirun'):
    print('1..0 # SKIP mpirun is not installed (package openmpi-bin)')
    sys.exit(0)
folder = tempfile.mkdtemp()
# OpenMPI frees little at exit, and unloads the code that a suppression could name.
os.environ.update(LIGATURE_STORE=folder + '/runs.db', XDG_DATA_HOME=folder, LC_ALL='C.UTF-8',
                  ASAN_OPTIONS='detect_leaks=0')
os.chdir(folder)
chosen = sys.argv[1:]
tests = [same_result, standard_input_and_mpirun, failing_points, failing_programs, hopeless,
         interrupted, rank_lost]
try:
    run([test for test in tests if not chosen or test.__name__ in chosen])
finally:
    shutil.rmtree(folder, ignore_errors=True)
