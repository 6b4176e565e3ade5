#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# readme.sh LIG: runs, as TAP, each block marked `sh tour` of README.md and of the documents in
# data/doc, in order, in one temporary folder that has the project's files; every command must
# succeed. The rails in README.md must be the output of `lig`.
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
# Compares the picture up to its first empty line.
n=$((n + 1))
drawn=$(lig fuse data/examples/residual-mlp.lig --device null:h200 | sed '/^$/q')
shown=$(sed -n '/^forward  .*backward$/,/^$/p' "$root/README.md")
if [ -n "$drawn" ] && [ "$drawn" = "$shown" ]; then
  echo "ok $n - the rails"
else
  echo "not ok $n - the rails"
  diff <(echo "$shown") <(echo "$drawn") | sed 's/^/# /'
fi
[ $n -gt 2 ] || echo 'Bail out! README.md has no tour'
echo "1..$n"
