#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds Debian packages from data/packaging/debian, checks them with lintian, installs them, uses
# them as an ordinary user, and removes them. Run as root on a system that it may change;
# `tests/bare.sh bookworm-packages` makes one. Prints TAP.
set -uo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ligature-packages-XXXXXX")
trap 'rm -rf "$work"' EXIT
person=ligature-packager
n=0 failed=0

# check NAME COMMAND...: one subtest; the commands' output is its diagnosis.
check () {
  local name=$1 begun=$SECONDS
  shift
  n=$((n + 1))
  if "$@" > "$work/log" 2>&1; then
    echo "ok $n - $name ($((SECONDS - begun)) s)"
  else
    echo "not ok $n - $name ($((SECONDS - begun)) s)"
    failed=1
  fi
  tail -n 40 "$work/log" | sed 's/^/# /'
}

apt_get () {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends "$@"
}

# as_person COMMAND...: runs without the environment of this shell.
as_person () {
  setpriv --reuid="$person" --regid="$person" --clear-groups env -i HOME="/home/$person" \
    PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 "$@"
}

prepare () {
  local tree=$work/ligature
  mkdir "$tree" && "$source/tests/lint/sources.sh" | tar -C "$source" -cT - | tar -C "$tree" -x &&
    cp -r "$source/data/packaging/debian" "$tree/debian" || return 1
  { id "$person" || useradd --create-home --shell /bin/bash "$person"; } &&
    chown -R "$person:$person" "$work" && chmod a+rx "$work" || return 1
  apt_get update && apt_get install build-essential fakeroot lintian man-db pkgconf python3-gi &&
    apt_get build-dep "$tree"
}

build () {
  cd "$work/ligature" && as_person dpkg-buildpackage -us -uc -b && ls -l "$work"/*.deb
}

# Errors and warnings fail, except the one that no bug report requested the package. The hint that
# the library has no symbols file is intended: debian/rules gives the reason.
lint () {
  cd "$work" && lintian --allow-root --fail-on error,warning --info --display-info \
    --suppress-tags initial-upload-closes-no-bugs ./*.changes
}

install () {
  apt_get install "$work"/*.deb && dpkg-query -W lig ligature libligature0 libligature-dev \
    gir1.2-ligature-1 ligature-data
}

fuses () {
  cd / && as_person lig fuse 'layer-norm ! linear(3072) ! gelu' --input 8x768 --device null:h100
}

speaks_german () {
  cd / && ! as_person LANGUAGE=de lig check gelux --input 4x8 > "$work/said" 2>&1
  cat "$work/said" && grep 'ist unbekannt' "$work/said"
}

window_says_version () {
  as_person ligature --version && as_person man -w lig ligature
}

compiles () {
  cd "$work" && as_person cc -std=gnu17 -Wall -Wextra -Werror "$source/tests/example/train.c" -o train \
    $(pkg-config --cflags --libs ligature) && as_person ./train
}

binds () {
  cd / && as_person LANGUAGE=en /usr/bin/python3 "$source/tests/library/embed.py"
}

# Nothing of the packages remains.
remove () {
  local packages left
  mapfile -t packages < <(dpkg-query -W -f '${Package} ${source:Package}\n' | awk '$2 == "ligature" { print $1 }')
  dpkg -L "${packages[@]}" | sort -u > "$work/files"
  apt_get purge "${packages[@]}" || return 1
  left=$(grep -i ligature "$work/files" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done)
  echo "left: ${left:-nothing}" && [ -z "$left" ]
}

[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP only root can install packages'; exit 0; }
check 'the packages that are needed are installed' prepare
check 'the packages are built' build
check 'lintian finds nothing' lint
check 'they are installed' install
check 'a user fuses' fuses
check 'a user reads German' speaks_german
check 'the window says its version' window_says_version
check 'a program compiles and runs with the library' compiles
check 'Python uses the library' binds
check 'they are removed' remove
echo "1..$n"
exit $failed
