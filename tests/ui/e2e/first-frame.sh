#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# first-frame.sh [BUILD]: milliseconds from the start of the window's program to its first frame,
# under Xvfb with the cairo renderer.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LIGATURE_BUILD=$(readlink -f "${1:-$here/../../../build}") || exit 1
export LIGATURE_BUILD
exec /usr/bin/python3 "$here/start.py"
