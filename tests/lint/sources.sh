#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sources.sh [PATTERN...]: prints the project's files, one per line, relative to its root; with
# patterns (as in `case`) only those that match one. Build folders and ignored files are omitted.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
{
  git ls-files -co --exclude-standard 2> /dev/null ||
    find . \( -path './build*' -o -path ./.git \) -prune -o -type f -printf '%P\n'
} | LC_ALL=C sort | while read -r file; do
  [ -f "$file" ] || continue
  [ $# -gt 0 ] || echo "$file"
  for pattern in "$@"; do
    # shellcheck disable=SC2254
    case "$file" in $pattern) echo "$file"; break ;; esac
  done
done
