# SPDX-License-Identifier: MIT
"""Starts ranks-job under mpirun, and prints tests as TAP."""
import os
import shutil
import subprocess
import sys
import traceback

JOB = os.environ['LIGATURE_RANKS_JOB']
# More ranks than CPUs, perhaps in a container: no binding, no copies between processes.
MPIRUN = ['mpirun', '--oversubscribe', '--bind-to', 'none', '--mca', 'mpi_yield_when_idle', '1',
          '--mca', 'btl_vader_single_copy_mechanism', 'none']
# OpenMPI frees little at its end, and unloads the code that could be named in a suppression.
OPTIONS = 'detect_leaks=0'
if os.geteuid() == 0:
    MPIRUN.append('--allow-run-as-root')


def launch(count, *words, **more):
    """Starts the job; its threads need no CPU of their own."""
    environment = dict(os.environ, OMP_NUM_THREADS='1', ASAN_OPTIONS=OPTIONS,
                       HWLOC_COMPONENTS='-gl', **more)
    return subprocess.Popen(MPIRUN + ['-n', str(count), JOB, *words], env=environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def run(tests):
    """Runs each test, named like its function with its arguments."""
    if not shutil.which('mpirun'):
        print('1..0 # SKIP mpirun is not installed (package openmpi-bin)')
        return
    failed = 0
    print(f'1..{len(tests)}')
    for number, (test, *arguments) in enumerate(tests, 1):
        name = ' '.join([test.__name__, *map(str, arguments)])
        try:
            test(*arguments)
            print(f'ok {number} {name}', flush=True)
        except Exception:  # each test has its own line
            failed += 1
            print(f'not ok {number} {name}', flush=True)
            traceback.print_exc()
    sys.exit(failed > 0)
