#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that every source has its licence in the first two lines, and that no file contains a path
# of the author's machine.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
status=0

sources=('*.c' '*.h' '*.cu' '*.cuh' '*.py' '*.sh' '*.sql' '*.in' '*meson.build' meson_options.txt
  setup .ci/run po/POTFILES po/LINGUAS)

tests/lint/sources.sh "${sources[@]}" | xargs -d '\n' awk '
  function tell () { if (file != "" && !has) { print file ": no SPDX-License-Identifier line"; bad = 1 } }
  FNR == 1 { tell (); file = FILENAME; has = 0 }
  FNR <= 2 && /SPDX-License-Identifier: MIT/ { has = 1 }
  END { tell (); exit bad }' || status=1

if tests/lint/sources.sh "${sources[@]}" '*.md' '*.lig' '*.json' '*.plan' '*.errors' |
  xargs -d '\n' grep -nIE '/(home|root|work|Users)/[a-z]'; then
  echo 'these files contain a path of one machine'
  status=1
fi
exit $status
