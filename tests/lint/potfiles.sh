#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# po/POTFILES names the files with translatable text, all of them and no others, in order.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
diff <(grep -v '^#' po/POTFILES) \
  <(tests/lint/sources.sh 'app/*.[ch]' 'app/*.ui' 'engine/*.[ch]' 'ui/*.[ch]' 'ui/*.ui' 'data/*.in' |
    xargs grep -lE '(^|[^A-Za-z0-9_])(N?_|ngettext|C_) \("|g_dngettext \(|translatable="|^(Name|Comment)=') &&
  exit 0
echo 'po/POTFILES differs: < stands there, > should'
exit 1
