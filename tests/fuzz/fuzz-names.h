/* SPDX-License-Identifier: MIT */
/* Names of ops and parameters, for the fuzz targets that read sequences. */
#pragma once

#include "tests/fuzz/fuzz.h"
#include <ligature/op.h>

/* Returns the name of an op, or of one of its parameters. */
static inline const char *
fuzz_pick_name (unsigned int random)
{
  guint count = 0;
  while (lig_op_info_nth (count))
    count++;
  const LigOpInfo *info = lig_op_info_nth (random % count);
  guint n = 0;
  while (info->params && info->params[n].name)
    n++;
  return random & 0x10000 && n > 0 ? info->params[random / 0x20000 % n].name : info->name;
}
