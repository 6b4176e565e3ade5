/* SPDX-License-Identifier: MIT */
/* Finds the matmuls that stay in the compute type for a joint fusion: the fused LM head and
 * cross-entropy reads no quantized operands. This is decided before any time is known, by a forced
 * fusion or by the fraction of the memory that the fusion would save. The decision does not depend
 * on the pass, the policy or the requested gradients, so that training and evaluation compute the
 * same. */
#include "engine/patterns/walk.h"
#include "engine/quantize/quantizers.h"

#include <glib/gi18n-lib.h>

static gboolean
is_forbidden (const LigGraph *graph, const LigFusion *fusion, LigOp *written)
{
  return g_strv_contains (lig_sequence_get_forbidden (graph->request->sequence), fusion->name) ||
         g_strv_contains (lig_op_get_forbidden (written), fusion->name);
}

/* Returns whether the fusion matches the ops from the matmul on. */
static gboolean
fits (LigGraph *graph, const LigFusion *fusion, int at)
{
  LigFound found;
  LigWalk walk = lig_walk_from (graph, fusion, at);
  walk.early = TRUE;
  return lig_walk_fits (&walk, 0, at) && lig_walk_follow (&walk, &found);
}

const char *
lig_find_joint (LigGraph *graph, int index)
{
  const LigFusion *fusion;
  const LigPart *part = lig_part (graph, index);
  double memory = (double) lig_device_get_facts (graph->request->device)->memory;
  double bytes = (double) lig_value (graph, part->y)->bytes;
  double share = memory > 0 ? bytes / memory : 0;
  for (guint n = 0; (fusion = lig_fusion_nth (n)); n++) {
    gboolean forced = g_strv_contains (lig_op_get_forced (part->plan.written), fusion->name);
    gboolean wanted = forced || (fusion->allows && share >= LIG_LARGE_SHARE);
    if (fusion->pass != LIG_PASS_JOINT || !wanted ||
        (!forced && is_forbidden (graph, fusion, part->plan.written)) ||
        !fits (graph, fusion, index))
      continue;
    g_autofree char *text =
      forced ? g_strdup_printf (_ ("%s is forced and reads no quantized operands"), fusion->name)
             : g_strdup_printf (_ ("the output takes %.3g %% of the memory, at least %.3g %%, "
                                   "so %s avoids it and reads no quantized operands"),
                                100 * share, 100 * LIG_LARGE_SHARE, fusion->name);
    return g_string_chunk_insert_const (graph->strings, text);
  }
  return NULL;
}
