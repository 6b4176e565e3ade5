#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# readme.sh LIG: runs, as TAP, each block marked `sh tour` of README.md and of the documents in
# data/doc, in order, in one temporary folder that has the project's files; every command must
# succeed. A block marked `text` must be the output of the block marked `sh quote` before it, and
# figures.py compares the numbers of sentences and tables, so that no figure in a document is older
# than the program. LIGATURE_REGENERATE renews outputs and tables.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
lig=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root"/* "$work"
PATH=$(dirname "$lig"):$PATH
export XDG_DATA_HOME=$work/home
unset LIGATURE_STORE
cd "$work" || exit 1

awk -v stem="$work/block" '/^```sh tour$/ { file = sprintf ("%s-%02d.sh", stem, ++n); next }
  /^```/ { file = "" } file { print > file }' "$root/README.md" "$root"/data/doc/*.md

n=0
for block in "$work"/block-*.sh; do
  [ -f "$block" ] || continue
  n=$((n + 1))
  if bash -euo pipefail "$block" > "$work/log" 2>&1 < /dev/null; then
    echo "ok $n - $(head -n 1 "$block")"
  else
    echo "not ok $n - $(head -n 1 "$block")"
    tail -n 20 "$work/log" | sed 's/^/# /'
  fi
done
# The commands of a block `sh quote` are in STEM-NUMBER.sh, the `text` block after it in
# STEM-NUMBER.txt.
for document in "$root/README.md" "$root"/data/doc/*.md; do
  stem=$work/$(basename "$document" .md)-quote
  awk -v stem="$stem" '/^```sh quote$/ { file = sprintf ("%s-%02d.sh", stem, ++n); next }
    /^```text$/ && n { file = sprintf ("%s-%02d.txt", stem, n); printf "" > file; next }
    /^```/ { file = "" } file { print > file }' "$document"
  for block in "$stem"-*.sh; do
    [ -f "$block" ] || continue
    n=$((n + 1))
    COLUMNS=80 bash -euo pipefail "$block" > "$block.out" 2> "$work/log" < /dev/null
    shown=${block%.sh}.txt
    if [ -n "$LIGATURE_REGENERATE" ]; then
      awk -v wanted="$(basename "$block" .sh | sed 's/.*-0*//')" -v out="$block.out" '
        /^```sh quote$/ { count++ } !skips { print }
        /^```text$/ && count == wanted && !done { while ((getline line < out) > 0) print line; skips = 1 }
        skips && /^```$/ { print; skips = 0; done = 1 }' "$document" > "$work/renewed" &&
        cat "$work/renewed" > "$document"
      cp "$block.out" "$shown"
    fi
    if [ -s "$block.out" ] && cmp -s "$shown" "$block.out"; then
      echo "ok $n - the output of $(head -n 1 "$block")"
    else
      echo "not ok $n - the output of $(head -n 1 "$block")"
      diff "$shown" "$block.out" | cat - "$work/log" | sed 's/^/# /'
    fi
  done
done
[ $n -gt 2 ] || echo 'Bail out! README.md has no tour'
echo "1..$n"
