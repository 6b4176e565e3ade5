#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# first-frame.sh [BUILD]: milliseconds from the start of the window's program to its first frame,
# under Xvfb with the cairo renderer.
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
LIGATURE_BUILD=$(readlink -f "${1:-$PWD/../../../build}") exec /usr/bin/python3 window.py test_first_frame
