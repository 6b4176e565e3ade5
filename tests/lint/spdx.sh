#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that every source has its licence in the first two lines, and that no file contains a path
# of the machine on which it was written.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
status=0

sources=('*.c' '*.h' '*.cu' '*.cuh' '*.py' '*.sh' '*.sql' '*.in' '*meson.build' meson_options.txt
  setup .ci/run po/POTFILES po/LINGUAS)

while read -r file; do
  head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' && continue
  echo "$file: no SPDX-License-Identifier line"
  status=1
done < <(tests/lint/sources.sh "${sources[@]}")

if tests/lint/sources.sh "${sources[@]}" '*.md' '*.lig' '*.json' '*.plan' '*.errors' |
  grep -v '^tests/lint/spdx\.sh$' | xargs -d '\n' grep -nIE '(/home/|/root/|/work/|/Users/)[a-z]'; then
  echo 'these files contain a path of one machine'
  status=1
fi
exit $status
