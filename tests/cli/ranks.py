#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`lig train --ranks`: its output, exit codes, signals and faults are those of one process."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import Terminal, run  # noqa: E402

LIG = os.environ['LIG']
HOST = socket.gethostname()
MODEL = 'linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error'
DATA = ['--input', '32x8', '--data', 'synthetic', '--device', 'cpu']
ENDLESS = DATA + ['--steps', '100000000', '--eval-every', '100000000']
RESUMED = '; the last checkpoint can be resumed'
SLOWNESS = int(os.environ.get('LIGATURE_SLOWNESS', '1'))
# Seconds without a heartbeat; until all processes are gone; and for the processes of a job that was
# signalled.
SILENCE, LIMIT, ENDING = 3, 20 * SLOWNESS, 5 * SLOWNESS


def lig(*words, code=0, **more):
    result = subprocess.run([LIG, *words], check=False, text=True, capture_output=True,
                            stdin=subprocess.DEVNULL, **more)
    assert result.returncode == code, f'{words}: {result.returncode}: {result.stderr}'
    return result


def last_run():
    return json.loads(lig('runs', 'show', 'last', '--json').stdout)


# --- Processes --------------------------------------------------------------------------------

def read_stat(process):
    """Returns the state and the parent of a process; None if it is gone."""
    try:
        with open(f'/proc/{process}/stat', encoding='utf-8') as file:
            state, parent = file.read().rpartition(')')[2].split()[:2]
            return state, int(parent)
    except OSError:
        return None


def list_children(process):
    found = [(int(name), read_stat(name)) for name in os.listdir('/proc') if name.isdigit()]
    return sorted(child for child, stat in found if stat and stat[1] == process)


def exists(process):
    stat = read_stat(process)
    return stat is not None and stat[0] not in 'ZX'


class Job:
    """An endless run, with its processes."""

    def __init__(self, count, *more, model=MODEL, data=DATA):
        environment = dict(os.environ, LIGATURE_RANKS_SILENCE=str(SILENCE))
        self.errors = tempfile.TemporaryFile('w+')
        steps = [] if '--steps' in more else ENDLESS[len(DATA):]
        self.lig = subprocess.Popen([LIG, 'train', model, *data, *steps, '--ranks', str(count),
                                     '--metrics', '-', *more], env=environment, text=True, stdout=subprocess.PIPE,
                                    stderr=self.errors, stdin=subprocess.DEVNULL)
        assert json.loads(self.lig.stdout.readline())['step'] == 1
        self.mpirun = list_children(self.lig.pid)[0]
        self.ranks = list_children(self.mpirun)
        assert len(self.ranks) == count, self.ranks

    def wait_for(self, text):
        """Waits until standard error contains the text; keeps its file position for writing."""
        end = time.monotonic() + LIMIT
        while text.encode() not in os.pread(self.errors.fileno(), 1 << 20, 0):
            assert time.monotonic() < end, text
            time.sleep(0.002)

    def finish(self):
        """Waits until all processes are gone. Returns the exit code and standard error."""
        self.lig.communicate(timeout=LIMIT)
        end = time.monotonic() + LIMIT
        while any(map(exists, [self.mpirun, *self.ranks])):
            assert time.monotonic() < end, 'processes are left'
            time.sleep(0.05)
        self.errors.seek(0)
        return self.lig.returncode, self.errors.read().splitlines()

    def find_sentence(self, code=1):
        """Finishes; returns the only message about ranks."""
        ended, errors = self.finish()
        assert ended == code, (ended, errors)
        # No message of mpirun's.
        assert not [line for line in errors if not re.match('lig: |step ', line)], errors
        sentences = [line for line in errors if 'rank' in line]
        assert len(sentences) == 1, errors
        return sentences[0]


def expect_failed(sentence):
    found = last_run()
    assert found['status'] == 'failed', (found['status'], sentence)
    assert found['message'] == sentence.removeprefix('lig: '), found['message']


# --- Results ----------------------------------------------------------------------------------

