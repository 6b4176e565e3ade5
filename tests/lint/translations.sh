#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# translations.sh [BUILDTYPE]: checks that every language of po/LINGUAS has every text of the
# sources, none of it fuzzy, with the same format directives. A missing text is an error in a
# release build or without an argument, otherwise a warning.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
command -v xgettext > /dev/null || { echo 'xgettext is not installed'; exit 77; }
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
tests/lint/translated.sh > "$folder/files"
xgettext --from-code=UTF-8 --add-comments --files-from="$folder/files" --output="$folder/new.pot" \
  --keyword=_ --keyword=N_ --keyword=C_:1c,2 --keyword=NC_:1c,2 --keyword=ngettext:1,2 \
  --keyword=g_dngettext:2,3 --flag=ngettext:1:pass-c-format --flag=g_dngettext:2:pass-c-format \
  --flag=g_strdup_printf:1:c-format 2> "$folder/log" ||
  { cat "$folder/log"; exit 1; }
status=0
for language in $(grep -v '^#' po/LINGUAS); do
  msgfmt --check --output-file=/dev/null "po/$language.po" || status=1
  msgmerge --quiet --no-fuzzy-matching --output-file="$folder/$language.po" \
    "po/$language.po" "$folder/new.pot"
  missing=$(msgattrib --untranslated --no-location --no-wrap "$folder/$language.po" | grep '^msgid "[^"]')
  [ -n "$missing" ] || continue
  printf 'po/%s.po lacks:\n%s\n' "$language" "$missing"
  [ "${1:-release}" != release ] || status=1
done
exit $status
