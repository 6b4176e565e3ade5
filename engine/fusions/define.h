/* SPDX-License-Identifier: MIT */
/* Declarations for the files of engine/fusions: the fusion's table, and refusals. */
#pragma once

#include <ligature/fusion.h>

#define N_(text) text

/* Refuses a match in which ranks have a part of the port's value each. */
static inline gboolean
lig_fusion_refuse_parts (LigLowering *match, const char *port, LigRefusal *refusal)
{
  int ranks = lig_lower_count_parts (match, port);
  if (ranks == 1)
    return FALSE;
  refusal->reason = LIG_REASON_PARALLEL;
  refusal->observed_value = ranks;
  refusal->required_value = 1;
  refusal->unit = "ranks";
  refusal->observed = g_strdup_printf ("vocabulary with tensor=%d", ranks);
  refusal->required = g_strdup ("none");
  return TRUE;
}

/* Defines the table of a fusion: LIG_DEFINE_FUSION (forward_add_norm) = { … }; the name is that of
 * the file, with `_` for `-`. */
#define LIG_DEFINE_FUSION(name) \
  extern const LigFusion lig_fusion_##name; \
  const LigFusion lig_fusion_##name