def same_result():
    """Output, metrics and the store are those of one process; the numbers are nearly the same."""
    documents = [json.loads(lig('train', MODEL, *DATA, '--steps', '20', '--json', '--ranks',
                                str(count)).stdout) for count in (1, 2, 4)]
    for document in documents[1:]:
        assert document.keys() == documents[0].keys()
        assert document['status'] == 'done' and document['steps'] == 20
        for part, name in (('loss', 'last'), ('eval', 'loss')):
            one, other = documents[0][part][name], document[part][name]
            assert abs(one - other) < 1e-5 * abs(one), (one, other)
    assert len(json.loads(lig('runs', 'list', '--json').stdout)) == 3


def quiet_and_metrics():
    assert re.fullmatch(r'[0-9a-f-]{36}\n', lig('train', MODEL, *DATA, '--steps', '3', '--quiet',
                                                '--ranks', '2').stdout)
    result = lig('train', MODEL, *DATA, '--steps', '3', '--metrics', '-', '--ranks', '2')
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row['step'] for row in rows] == [1, 2, 3, 3], rows
    assert 'done after 3 steps' in result.stderr


def standard_input():
    result = subprocess.run([LIG, 'train', '-', *DATA, '--steps', '3', '--quiet', '--ranks', '2'],
                            input=MODEL, check=False, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr


def threads():
    """The ranks share the CPUs, unless the user says otherwise."""
    for given in (None, '3'):
        environment = {name: text for name, text in os.environ.items() if name != 'OMP_NUM_THREADS'}
        environment.update({'OMP_NUM_THREADS': given} if given else {})
        with subprocess.Popen([LIG, 'train', MODEL, *ENDLESS, '--ranks', '2', '--metrics', '-',
                               '--quiet'], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            rank = list_children(list_children(process.pid)[0])[0]
            with open(f'/proc/{rank}/environ', 'rb') as file:
                found = re.search(rb'(?:^|\0)OMP_NUM_THREADS=(\d+)', file.read())[1].decode()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=LIMIT)
        assert found == (given or str(max(len(os.sched_getaffinity(0)) // 2, 1))), found


def rejected_lines():
    for count in ('0', '-1', '1025'):
        errors = lig('train', MODEL, *DATA, '--ranks', count, code=2).stderr
        assert errors == f'lig: --ranks is {count}, expected 1 to 1024\n', errors
    launched = dict(os.environ, OMPI_COMM_WORLD_SIZE='2', OMPI_COMM_WORLD_RANK='0')
    errors = lig('train', MODEL, *DATA, '--ranks', '3', code=2, env=launched).stderr
    assert errors == 'lig: --ranks is 3, but the launcher started 2; omit --ranks\n', errors


def missing_programs():
    errors = lig('train', MODEL, *DATA, '--ranks', '2', code=1,
                 env=dict(os.environ, PATH='/nowhere')).stderr
    assert errors == ('lig: ranks: mpirun is not installed; install the package openmpi-bin\n'), errors
    with tempfile.TemporaryDirectory() as empty:
        for name in ('libmpi.so.40', 'libmpi.so'):
            with open(os.path.join(empty, name), 'w', encoding='ascii') as file:
                file.write('no library')
        launched = dict(os.environ, OMPI_COMM_WORLD_SIZE='2', OMPI_COMM_WORLD_RANK='0',
                        LD_LIBRARY_PATH=empty)
        errors = lig('train', MODEL, *DATA, code=1, env=launched).stderr
    assert errors.startswith('lig: ranks: the library of OpenMPI cannot be opened: '), errors
    assert errors.endswith('; install the package openmpi-bin\n') and errors.count('\n') == 1, errors


def failures_of_all():
    """An error that all ranks find is the same as without ranks."""
    for words, code in ((['linear(3) ! nope', *DATA], 1), ([MODEL, *DATA, '--data', 'csv:none'], 1),
                        ([MODEL, *DATA, '--forbid', 'nope'], 2), (['--resume', 'nope'], 1)):
        one = lig('train', *words, '--json', code=code)
        two = lig('train', *words, '--json', '--ranks', '2', code=code)
        found, wanted = json.loads(two.stdout)['error'], json.loads(one.stdout)['error']
        prefix = f'rank 0 on {HOST}: '
        # Only rank 0 looks for a run.
        found['message'] = found['message'].removeprefix(prefix)
        assert found == wanted, (found, wanted)
        assert two.stderr.replace(prefix, '') == one.stderr, two.stderr


def under_mpirun():
    """Ranks that mpirun started directly join each other."""
    command = ['mpirun', '-n', '2', '--oversubscribe', '--bind-to', 'none']
    if os.geteuid() == 0:
        command.append('--allow-run-as-root')
    result = subprocess.run([*command, LIG, 'train', MODEL, *DATA, '--steps', '3', '--json'],
                            check=False, text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)['steps'] == 3


# --- Profiles ---------------------------------------------------------------------------------

WIDE = 'linear(512) ! relu ! linear(512) ! relu ! linear(512) ! mean-squared-error'
PROFILE = ['--input', '512x512', '--device', 'cpu', '--steps', '5']
MPIRUN = ['mpirun', '--oversubscribe', '--bind-to', 'none',
          *(['--allow-run-as-root'] if os.geteuid() == 0 else [])]


def profiled():
    """All ranks measure, rank 0 prints and records: weights in buckets of 1 MiB, and the biases."""
    words = ('profile', WIDE, *PROFILE, '--ranks', '2', '--bucket-size', '1')
    document = json.loads(lig(*words, '--json').stdout)
    ranks = document['ranks']
    assert ranks['count'] == 2 and ranks['parallel'] == 'data=2' and ranks['slowest'] in (0, 1)
    collectives = ranks['collectives']
    assert [found['kernel'] for found in collectives] == ['all_reduce'] * 4, collectives
    assert sorted(found['bytes'] for found in collectives)[1:] == [1 << 20] * 3, collectives
    assert all(found['measured_us'] > 0 and found['path'] is None for found in collectives)
    # The last one overlaps with nothing.
    assert 0 < ranks['exposed_us'] < document['step_us'] and ranks['imbalance_us'] >= 0, ranks
    assert collectives[-1]['exposed_us'] > 0, collectives
    runs = json.loads(lig('runs', 'list', '--kind', 'profile', '--json').stdout)
    assert len(runs) == 1 and runs[0]['run'] == document['run'], runs
    inputs = json.loads(lig('runs', 'show', document['run'], '--json').stdout)['inputs']
    assert inputs['ranks'] == 2, inputs
    text = lig(*words, '--quiet').stdout
    assert re.search(r'Collectives among ranks 0 to 1: other work waits', text), text
    assert re.search(r'all_reduce of gradients × 3 +3\.1\d? MB', text), text
    for more, fields in (('--shard-optimizer', ['reduce_scatter'] * 2 + ['all_gather'] * 3),
                         ('--eval', [])):
        found = json.loads(lig(*words[:-2], more, '--json').stdout)['ranks']['collectives']
        assert [exchange['kernel'] for exchange in found] == fields, found


def verified():
    """Ranks compare their shards with the unfused plan, also for fusions that communicate in
    chunks."""
    document = json.loads(lig('verify', MODEL, *DATA, '--ranks', '2', '--json').stdout)
    assert document['inside'] and document['batches'] == 6, document['text']
    sharded = ('linear(64, parallel=column{0}) ! gelu ! linear(32, parallel=row{0})')
    for model, fusions in (
            (sharded.format(''), ['forward-linear-all-reduce', 'backward-linear-all-reduce']),
            (f"shard-rows ! {sharded.format(', sequence-parallel=true')} ! all-gather",
             ['forward-all-gather-linear', 'forward-linear-reduce-scatter',
              'backward-all-gather-linear', 'backward-linear-reduce-scatter'])):
        found = json.loads(lig('verify', model, '--input', '32x32', '--dtype', 'bf16', '--device', 'cpu',
                               '--ranks', '2', '--parallel', 'tensor=2', '--json').stdout)
        assert found['inside'], found['text']
        taken = {group['fusion'] for group in found['groups']}
        assert taken.issuperset(fusions), taken
        gradients = [result for result in found['results'] if result['pass'] == 'backward']
        assert len(gradients) == 4 and all(0 <= one['error'] < 0.03 for one in gradients), gradients
    # The plans of the ranks of a ring have different values.
    found = json.loads(lig('verify', 'attention(2)', '--input', '2x8x48', '--device', 'cpu', '--seeds',
                           '1', '--ranks', '2', '--parallel', 'context=2', '--json').stdout)
    assert found['inside'] and found['results'], found['text']
    assert all(0 <= result['error'] < 1e-4 for result in found['results']), found['results']


def profiled_unevenly():
    """A rank with slow matmuls is identified, and the others wait for it. OpenBLAS has kernels for
    old CPUs, unless it was built for one."""
    own = ['env', 'OMP_NUM_THREADS=1', LIG, 'profile', WIDE, *PROFILE, '--json']
    slow = [*own[:2], 'OPENBLAS_CORETYPE=Prescott', *own[2:]]
    alone = [json.loads(subprocess.run(words, check=True, text=True, capture_output=True).stdout)
             for words in (own, slow)]
    if alone[1]['backward_us'] < 2 * alone[0]['backward_us']:
        return
    result = subprocess.run([*MPIRUN, '-n', '1', *own, ':', '-n', '1', *slow], check=False,
                            text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr
    ranks = json.loads(result.stdout)['ranks']
    assert ranks['slowest'] == 1 and ranks['imbalance_us'] > ranks['exposed_us'] > 0, ranks


def profiled_wrongly():
    for words, wanted in (
            (('--ranks', '2', '--input', '511x512'),
             'the batch size is 511, expected a multiple of 2'),
            (('--ranks', '2', '--parallel', 'tensor=3'), 'expected a multiple of 3'),
            (('--ranks', '0'), '--ranks is 0, expected 1 to 1024'),
            (('--ranks', '2', '--compare-recipes', 'none,fp8-current'), 'omit --ranks')):
        result = subprocess.run([LIG, 'profile', WIDE, *PROFILE, *words], check=False, text=True,
                                capture_output=True, stdin=subprocess.DEVNULL)
        said = [line for line in result.stderr.splitlines() if wanted in line]
        assert result.returncode in (1, 2) and len(said) == 1, result.stderr
    result = subprocess.run([*MPIRUN, '-n', '1', LIG, 'profile', WIDE, *PROFILE, ':', '-n', '1', LIG,
                             'profile', MODEL, *PROFILE], check=False, text=True,
                            capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 1 and 'the sequence: rank 1 on ' in result.stderr, result.stderr


# --- Signals ----------------------------------------------------------------------------------

def interrupted():
    """The checkpoint continues on another number of ranks."""
    for number in (signal.SIGINT, signal.SIGTERM):
        job = Job(2, '--checkpoint', 'c.safetensors')
        job.lig.send_signal(number)
        code, errors = job.finish()
        assert code == 130, errors
        assert sum('saving a checkpoint' in line for line in errors) == 1, errors
        assert last_run()['status'] == 'interrupted'
        step = last_run()['last_step']
        for count in (1, 2):
            steps = step + 5 * count
            result = lig('train', '--resume', 'c.safetensors', '--steps', str(steps), '--json',
                         '--ranks', str(count))
            assert json.loads(result.stdout)['steps'] == steps


def repeated():
    """`runs repeat` starts as many ranks as the run had, with the same parallelism; so do repeated
    profiles. The columns of the list show both."""
    sharded = MODEL.replace('std=0.3', 'std=0.3, parallel=column').replace(
        'linear(4)', 'linear(4, parallel=row)')
    for model, words in ((MODEL, ['--shard-optimizer']), (sharded, ['--parallel', 'tensor=2'])):
        lig('train', model, *DATA, '--steps', '12', '--ranks', '2', *words)
        first = last_run()
        result = lig('runs', 'repeat', 'last')
        assert 'repeating training' in result.stderr and 'on 2 × cpu' in result.stderr, result.stderr
        assert result.stderr.count('the last run is') == 1, result.stderr
        assert 'bitwise identical for 12 steps' in result.stdout, result.stdout
        again = last_run()
        assert again['run'] != first['run'] and again['inputs']['repeats'] == first['run']
        assert again['inputs'] == dict(first['inputs'], repeats=first['run']), again['inputs']
    wide = ('profile', WIDE, *PROFILE, '--ranks', '2')
    lig(*wide, '--bucket-size', '1')
    many = last_run()
    # On a busy machine the times of two profiles differ, which gives exit code 1 and is a result.
    result = subprocess.run([LIG, 'runs', 'repeat', 'last', '--json'], check=False, text=True,
                            capture_output=True, stdin=subprocess.DEVNULL)
    outcome = json.loads(result.stdout)
    assert result.returncode == (outcome['outcome'] == 'different'), result
    assert outcome['repeats'] == many['run'], outcome
    assert last_run()['inputs']['ranks'] == 2
    rows = json.loads(lig('runs', 'list', '--columns', 'run,ranks,parallel', '--json').stdout)
    assert rows, rows
    table = lig('runs', 'list', '--columns', 'kind,ranks,parallel').stdout
    assert re.search(r'train +2 +tensor=2', table), table
    assert re.search(r'profile +2 +-', table), table


def recorded():
    """Runs are also compared by their ranks and parallelism; a report has the plan of one rank."""
    sharded = MODEL.replace('std=0.3', 'std=0.3, parallel=column').replace(
        'linear(4)', 'linear(4, parallel=row)')
    lig('train', sharded, *DATA, '--steps', '3', '--device', 'cpu')
    lig('train', sharded, *DATA, '--steps', '3', '--ranks', '2', '--parallel', 'tensor=2')
    table = lig('runs', 'compare', 'last', 'last~1').stdout
    assert re.search(r'^ranks +2 +1$', table, re.M), table
    assert re.search(r'^parallel +tensor=2 +-$', table, re.M), table
    trace = lig('report', 'last', '-o', '-', '--format', 'trace.json').stdout
    assert '"all_reduce"' in trace, trace[:2000]


def repeated_by_others():
    """A number of ranks that differs from the run's is rejected."""
    lig('train', MODEL, *DATA, '--steps', '2')
    result = subprocess.run([*MPIRUN, '-n', '2', LIG, 'runs', 'repeat', 'last'], check=False, text=True,
                            capture_output=True)
    assert result.returncode != 0 and 'the number of ranks is 2, but run ' in result.stderr, result
    assert ' had 1; start as many' in result.stderr, result.stderr


def interrupted_twice():
    job = Job(2)
    os.kill(job.ranks[1], signal.SIGSTOP)
    time.sleep(0.2)  # until rank 0 waits for it, and cannot end its step
    job.lig.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    job.lig.send_signal(signal.SIGINT)
    job.lig.communicate(timeout=LIMIT)
    assert time.monotonic() - began < 2
    code, errors = job.finish()
    assert code in (130, -signal.SIGINT), code
    assert not [line for line in errors if 'rank' in line], errors


def seconds_to_end(job):
    """Waits for the processes of a job that was signalled; they may take ENDING seconds."""
    began = time.monotonic()
    job.lig.communicate(timeout=LIMIT)
    while any(map(exists, [job.mpirun, *job.ranks])):
        assert time.monotonic() - began < ENDING, 'processes are left'
        time.sleep(0.02)
    assert time.monotonic() - began < ENDING


def interrupted_in_a_step():
    """All ranks abandon a step of many micro-batches; after resuming, it gives the same result as
    without the interruption, whether ranks communicate in each micro-batch or once per step."""
    sharded = MODEL.replace('std=0.3', 'std=0.3, parallel=column').replace(
        'linear(4)', 'linear(4, parallel=row)')
    for model, layout in ((MODEL, 'data=2'), (sharded, 'tensor=2')):
        words = ('--accumulate', str(40000 // SLOWNESS), '--seed', '5', '--parallel', layout)
        job = Job(2, '--checkpoint', 'c.safetensors', *words, model=model)
        time.sleep(0.1)
        job.lig.send_signal(signal.SIGTERM)
        seconds_to_end(job)
        code, errors = job.finish()
        assert code == 130, errors
        assert sum('saving a checkpoint' in line for line in errors) == 1, errors
        assert last_run()['status'] == 'interrupted'
        steps = ('--steps', str(last_run()['last_step'] + 1), '--ranks', '2', '--json')
        rest = json.loads(lig('train', '--resume', 'c.safetensors', '--parallel', layout,
                              *steps).stdout)
        whole = json.loads(lig('train', model, *DATA, *words, *steps).stdout)
        assert rest['loss']['last'] == whole['loss']['last'], (rest['loss'], whole['loss'])


def interrupted_in_an_evaluation():
    """All ranks stop the evaluation; the checkpoint has all steps, and the evaluation starts again
    after resuming."""
    data = [word.replace('synthetic', 'synthetic?samples=40000000').replace('32x8', '2x8')
            for word in DATA]
    job = Job(2, '--checkpoint', 'c.safetensors', '--steps', '1', '--eval-batches', '10000000',
              data=data)
    time.sleep(0.5)
    job.lig.send_signal(signal.SIGTERM)
    seconds_to_end(job)
    code, errors = job.finish()
    assert code == 130, errors
    assert (last_run()['status'], last_run()['last_step']) == ('interrupted', 1)
    with subprocess.Popen([LIG, 'train', '--resume', 'c.safetensors', '--ranks', '2'], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as again:
        end = time.monotonic() + LIMIT
        while last_run()['status'] != 'running':
            assert time.monotonic() < end and again.poll() is None, again.stderr.read()
            time.sleep(0.05)
        time.sleep(0.5)
        again.send_signal(signal.SIGTERM)
        assert again.communicate(timeout=LIMIT)[1].count('saving a checkpoint') == 1
    assert again.returncode == 130


def interrupted_twice_in_a_step():
    """A kernel takes a second: after the second signal no process waits for it. One message, none
    from mpirun, and the last checkpoint can be resumed."""
    model = 'linear(2048) ! relu ! linear(2048) ! relu ! linear(2048) ! mean-squared-error'
    data = [word.replace('32x8', '8192x2048') for word in DATA]
    for _ in range(6):
        with contextlib.suppress(FileNotFoundError):
            os.remove('c.safetensors')
        job = Job(2, '--checkpoint', 'c.safetensors', '--checkpoint-every', '1', '--optimizer',
                  'sgd', model=model, data=data)
        end = time.monotonic() + LIMIT
        while not os.path.exists('c.safetensors') or os.path.getsize('c.safetensors') < 1 << 24:
            assert time.monotonic() < end
            time.sleep(0.02)
        job.lig.send_signal(signal.SIGINT)
        job.wait_for('press Ctrl+C again')
        job.lig.send_signal(signal.SIGINT)
        seconds_to_end(job)
        code, errors = job.finish()
        assert code in (130, -signal.SIGINT), code
        said = [line for line in errors if not line.startswith(('step ', 'lig: synthetic'))]
        # The first signal may come shortly before the end of a kernel: then the run ends before
        # the second one, with its summary.
        if not any(line.startswith('interrupted after') for line in said):
            break
    assert len(said) == 1 and 'press Ctrl+C again' in said[0], errors
    assert last_run()['status'] == 'interrupted', last_run()
    steps = str(last_run()['last_step'] + 1)
    result = lig('train', '--resume', 'c.safetensors', '--steps', steps, '--json', '--ranks', '2')
    assert json.loads(result.stdout)['steps'] == int(steps)


def on_a_terminal():
    """The progress is replaced in place; Ctrl+Z stops all ranks, Ctrl+C interrupts."""
    terminal = Terminal([LIG, 'train', MODEL, *ENDLESS, '--ranks', '2'])
    terminal.wait_for(r'step \d+/\d+ ·')
    terminal.wait_for_updates(4)
    ranks = list_children(list_children(terminal.program)[0])
    terminal.type('\x1a')
    terminal.wait_stopped()
    end = time.monotonic() + 5
    while any(read_stat(rank)[0] != 'T' for rank in ranks):
        assert time.monotonic() < end, [read_stat(rank) for rank in ranks]
        time.sleep(0.05)
    terminal.resume()
    terminal.wait_for_updates(4)
    terminal.type('\x03')
    assert terminal.finish() == 130
    rows = terminal.screen.rows()
    assert any(row.startswith('interrupted after ') for row in rows), rows
    assert not [row for row in rows if re.match(r'step \d', row)], rows


# --- Faults -----------------------------------------------------------------------------------

def rank_killed():
    for rank in (1, 2):
        job = Job(4)
        os.kill(job.ranks[rank], signal.SIGKILL)
        sentence = job.find_sentence()
        assert sentence == (f'lig: ranks: rank {rank} on {HOST} ended (process {job.ranks[rank]})'
                            + RESUMED), sentence
        expect_failed(sentence)


def first_killed():
    job = Job(2)
    os.kill(job.ranks[0], signal.SIGKILL)
    sentence = job.find_sentence()
    assert sentence == (f'lig: ranks: rank 0 on {HOST} ended (process {job.ranks[0]}){RESUMED}')
    assert last_run()['status'] == 'interrupted'


def rank_stopped():
    for rank in (0, 1):
        job = Job(2)
        os.kill(job.ranks[rank], signal.SIGSTOP)
        sentence = job.find_sentence()
        assert sentence == (f'lig: ranks: rank {rank} on {HOST} sent no heartbeat for {SILENCE} '
                            f'seconds (process {job.ranks[rank]}){RESUMED}'), sentence
        if rank > 0:
            expect_failed(sentence)


def launcher_killed():
    """Open MPI ends each rank that notices the end of mpirun. If that is rank 0, and before it has
    recorded the reason, another process reports its end, as if it was killed itself."""
    job = Job(2)
    os.kill(job.mpirun, signal.SIGKILL)
    sentence = job.find_sentence()
    assert re.fullmatch(rf'lig: ranks: (the launcher of )?rank \d on {HOST} ended '
                        rf'\(process \d+\){RESUMED}', sentence), sentence
    if f'ranks: rank 0 on {HOST} ended' in sentence:
        assert last_run()['status'] == 'interrupted', (last_run()['status'], sentence)
    else:
        expect_failed(sentence)


def list_ports(process):
    """Returns the ports on which a process listens."""
    folder, ports = f'/proc/{process}/fd', []
    links = {os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)}
    for table in ('tcp', 'tcp6'):
        with open(f'/proc/{process}/net/{table}', encoding='ascii') as file:
            for line in file.readlines()[1:]:
                words = line.split()
                if words[3] == '0A' and f'socket:[{words[9]}]' in links:
                    ports.append(int(words[1].rpartition(':')[2], 16))
    return ports


def silent_connection():
    """A silent connection to a port of mpirun keeps it from ending, but not the run, whose result
    is complete."""
    job = Job(2, '--steps', '4000')
    connections = []
    for port in list_ports(job.mpirun):
        try:
            connections.append(socket.create_connection(('127.0.0.1', port), 2))
        except OSError:
            pass
    assert connections
    job.lig.communicate(timeout=15 + 2 * LIMIT)
    assert job.finish()[0] == 0
    assert last_run()['status'] == 'done'
    for connection in connections:
        connection.close()


def parent_killed():
    job = Job(2)
    job.lig.kill()
    job.finish()


def json_of_a_fault():
    job = subprocess.Popen([LIG, 'train', MODEL, *ENDLESS, '--ranks', '2', '--json', '--metrics',
                            'metrics'], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = time.monotonic() + LIMIT
    while not (os.path.exists('metrics') and os.path.getsize('metrics') > 0):
        assert time.monotonic() < end
        time.sleep(0.05)
    os.kill(list_children(list_children(job.pid)[0])[1], signal.SIGKILL)
    output = job.communicate(timeout=LIMIT)[0]
    error = json.loads(output)['error']
    assert job.returncode == 1 and error['code'] == 'ranks', output
    assert error['message'].startswith(f'ranks: rank 1 on {HOST} ended'), error


if not shutil.which('mpirun'):
    print('1..0 # SKIP mpirun is not installed (package openmpi-bin)')
    sys.exit(0)
folder = tempfile.mkdtemp()
# OpenMPI frees little at exit, and unloads the code that a suppression could name.
os.environ.update(LIGATURE_STORE=folder + '/runs.db', XDG_DATA_HOME=folder, LC_ALL='C.UTF-8',
                  ASAN_OPTIONS='detect_leaks=0')
os.chdir(folder)
parts = {
    'results': [same_result, quiet_and_metrics, standard_input, threads, rejected_lines,
                missing_programs, failures_of_all, under_mpirun, repeated, recorded,
                repeated_by_others],
    'profiles': [profiled, verified, profiled_unevenly, profiled_wrongly],
    'signals': [interrupted, interrupted_twice, interrupted_in_a_step, interrupted_in_an_evaluation,
                interrupted_twice_in_a_step, on_a_terminal],
    'faults': [rank_killed, first_killed, rank_stopped, launcher_killed, silent_connection,
               parent_killed, json_of_a_fault]}
chosen = sys.argv[1:] or parts
tests = [test for name, part in parts.items() for test in part if {name, test.__name__} & {*chosen}]
try:
    run(tests)
finally:
    shutil.rmtree(folder, ignore_errors=True)
