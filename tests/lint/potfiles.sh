#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# potfiles.sh [BUILDTYPE]: po/POTFILES names the files with translatable text, in order. A file that
# it lacks is a warning while somebody works, and an error in a release build or without an argument;
# the other lints read the sources themselves.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
listed=$(grep -v '^#' po/POTFILES)
found=$(tests/lint/translated.sh)
[ -n "$found" ] || { echo 'no file with translatable text was found'; exit 1; }
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
