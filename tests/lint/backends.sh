#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nothing but engine/device asks which backend a device belongs to: callers ask for its traits.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
words=$(sed -n "s/^backends = \[\(.*\)\]/\1/p" engine/device/meson.build | tr -d " '" | tr , '|')
[ -n "$words" ] || { echo 'no list of backends was found'; exit 1; }
# A name alone may be opened; a comparison with one, or a prefix, asks.
if tests/lint/sources.sh '*.c' '*.h' | grep -E '^(engine|app|ui)/' | grep -v '^engine/device/' |
  xargs grep -nE "LIG_BACKEND_|(str_equal|strcmp0?|has_prefix) \(.*\"($words)[:\"]"; then
  echo 'only engine/device knows backends; ask lig_device_has () or lig_device_name_has ()'
  exit 1
fi
