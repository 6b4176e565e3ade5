#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh SOURCE BUILD: installs into a temporary folder and checks, as TAP, what came out: the
# exported names, that every installed header stands alone, that the example builds and learns.
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# check NAME COMMAND...: one subtest, the command's output in its diagnosis.
check () {
  local name=$1
  shift
  n=$((n + 1))
  if "$@" > "$work/log" 2>&1; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    sed 's/^/# /' "$work/log"
  fi
}

pc () {
  PKG_CONFIG_PATH=$(dirname "$pc_file") pkg-config "$@" ligature
}

install_all () {
  DESTDIR=$work/root meson install -C "$build" --no-rebuild &&
    pc_file=$(find "$work/root" -name ligature.pc) && [ -n "$pc_file" ] &&
    library=$(find "$work/root" -name libligature.so) && [ -n "$library" ] &&
    prefix=$work/root$(sed -n 's/^prefix=//p' "$pc_file") &&
    sed -i "s:^prefix=:&$work/root:" "$pc_file"
}

exports_ours_only () {
  local names
  names=$(nm -D --defined-only "$library" | awk '{ print $NF }')
  [ -n "$names" ] && ! grep -v '^lig_' <<< "$names"
}

links_openmp_flavour () {
  ldd "$library" | grep openblas
  ! [ -d "$(dirname "$(ldd "$library" | awk '/openblas/ { print $3 }')")/openblas-openmp" ]
}

headers_stand_alone () {
  local header flags status=0
  read -r -a flags < <(pc --cflags)
  cd "$prefix/include/ligature" || return 1
  for header in engine/*.h kernels/*.h; do
    echo "#include <$header>" > "$work/header.c"
    cc -std=gnu17 -Wall -Wextra -Werror -fsyntax-only "${flags[@]}" "$work/header.c" || status=1
  done
  return $status
}

build_example () {
  local flags sanitize=()
  read -r -a flags < <(pc --cflags --libs)
  readelf -d "$library" | grep -q libasan && sanitize=(-fsanitize=address,undefined)
  cc -std=gnu17 -Wall -Wextra -Werror "${sanitize[@]}" "$source/tests/example/train.c" \
    -o "$work/train" "${flags[@]}" && cat "$work/log"
}

example_learns () {
  LD_LIBRARY_PATH=$(dirname "$library") "$work/train" > "$work/losses" && cat "$work/losses" &&
    awk '{ loss[NR] = $NF } END { exit !(NR == 2 && loss[2] < loss[1] / 10) }' "$work/losses"
}

command_runs () {
  LD_LIBRARY_PATH=$(dirname "$library") "$prefix/bin/lig" fuse 'linear(8) ! gelu' --input 4x8 \
    --device cpu
}

check 'installs' install_all
check 'exports nothing but lig_*' exports_ours_only
check 'uses the OpenMP flavour of OpenBLAS' links_openmp_flavour
check 'each installed header compiles alone' headers_stand_alone
check 'the example builds with pkg-config' build_example
check 'the example learns' example_learns
check 'the installed command runs' command_runs
echo "1..$n"
