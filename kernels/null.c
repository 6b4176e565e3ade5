/* SPDX-License-Identifier: MIT */
/* The one kernel of the null backend. */
#include "kernels/null.h"

LigStatus
lig_null_run (LigLaunch *launch)
{
  (void) launch;
  return LIG_OK;
}
