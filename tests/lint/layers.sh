#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who may include whom: app -> ui -> engine -> kernels, never back, and the rules that go with it.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
status=0
includes=$(tests/lint/sources.sh '*.c' '*.h' '*.in' '*.cu' '*.cuh' |
  xargs grep -nE '^[[:space:]]*#[[:space:]]*include' | sed -E 's/#[[:space:]]*include[[:space:]]*/ /')
[ -n "$includes" ] || { echo 'no include was found'; exit 1; }

# forbid WHERE WHAT WHY: no file whose path matches WHERE includes what matches WHAT.
forbid () {
  local found
  found=$(grep -E "^($1)[^:]*:[0-9]+: *$2" <<< "$includes") || return 0
  printf '%s:\n%s\n\n' "$3" "$found"
  status=1
}

# only WHERE WHAT WHY: what such a file includes matches WHAT.
only () {
  local found
  found=$(grep -E "^($1)[^:]*:[0-9]+:" <<< "$includes" | grep -vE ": *$2") || return 0
  printf '%s:\n%s\n\n' "$3" "$found"
  status=1
}

forbid 'kernels/' '"(engine|ui|app)/' 'kernels include nothing above them'
forbid 'kernels/' '<(glib|gio|gobject|json-glib)' 'kernels know no GLib'
forbid 'engine/' '"(ui|app)/' 'the engine includes neither ui nor app'
forbid 'ui/' '"app/' 'ui includes nothing of app'
forbid 'engine/|kernels/|app/cli/' '<(gtk|gdk|adwaita|libadwaita)' 'GTK stays above the engine'
forbid 'ui/(document|session)/' '<(gtk|gdk|gsk|adwaita|libadwaita|graphene)' \
  'documents and sessions need no display'
only 'ui/(document|session)/' '(<|"ui/(document|session)/)' \
  'documents and sessions include no room of widgets'
only 'tests/(document|session)/' '(<|"(ui|tests)/(document|session)/)' \
  'documents and sessions are tested without widgets'
forbid 'app/(window|about|preferences)' '"app/application\.h"' 'the application knows its windows'
for part in close edit export files notice recover shared; do
  below=$([ $part = recover ] && echo '|notice')
  only "app/window-$part\." "(<|\"ui/|\"app/window-(shared|$part$below)\.h\")" \
    'a part of the window knows no other part'
done
forbid 'engine/steps/' '<(glib|gio|gobject|json-glib)' 'running a plan is plain C'
only 'engine/steps/' '("engine/steps/|"kernels/|<)' 'running a plan knows kernels alone'
forbid '(app|ui)/' '"engine/[^"/]*/' 'app and ui use public headers alone'
forbid '(app|ui)/' '"kernels/(cpu|cuda)/' 'app and ui use public headers alone'
only 'engine/ops/' '(<|"engine/ops/define\.h"|"engine/[a-z-]*\.h"|"kernels/(kernels|params|dtype)\.h")' \
  'an op includes define.h and public headers'
only 'engine/fusions/' \
  '(<|"engine/fusions/define\.h"|"engine/[a-z-]*\.h"|"kernels/(kernels|params|dtype)\.h")' \
  'a fusion includes define.h and public headers'
forbid '(app|ui|engine|tests|kernels/[^c/]|kernels/cpu)' '[<"](cuda|cublas|cudnn|nccl|nvrtc|nvml)' \
  'CUDA stays in kernels/cuda'
forbid '' '"\.\.?/' 'includes are relative to the root'

# What is in quotes exists, or Meson writes it.
while IFS=: read -r file line name; do
  name=$(sed -E 's/^ *"([^"]*)".*/\1/' <<< "$name")
  case "$name" in
    *-list.h | engine/store/schema.h | engine/profiles.h) continue ;;
  esac
  [ -f "$name" ] || { echo "$file:$line: there is no '$name' in the root"; status=1; }
done < <(grep -E ': *"' <<< "$includes")
exit $status
