/* SPDX-License-Identifier: MIT */
/* A condition of fusions with a gated unit. */
#pragma once

#include "engine/fusions/define.h"
#include <ligature/params-gated.h>

/* Rejects a gated unit of the library whose halves are interleaved: with a bias, or its gradient
 * quantized, only halves that follow one another are computed in one pass. */
static inline gboolean
lig_fusion_reject_interleaved (LigLowering *match, int element, LigRejection *rejection)
{
  const char *name = lig_lower_op (match, element);
  const LigOpInfo *info = name ? lig_op_info_find (name) : NULL;
  if (!info || !(info->flags & LIG_OP_GATED) || info->function == 0)
    return FALSE;
  const LigGatedParams *params = lig_lower_params (match, element);
  if (params->interleave == 0)
    return FALSE;
  rejection->reason = LIG_REASON_SHAPE;
  rejection->observed_value = (double) params->interleave;
  rejection->required_value = 0;
  rejection->observed = g_strdup_printf ("interleave=%d", (int) params->interleave);
  rejection->required = g_strdup ("interleave=0");
  return TRUE;
}
