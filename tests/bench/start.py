#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the CPU time that the stages of a short command take before and after its first kernel:
runs `lig apply` of a tiny sequence with LIGATURE_TIMES=1, medians.

Usage: tests/bench/start.py [LIG] [--device D] [--runs N] [--expression E]"""
import argparse
import os
import resource
import statistics
import struct
import subprocess
import tempfile


def write_input(path, rows, columns):
    size = 4 * rows * columns
    header = '{"input":{"dtype":"F32","shape":[%d,%d],"data_offsets":[0,%d]}}' % (
        rows, columns, size)
    header += ' ' * (-len(header) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(header)) + header.encode())
        file.write(struct.pack('<%df' % (rows * columns), *([0.5] * (rows * columns))))


def run_once(command):
    """Seconds of CPU time and wall-clock time by stage, and the total CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=dict(os.environ, LIGATURE_TIMES='1'), text=True,
                          capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    stages, last = {}, None
    for line in done.stderr.splitlines():
        words = line.split(' ', 3)
        if words[0] != 'times:':
            continue
        busy, now = float(words[1]), float(words[2])
        cpu, wall = stages.get(words[3], (0, 0))
        if last:
            stages[words[3]] = (cpu + busy - last[0], wall + now - last[1])
        else:
            stages[words[3]] = (busy, 0)
        last = busy, now
    total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return stages, total, last[0] if last else total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('lig', nargs='?', default='build/app/lig')
    parser.add_argument('--device', default='cuda:0')
    parser.add_argument('--runs', type=int, default=9)
    parser.add_argument('--expression', default='linear(64) ! gelu ! linear(64)')
    parser.add_argument('--policy', help='as for lig apply')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, target = folder + '/x.safetensors', folder + '/y.safetensors'
        write_input(source, 8, 64)
        command = [options.lig, 'apply', options.expression, '--input', source, '-o', target,
                   '--device', options.device]
        if options.policy:
            command += ['--policy', options.policy]
        run_once(command)  # libraries into the page cache
        runs = [run_once(command) for _ in range(options.runs)]
    print('%-24s %10s %10s' % ('stage', 'cpu ms', 'clock ms'))
    for stage in runs[0][0]:
        cpu = statistics.median(run[0].get(stage, (0, 0))[0] for run in runs)
        wall = statistics.median(run[0].get(stage, (0, 0))[1] for run in runs)
        print('%-24s %10.1f %10.1f' % (stage, 1e3 * cpu, 1e3 * wall))
    end = statistics.median(run[1] - run[2] for run in runs)
    print('%-24s %10.1f' % ('end of the process', 1e3 * end))
    print('%-24s %10.1f' % ('all', 1e3 * statistics.median(run[1] for run in runs)))


if __name__ == '__main__':
    main()
