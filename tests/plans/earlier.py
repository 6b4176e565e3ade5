# SPDX-License-Identifier: MIT
"""Finds the programs of two builds to compare: this one, and one of an earlier commit, which is built
in a folder of this build when it is first asked for."""
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ['-Dcuda=disabled', '-Dgui=disabled']


def run(*words):
    return subprocess.run(words, cwd=ROOT, check=True, text=True, capture_output=True).stdout.strip()


def find_commit(name):
    """Returns the commit of a name; without one the commit before the changes of the work tree, or the
    one before the last."""
    changed = run('git', 'status', '--porcelain', '--untracked-files=no')
    return run('git', 'rev-parse', name or ('HEAD' if changed else 'HEAD~'))


def build_earlier(build, name):
    """Builds the commit, unless it was, and returns its build folder."""
    folder = Path(build).resolve() / 'earlier' / find_commit(name)[:12]
    if not (folder / 'source/meson.build').exists():
        folder.mkdir(parents=True, exist_ok=True)
        run('git', 'worktree', 'prune')
        run('git', 'worktree', 'add', '--detach', str(folder / 'source'), find_commit(name))
    if not (folder / 'build/build.ninja').exists():
        run('meson', 'setup', str(folder / 'build'), str(folder / 'source'), *OPTIONS)
    run('ninja', '-C', str(folder / 'build'), 'app/lig', 'tests/print-plans')
    return folder / 'build'


class Programs:
    """The programs of a build folder, which read the sequences of this work tree."""

    def __init__(self, build, source, store):
        self.build = Path(build).resolve()
        threads = os.environ.get('OMP_NUM_THREADS', '2')
        self.environment = dict(os.environ, LC_ALL='C', LANGUAGE='en', LIGATURE_STORE=store,
                                LIGATURE_DATA=f'{source}/data', LIGATURE_SOURCE=str(source),
                                OMP_NUM_THREADS=threads, GOMP_SPINCOUNT='1', COLUMNS='100')

    def run(self, program, *words, text=None, folder=ROOT):
        path = self.build / {'lig': 'app/lig', 'print-plans': 'tests/print-plans'}[program]
        return subprocess.run([path, *words], cwd=folder, env=self.environment, input=text,
                              stdin=None if text is not None else subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=1800, check=False)


def find_both(build, commit, store):
    """Returns the programs of an earlier commit, and those of the build."""
    earlier = build_earlier(build, commit)
    return (Programs(earlier, earlier.parent / 'source', f'{store}/earlier.db'),
            Programs(build, ROOT, f'{store}/now.db'))
