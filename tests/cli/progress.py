# SPDX-License-Identifier: MIT
"""The progress of `lig` on terminals of all widths, in pipes and under job control."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from terminal import Screen, Terminal, run  # noqa: E402

LIG = os.environ['LIG']
MODEL = 'linear(16, init-std=0.3) ! gelu ! linear(4) ! mean-squared-error'
ENDLESS = ['--input', '32x8', '--data', 'synthetic', '--device', 'cpu', '--steps', '100000000',
           '--eval-every', '1000', '--eval-batches', '2']
STEP = r'(step )?\d+/\d+'


def train(*more, **options):
    return Terminal([LIG, 'train', MODEL] + ENDLESS + list(more), **options)


def progress_rows(terminal):
    return [row for row in terminal.screen.rows() if re.search(STEP + r'( ·|$|…)', row)]


def interrupt(terminal):
    terminal.type('\x03')
    code = terminal.finish()
    assert code == 130, code


def check_clean(terminal):
    """No progress is left on the screen, and each row of the result begins in the first column."""
    rows = terminal.screen.rows()
    assert not progress_rows(terminal), '\n'.join(rows)
    assert rows[0].startswith('lig: synthetic:'), rows[0]
    assert any(row.startswith('lig: interrupted: saving') for row in rows), '\n'.join(rows)
    assert any(row.startswith('interrupted after ') for row in rows), '\n'.join(rows)


def check_width(columns, wanted, unwanted):
    terminal = train(columns=columns)
    terminal.wait_for(wanted)
    terminal.wait_for_updates(4)
    rows = progress_rows(terminal)
    assert len(rows) == 1, rows
    assert len(rows[0]) < columns, rows
    assert re.search(wanted, rows[0]), rows
    assert not unwanted or not re.search(unwanted, rows[0]), rows
    interrupt(terminal)
    if columns >= 60:
        check_clean(terminal)


def widths_20():
    check_width(20, r'^\d+/1000000', 'validation loss|samples')


def widths_60():
    check_width(60, r'^(step )?\d+/\d+ · (loss )?\d\.\d+ · \S+( [kM])?( samples)?/s · .*', 'validation loss')


def widths_78():
    check_width(78, STEP + r' · loss \d\.\d+ · .*samples/s · .* left', None)


def widths_200():
    check_width(200, STEP + r' · loss \S+ · validation loss \S+ · .*samples/s · .* a step · .* left$', None)


def resize_to(first, second, rewraps):
    terminal = train(columns=first, rewraps=rewraps)
    terminal.wait_for(STEP + ' ·')
    terminal.wait_for_updates(3)
    terminal.resize(second)
    terminal.wait_for_updates(3)
    rows = terminal.screen.rows()
    assert len(progress_rows(terminal)) == 1, '\n'.join(rows)
    assert rows[0].startswith('lig: synthetic:'[:second]), '\n'.join(rows)
    # Only the first message, perhaps wrapped, is above the line.
    above = ''.join(rows[:-1])
    assert re.fullmatch(r'lig: synthetic: 65,536 samples, ?.*', above) and '/' not in above, rows
    assert len(rows[-1]) < second, rows
    interrupt(terminal)


def resize_narrower():
    resize_to(150, 40, True)


def resize_narrower_and_cut():
    resize_to(150, 40, False)


def resize_to_the_least():
    resize_to(78, 20, True)


def resize_wider():
    resize_to(40, 150, True)


def interrupted_twice():
    terminal = train('--checkpoint-every', '1')
    terminal.wait_for(STEP)
    # Both are typed before the program reads them: the second one kills it, with the line removed.
    terminal.type('\x03')
    terminal.wait_for('interrupted: saving')
    terminal.type('\x03')
    code = terminal.finish()
    assert code in (130, -signal.SIGINT), code
    assert not progress_rows(terminal), terminal.screen.rows()


def killed():
    terminal = train()
    terminal.wait_for(STEP)
    terminal.wait_for_updates(2)
    terminal.type('\x1c')
    assert terminal.finish() == -signal.SIGQUIT
    assert not progress_rows(terminal), terminal.screen.rows()


def stopped_and_continued():
    terminal = train()
    terminal.wait_for(STEP + ' ·')
    terminal.type('\x1a')
    terminal.wait_stopped()
    terminal.read(lambda: not progress_rows(terminal))
    settled = time.monotonic() + 0.2
    terminal.read(lambda: time.monotonic() > settled)
    silent = len(terminal.raw)
    end = time.monotonic() + 0.3
    terminal.read(lambda: time.monotonic() > end)
    assert len(terminal.raw) == silent
    terminal.resume()
    terminal.wait_for(STEP + ' ·')
    interrupt(terminal)
    check_clean(terminal)


def background():
    terminal = train(background=True)
    end = time.monotonic() + 1.5
    terminal.read(lambda: time.monotonic() > end)
    assert not progress_rows(terminal) and '\x1b' not in terminal.raw, repr(terminal.raw)


def warning_in_between():
    folder = tempfile.mkdtemp()
    os.mkdir(folder + '/c')
    terminal = train('--checkpoint', folder + '/c/t.safetensors', '--checkpoint-every', '2000')
    terminal.wait_for(STEP + ' ·')
    shutil.rmtree(folder + '/c', ignore_errors=True)
    open(folder + '/c', 'w').close()
    terminal.wait_for('^lig: .*checkpoint')
    terminal.wait_for(STEP + ' ·')
    rows = terminal.screen.rows()
    assert len(progress_rows(terminal)) == 1, '\n'.join(rows)
    assert len([row for row in rows if re.search('^lig: .*checkpoint', row)]) == 1, '\n'.join(rows)
    terminal.type('\x03')
    terminal.finish()
    assert not progress_rows(terminal), terminal.screen.rows()
    shutil.rmtree(folder)


def evaluation():
    """A validation evaluation that takes a while is shown when it happens."""
    terminal = Terminal([LIG, 'train', MODEL, '--input', '32x8', '--data', 'synthetic?samples=4000000',
                         '--device', 'cpu', '--steps', '100000000', '--eval-every', '20000',
                         '--eval-batches', '10000000'], columns=60)
    terminal.wait_for('evaluating')
    interrupt(terminal)


def dumb():
    for variables in ({'term': 'dumb'}, {'term': ''}, {'CI': 'true'}):
        terminal = Terminal([LIG, 'train', MODEL] + ENDLESS[:6] + ['--steps', '20000'], **variables)
        assert terminal.finish() == 0
        text = terminal.raw.replace('\r\n', '\n')
        assert '\r' not in text and '\x1b' not in text, repr(text)
        assert re.search('^step 20000/20000 · ', text, re.M), text


def quiet():
    terminal = Terminal([LIG, 'train', MODEL, '-q'] + ENDLESS[:6] + ['--steps', '100000'])
    assert terminal.finish() == 0
    assert re.fullmatch(r'[0-9a-f-]{36}\r\n', terminal.raw), repr(terminal.raw)


def diverging():
    """A loss that grows without bound does not make the line longer."""
    result = subprocess.run([LIG, 'train', MODEL] + ENDLESS[:6] + ['--steps', '50', '--lr', '1000'],
                            stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert re.search(r'^step 50/50 · loss \d\.\d+e\+\d\d · ', result.stderr, re.M), result.stderr


def lines_in_a_pipe():
    begin = time.monotonic()
    result = subprocess.run([LIG, 'train', MODEL] + ENDLESS[:6] + ['--steps', '60000'],
                            stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert result.returncode == 0
    assert '\r' not in result.stderr and '\x1b' not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith('step ')]
    assert 1 <= len(lines) <= 2 + (time.monotonic() - begin) // 10, lines
    assert lines[-1].startswith('step 60000/60000 · loss '), lines
    assert ' · validation loss ' in lines[-1] and ' samples/s' in lines[-1] and ' a step' in lines[-1], lines
    if len(lines) > 1:
        assert lines[0].endswith(' left'), lines


def metrics_on_the_terminal():
    """Lines of metrics, also those that another program prints, are not mixed with progress. The
    program prints them at its end, because the output of two programs at once has no lines. A
    terminal that reads too slowly, as on a busy machine, gets fewer lines, and the number of those
    that were omitted."""
    command = ' '.join("'%s'" % word for word in [LIG, 'train', MODEL] + ENDLESS[:6])
    for end in ('', ' | sort'):
        terminal = Terminal(['/bin/sh', '-c', command + ' --steps 20000 --metrics -' + end])
        assert terminal.finish() == 0
        text = terminal.raw.replace('\r\n', '\n')
        assert '\r' not in text and '\x1b' not in text, repr(text[:2000])
        left_out = re.search(r'the reader was too slow for (\d+) steps', text)
        left_out = int(left_out.group(1)) if left_out else 0
        assert text.count('"grad_norm"') + left_out == 20000, (text.count('"grad_norm"'), left_out)
        assert re.search('^done after 20000 steps', text, re.M), text[-500:]


def sweep():
    terminal = Terminal([LIG, 'sweep', MODEL] + ENDLESS[:6] + ['--over', 'steps=1000,100000000'],
                        columns=100)
    terminal.wait_for(r'^run 2/2 · ' + STEP)
    assert any(row.startswith('lig: 1 of 2: steps 1000: ') for row in terminal.screen.rows())
    assert len(progress_rows(terminal)) == 1, terminal.screen.rows()
    interrupt(terminal)
    assert not progress_rows(terminal), terminal.screen.rows()


def measuring(command, pattern, narrower):
    """A long measurement names itself and the time, and Ctrl+C leaves nothing of it."""
    terminal = Terminal([LIG] + command, columns=60)
    terminal.wait_for(pattern)
    if narrower:
        terminal.resize(narrower)
        terminal.wait_for_updates(2)
        rows = [row for row in terminal.screen.rows() if ' · ' in row]
        assert len(rows) == 1 and len(rows[0]) < narrower, rows
    terminal.type('\x03')
    assert terminal.finish() == -signal.SIGINT
    assert not [row for row in terminal.screen.rows() if ' · ' in row], terminal.screen.rows()


def profile():
    measuring(['profile', 'linear(1024) ! gelu ! linear(1024)', '--input', '1024x1024', '--device',
               'cpu', '--steps', '1000', '--compare', 'none,all'],
              r'^profiling · step \d+/1000 · none,all · .* left$', 30)


def devices():
    measuring(['devices', 'cpu', '--measure'], r'^measuring cpu · \d+ s elapsed$', None)


def screen_itself():
    """The screen of these tests finds what the tests look for."""
    screen = Screen(10)
    screen.feed('above\r\nabcdefghijklmno\r')
    assert screen.rows() == ['above', 'abcdefghij', 'klmno']
    screen.feed('\r\nnew')
    assert len(screen.rows()) == 4
    wide = Screen(10)
    wide.feed('日本\r')
    wide.feed('x\x1b[J')
    assert wide.rows() == ['x']


folder = tempfile.mkdtemp()
os.environ['LIGATURE_STORE'] = folder + '/runs.db'
os.environ['XDG_DATA_HOME'] = folder
os.environ['LC_ALL'] = 'C.UTF-8'
chosen = sys.argv[1:]
tests = [screen_itself, widths_20, widths_60, widths_78, widths_200, resize_narrower,
         resize_narrower_and_cut, resize_to_the_least, resize_wider, interrupted_twice, killed,
         stopped_and_continued, background, warning_in_between, evaluation, dumb, quiet,
         diverging, lines_in_a_pipe, metrics_on_the_terminal, sweep, profile, devices]
try:
    run([test for test in tests if not chosen or test.__name__ in chosen])
finally:
    shutil.rmtree(folder, ignore_errors=True)
