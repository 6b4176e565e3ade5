#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# translated.sh: prints the files with translatable text, one per line, in order.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
tests/lint/sources.sh 'app/*.[ch]' 'app/*.ui' 'engine/*.[ch]' 'ui/*.[ch]' 'ui/*.ui' 'data/*.in' |
  xargs grep -lE '(^|[^A-Za-z0-9_])(N?_|ngettext|C_) \("|g_dngettext \(|translatable="|^(Name|Comment)='
