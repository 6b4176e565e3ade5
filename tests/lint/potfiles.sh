#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# potfiles.sh [BUILDTYPE]: checks that po/POTFILES names the files with translatable text, in order. A
# missing file is an error in a release build or without an argument, otherwise a warning, as the other
# lints do not read the list.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
listed=$(grep -v '^#' po/POTFILES)
found=$(tests/lint/translated.sh)
[ -n "$found" ] || { echo 'no file with translatable text found'; exit 1; }
[ "$listed" != "$found" ] || exit 0
surplus=$(comm -23 <(LC_ALL=C sort <<< "$listed") <(LC_ALL=C sort <<< "$found"))
missing=$(comm -13 <(LC_ALL=C sort <<< "$listed") <(LC_ALL=C sort <<< "$found"))
if [ -n "$surplus" ]; then
  printf 'po/POTFILES names files without translatable text:\n%s\n' "$surplus"
  exit 1
fi
[ -n "$missing" ] || { echo 'po/POTFILES is not in order'; exit 1; }
printf 'po/POTFILES lacks:\n%s\n' "$missing"
[ "${1:-release}" != release ]
