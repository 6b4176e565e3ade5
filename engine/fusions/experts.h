/* SPDX-License-Identifier: MIT */
/* The condition of fusions of a grouped matmul and a gated unit, and the parameters of their
 * kernels. */
#pragma once

#include "engine/fusions/define.h"
#include "kernels/functions.h"
#include <ligature/params-grouped.h>

/* The blocks in which the halves must alternate so that a tile of a grouped matmul has both. */
#define LIG_FUSION_BLOCK 32

/* Returns the number of a gated unit by the name of its kernel, scaled or not; -1: it has none. */
static inline int
lig_fusion_unit (const char *op)
{
  static const char *const names[] = LIG_GATED_NAMES;
  static const struct {
    const char *name, *unit;
  } scaled[] = {
#define SCALED(name, backward, unit, ...) {#name, #unit},
    LIG_EACH_SCALED (SCALED)
#undef SCALED
  };
  const LigOpInfo *info = lig_op_info_find (op);
  const char *name = info ? info->forward : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (scaled); i++)
    if (g_strcmp0 (name, scaled[i].name) == 0)
      name = scaled[i].unit;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (name, names[i]) == 0)
      return (int) i;
  return -1;
}

/* Returns whether the output of a gated unit is multiplied by a number per row. */
static inline gboolean
lig_fusion_is_scaled (LigLowering *lowering, int element)
{
  const LigOpInfo *info = lig_op_info_find (lig_lower_op (lowering, element));
  return g_strcmp0 (info->extra_inputs, "scales") == 0;
}

/* Rejects a gated unit next to a grouped matmul if its halves do not alternate in blocks of which a
 * tile has both; another number of columns than a multiple of both blocks cannot. */
static inline gboolean
lig_fusion_reject_apart (LigLowering *match, int element, gint64 columns, LigRejection *rejection)
{
  const LigGatedParams *params = lig_lower_params (match, element);
  if (lig_lower_params_size (match, element) < sizeof *params ||
      params->interleave == LIG_FUSION_BLOCK)
    return FALSE;
  rejection->reason = LIG_REASON_SHAPE;
  if (columns % (2 * LIG_FUSION_BLOCK) != 0) {
    rejection->observed_value = (double) columns;
    rejection->required_value = 2 * LIG_FUSION_BLOCK;
    rejection->observed = g_strdup_printf ("columns=%" G_GINT64_FORMAT, columns);
    rejection->required = g_strdup_printf ("a multiple of %d", 2 * LIG_FUSION_BLOCK);
    return TRUE;
  }
  rejection->observed_value = (double) params->interleave;
  rejection->required_value = LIG_FUSION_BLOCK;
  rejection->observed = g_strdup_printf ("interleave=%d", (int) params->interleave);
  rejection->required = g_strdup_printf ("interleave=%d", LIG_FUSION_BLOCK);
  rejection->param = "interleave";
  rejection->element = element;
  rejection->value = LIG_FUSION_BLOCK;
  return TRUE;
}

/* Emits a kernel of a grouped matmul and a gated unit; one that has no formula in such kernels is
 * reported as missing by its name. */
static inline void
lig_fusion_grouped_gated (
  LigLowering *lowering, int matmul, int unit, const char *kernel, const char *bindings)
{
  const char *op = lig_lower_op (lowering, unit);
  LigGroupedGatedParams params = {.unit = lig_fusion_unit (op)};
  if (params.unit < 0 || lig_lower_params_size (lowering, unit) < sizeof params.gated) {
    g_autofree char *missing = g_strconcat (kernel, " with ", op, NULL);
    lig_lower_kernel (lowering, missing, bindings, NULL, 0);
    return;
  }
  params.grouped = *(const LigGroupedParams *) lig_lower_params (lowering, matmul);
  params.gated = *(const LigGatedParams *) lig_lower_params (lowering, unit);
  lig_lower_kernel (lowering, kernel, bindings, &params, sizeof params);
}
