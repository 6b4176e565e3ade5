/* SPDX-License-Identifier: MIT */
/* Declarations for the files of engine/fusions: the fusion's table, rejections, and the weight
 * gradient of a matmul with a bias. */
#pragma once

#include <ligature/lowering.h>

#define N_(text) text

/* Rejects a match in which the port's value is sharded. */
static inline gboolean
lig_fusion_reject_parts (LigLowering *match, const char *port, LigRejection *rejection)
{
  int ranks = lig_lower_count_parts (match, port);
  if (ranks == 1)
    return FALSE;
  rejection->reason = LIG_REASON_PARALLEL;
  rejection->observed_value = ranks;
  rejection->required_value = 1;
  rejection->unit = "ranks";
  rejection->observed = g_strdup_printf ("vocabulary with tensor=%d", ranks);
  rejection->required = g_strdup ("none");
  return TRUE;
}

/* Returns the element whose dy is the output gradient of the pattern's matmul `element`: the bias
 * after it if that matched. */
static inline int
lig_fusion_matmul_end (LigLowering *lowering, int matmul)
{
  return lig_lower_op (lowering, matmul + 1) ? matmul + 1 : matmul;
}

/* Emits the weight gradient of that matmul, which reads dy and so also computes the gradient of the
 * bias after it. */
static inline void
lig_fusion_weight_gradient (LigLowering *lowering, int matmul)
{
  int end = lig_fusion_matmul_end (lowering, matmul);
  g_autofree char *bindings =
    g_strdup_printf ("dy=%d.dy x=%d.x dweight=%d.dweight dbias=%d.dbias", end, matmul, matmul, end);
  lig_lower_kernel (lowering,
                    end > matmul ? "linear_backward_weight_bias" : "linear_backward_weight",
                    bindings, NULL, 0);
}

/* Defines the table of a fusion: LIG_DEFINE_FUSION (forward_add_norm) = { … }; the name is that of
 * the file, with `_` for `-`. */
#define LIG_DEFINE_FUSION(name) \
  extern const LigFusion lig_fusion_##name; \
  const LigFusion lig_fusion_##name
