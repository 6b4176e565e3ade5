#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install.sh SOURCE BUILD: installs into a temporary folder and checks the result, as TAP: the
# exported names, that every installed header compiles by itself, that the example builds and
# learns, that no file has a path of the source or of the build.
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# check NAME COMMAND...: one subtest, with the command's output as diagnosis.
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

# The first matmul opens the flavour of OpenBLAS that shares its threads with the kernels; programs
# without matmuls open none.
opens_openmp_flavour () {
  local lig opened
  lig=$(find "$work/root" -name lig -type f) && export LD_LIBRARY_PATH=${library%/*}
  ! LD_DEBUG=files "$lig" check 'linear(2)' --input 4x4 2>&1 | grep openblas || return 1
  opened=$(LD_DEBUG=files "$lig" profile 'linear(2)' --input 4x4 --device cpu --steps 1 2>&1 |
    sed -n 's/.*calling init: \(.*openblas.*\)/\1/p')
  echo "opened: $opened"
  [ -n "$opened" ] && ! [ -d "$(dirname "$opened")/openblas-openmp" ]
}

# The package file requires the packages of the headers, and none that only the library needs.
requires_only_headers () {
  diff <(pc --print-requires | sed 's/ .*//' | sort) \
    <(printf '%s\n' gio-2.0 glib-2.0 gobject-2.0) && [ -z "$(pc --print-requires-private)" ] &&
    ! grep rpath "$pc_file"
}

# Otherwise anyone who can recreate such a folder would control which files the installation reads.
holds_no_paths () {
  ! LC_ALL=C grep -raoP "(?<![\w.])(\Q$source\E|\Q$build\E)/[ -~]{0,60}" "$work/root"
}

# Prints the flags of the public packages only; --cflags would add those of private packages.
public_flags () {
  echo "-I$prefix/include" "$(pkg-config --cflags "$(pc --print-requires | paste -sd,)")"
}

headers_stand_alone () {
  local header flags status=0
  read -r -a flags < <(public_flags)
  cd "$prefix/include" || return 1
  for header in ligature/*.h; do
    echo "#include <$header>" > "$work/header.c"
    cc -std=gnu17 -Wall -Wextra -Werror -fsyntax-only "${flags[@]}" "$work/header.c" || status=1
  done
  return $status
}

# build_example NAME
build_example () {
  local flags libraries sanitize=()
  read -r -a flags < <(public_flags)
  read -r -a libraries < <(pc --libs)
  readelf -d "$library" | grep -q libasan && sanitize=(-fsanitize=address,undefined)
  cc -std=gnu17 -Wall -Wextra -Werror "${sanitize[@]}" "$source/tests/example/$1.c" \
    -o "$work/$1" "${flags[@]}" "${libraries[@]}" && cat "$work/log"
}

# The fusion of the user's op is chosen, and the gradients are correct.
own_op_fuses () {
  LD_LIBRARY_PATH=$(dirname "$library") "$work/own-op" > "$work/groups" && cat "$work/groups" &&
    grep -qx 'forward-bias-square over 2' "$work/groups" && grep -qx 'the gradients are right' "$work/groups"
}

# The installed description lets bindings find the library.
describes_itself () {
  local gir=$prefix/share/gir-1.0/Ligature-1.gir typelib
  typelib=$(find "$prefix" -name Ligature-1.typelib)
  [ -s "$typelib" ] && grep -q '<package name="ligature"/>' "$gir" &&
    grep -q 'c:identifier="lig_plan_compile"' "$gir"
}

# Each step is printed with its values: the second reads the output of the first.
example_walks () {
  LD_LIBRARY_PATH=$(dirname "$library") "$work/walk" > "$work/graph" && cat "$work/graph" &&
    grep -qx 'step 0: linear_bias_gelu' "$work/graph" &&
    grep -qx '  reads 0.weight, written by no step, read by 0' "$work/graph" &&
    grep -qE '^  writes #2.y, written by 0, read by 1 [0-9]+$' "$work/graph" &&
    grep -qE '^  reads #2.y, written by 0, read by 1 [0-9]+$' "$work/graph"
}

example_learns () {
  LD_LIBRARY_PATH=$(dirname "$library") "$work/train" > "$work/losses" && cat "$work/losses" &&
    awk '{ loss[NR] = $NF } END { exit !(NR == 5 && loss[5] < loss[1] / 10) }' "$work/losses"
}

command_runs () {
  LD_LIBRARY_PATH=$(dirname "$library") "$prefix/bin/lig" fuse 'linear(8) ! gelu' --input 4x8 \
    --device cpu
}

# The manual page and the completions are in the folders where man and the shells look for them.
shell_files () {
  local file status=0
  for file in man/man1/lig.1 bash-completion/completions/lig.bash zsh/site-functions/_lig \
    fish/vendor_completions.d/lig.fish; do
    grep -q measured "$prefix/share/$file" || { echo "no policy in share/$file"; status=1; }
  done
  return $status
}

# The page of the window names the options that it prints.
window_manual () {
  local option options page=$prefix/share/man/man1/ligature.1
  options=$(LD_LIBRARY_PATH=$(dirname "$library") "$prefix/bin/ligature" --help |
    grep -oE -- '--[a-z-]+')
  grep -qxF -- --version <<< "$options" || return 1
  for option in $options; do
    sed 's/\\-/-/g' "$page" | grep -F -- "$option" || return 1
  done
}

documents () {
  local file folder=$prefix/share/doc/ligature
  for file in LICENSE NEWS tutorial.md json.md parallel.md pictures/card.png schemas/plan.json; do
    [ -s "$folder/$file" ] || { echo "$file: missing"; return 1; }
  done
}

# The schemas of JSON documents refer to each other by file name.
schemas () {
  local file folder=$prefix/share/ligature/doc/schemas
  for file in "$source"/data/doc/schemas/*.json; do
    diff "$file" "$folder/${file##*/}" || return 1
  done
}

