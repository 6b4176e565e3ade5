#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that only engine/device compares backends; other code asks for the traits of a device.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
words=$(sed -n "s/^backends = \[\(.*\)\]/\1/p" engine/device/meson.build | tr -d " '" | tr , '|')
[ -n "$words" ] || { echo 'no list of backends found'; exit 1; }
# A backend's name may be opened, but neither compared with nor used as a prefix.
if tests/lint/sources.sh '*.c' '*.h' | grep -E '^(engine|app|ui)/' | grep -v '^engine/device/' |
  xargs grep -nE "LIG_BACKEND_|(str_equal|strcmp0?|has_prefix) \(.*\"($words)[:\"]"; then
  echo 'only engine/device may compare backends; use lig_device_has () or lig_device_name_has ()'
  exit 1
fi
