#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that every C file is formatted by clang-format 14; other releases format some lines
# differently.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
command -v clang-format > /dev/null || { echo 'clang-format is not installed'; exit 77; }
version=$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')
[ "$version" = 14 ] || { echo "clang-format is version $version, expected 14"; exit 77; }
found=$(tests/lint/sources.sh '*.c' '*.h' '*.cu' '*.cuh' |
  xargs clang-format --dry-run -Werror 2>&1 | sed -nE 's/^([^ :]+):[0-9]+:.*error:.*/\1/p' | uniq -c)
[ -z "$found" ] && exit 0
printf 'clang-format -i would change this many places:\n%s\n' "$found"
exit 1