# The files for the desktop, if the window was built.
desktop_files () {
  local file share=$prefix/share id=org.ligature.Ligature status=0
  for file in applications/$id.desktop metainfo/$id.metainfo.xml mime/packages/$id.xml \
    icons/hicolor/scalable/apps/$id.svg icons/hicolor/symbolic/apps/$id-symbolic.svg \
    glib-2.0/schemas/$id.gschema.xml locale/de/LC_MESSAGES/ligature.mo; do
    [ -s "$share/$file" ] || { echo "share/$file: missing"; status=1; }
  done
  grep '^Exec=ligature' "$share/applications/$id.desktop" && [ -x "$prefix/bin/ligature" ] || status=1
  return $status
}

# A temporary MIME database recognizes .lig files by their extension and contents.
knows_type () {
  local mime=$work/mime
  mkdir -p "$mime/packages"
  cp "$prefix"/share/mime/packages/*.xml "$mime/packages" && update-mime-database "$mime" &&
    grep -qx '50:application/x-ligature+json:\*.lig' "$mime/globs2"
}

window_says_version () {
  LD_LIBRARY_PATH=$(dirname "$library") "$prefix/bin/ligature" --version | grep -E '^ligature [0-9.]+$'
}

check 'installs' install_all
check 'exports nothing but lig_*' exports_ours_only
check 'uses the OpenMP flavour of OpenBLAS' opens_openmp_flavour
check 'each installed header compiles alone' headers_stand_alone
check 'the package file names what the headers need' requires_only_headers
check 'no installed file has a path of the build' holds_no_paths
check 'the example builds with pkg-config' build_example train
check 'the example learns' example_learns
check 'the example that walks a plan builds' build_example walk
check 'it prints the edges' example_walks
check 'the example with an op of its own builds' build_example own-op
check 'its fusion is taken' own_op_fuses
if [ -f "$build/engine/Ligature-1.gir" ]; then
  check 'the description for bindings is installed' describes_itself
fi
check 'the installed command runs' command_runs
check 'the manual page and the completions are installed' shell_files
check 'the schemas of JSON documents are installed' schemas
check 'licence, news and documents are installed' documents
if [ -x "$prefix/bin/ligature" ]; then
  check 'the desktop finds the window' desktop_files
  check 'the window says its version' window_says_version
  check 'the manual page has the options of the window' window_manual
  if command -v update-mime-database > /dev/null; then
    check 'the type of .lig files is known' knows_type
  fi
fi
echo "1..$n"
