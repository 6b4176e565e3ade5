#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reproducible.sh [--sample N] [MESON OPTION...]: builds a release twice, with the hardening flags of
# Debian's packages and warnings as errors, from two copies of the tree in folders of different names
# and depths, and compares every installed file bit by bit. Then it searches them for paths of the
# builds and runs the installed command next to foreign message catalogues. The second build does
# not use ccache, which would only compare its files with themselves; with a sample, which takes
# less time, it compiles one of N objects, different ones each day, and takes the others from
# ccache. Prints TAP.
set -uo pipefail
case "${1:-}" in -h | --help) sed -n '3,8s/^# //p' "$0"; exit ;; esac
sample=1
[ "${1:-}" != --sample ] || { sample=$2; shift 2; }
options=("$@")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ligature-twice-XXXXXX")
trap 'rm -rf "$work"' EXIT
# The command is run where it was installed, so both builds have the same prefix.
prefix=$work/installed
# The level of optimization is that of a release.
export CFLAGS='-g -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time'
export CPPFLAGS=-D_FORTIFY_SOURCE=2 LDFLAGS='-Wl,-z,relro -Wl,-z,now' SOURCE_DATE_EPOCH=1767225600
unset LIGATURE_DATA LIGATURE_MODULES
n=0 failed=0

# check NAME COMMAND...: one subtest, with the command's output as diagnosis.
check () {
  local name=$1 begun=$SECONDS
  shift
  n=$((n + 1))
  if "$@" > "$work/log" 2>&1; then
    echo "ok $n - $name ($((SECONDS - begun)) s)"
  else
    echo "not ok $n - $name ($((SECONDS - begun)) s)"
    grep -aE -A 3 'error:|warning:' "$work/log" | head -n 40 | sed 's/^/# /'
    tail -n 20 "$work/log" | sed 's/^/# /'
    failed=1
  fi
}

# prepare COPY FOLDER: copies the tree and configures a build of it, without the precompiled header, so
# that each source includes what it uses. ccache reuses objects of another folder if the relative
# path from the build to the source is the same.
prepare () {
  export CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
  export CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime,locale
  mkdir -p "$1" && "$source/tests/lint/sources.sh" | tar -C "$source" -cT - | tar -C "$1" -x &&
    meson setup "$2" "$1" --prefix="$prefix" -Dbuildtype=release -Dwerror=true -Dtests=false \
      -Dcuda=disabled -Db_pch=false "${options[@]}"
}

# finish FOLDER INSTALLED: builds, installs, and moves what was installed.
finish () {
  ninja -C "$1" && meson install -C "$1" --no-rebuild && mv "$prefix" "$2"
}

build_first () (
  export TZ=Asia/Tokyo LC_ALL=C LANGUAGE=
  prepare "$work/a" "$work/a/build" && finish "$work/a/build" "$work/first"
)

build_second () (
  local copy=$work/another/copy/of-the/source folder=$work/elsewhere/b objects
  export TZ=America/Lima LC_ALL=C.UTF-8 LANGUAGE=de
  if [ "$sample" = 1 ]; then
    export CCACHE_DISABLE=1
    prepare "$copy" "$folder" && finish "$folder" "$work/second"
    return
  fi
  folder=$copy/b
  prepare "$copy" "$folder" || return 1
  mapfile -t objects < <(ninja -C "$folder" -t targets all | sed -n 's/\.o: .*/.o/p' |
    awk -v n="$sample" -v day="$(date +%j)" 'NR % n == day % n')
  CCACHE_DISABLE=1 ninja -C "$folder" "${objects[@]}" && finish "$folder" "$work/second"
)

# Both builds, compared with unstripped programs, including symbols and lines for a debugger.
same_files () {
  diff -r "$work/first" "$work/second" && find "$work/first" -name 'libligature.so.*' | grep .
}

# An object from ccache would have the path of an earlier run.
no_paths () {
  ! LC_ALL=C grep -raoP \
    "(/ligature-twice-[^/]*/(a|another|elsewhere)|(?<![\w.])\Q$source\E)/[ -~]{0,60}" "$work/first"
}

# The compiler's checks are in the library, and the loader protects its tables.
hardened () {
  nm -D "$library" > "$work/names" && readelf -dlW "$library" > "$work/headers" &&
    grep __stack_chk_fail "$work/names" && grep '_chk@' "$work/names" &&
    grep GNU_RELRO "$work/headers" && grep BIND_NOW "$work/headers"
}

# Prints the installed command's answer to an op that does not exist.
ask () {
  ! LD_LIBRARY_PATH=${library%/*} LANGUAGE=de LC_ALL=C.UTF-8 "$prefix/bin/lig" check gelux \
    --input 4x8 2>&1
}

speaks_german () {
  ask | tee "$work/german" | grep 'ist unbekannt'
}

# Catalogues in the build folders, and in all folders that could belong to a build around the
# library.
ignores_strangers () {
  local folder
  sed 's/unbekannt/HOSTILE/' "$source/po/de.po" | msgfmt -o "$work/hostile.mo" - || return 1
  for folder in "$work/a/build" "$work/elsewhere/b" "${library%/*}" "${library%/*}/.." "$prefix" \
    "$work"; do
    mkdir -p "$folder/po/de/LC_MESSAGES" &&
      cp "$work/hostile.mo" "$folder/po/de/LC_MESSAGES/ligature.mo" || return 1
  done
  ask | diff "$work/german" -
}

check 'a hardened release builds without warnings' build_first
check 'it builds again elsewhere' build_second
check 'both installed the same files' same_files
check 'no installed file has a path of a build' no_paths
mv "$work/first" "$prefix" 2> "$work/log"
library=$(find "$prefix" -name libligature.so 2>> "$work/log")
check 'the library is hardened' hardened
check 'the installed command speaks German' speaks_german
check 'it reads no catalogue of a build or of a neighbour' ignores_strangers
echo "1..$n"
exit $failed
