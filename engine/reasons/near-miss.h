/* SPDX-License-Identifier: MIT */
/* The order of verdicts for readers, and the verdicts about a place. */
#pragma once

#include <ligature/verdict.h>

G_BEGIN_DECLS

/* Orders verdicts for a reader, as for qsort(): first near misses, then rejections because of
 * another group, then fusions that were taken, then patterns that do not match; within each class,
 * the largest gain first. */
int lig_verdict_compare (const LigVerdict *a, const LigVerdict *b);

/* Returns (transfer container) (element-type LigVerdict) the verdicts about the ops from `first` to
 * `last`, expanded indexes, in the order of lig_verdict_compare(); `n_ops` is the number of the
 * plan's ops. With `gaps` only those about the gaps between these ops, in which case `last` may be
 * one past the plan's last op; otherwise all that concern one of the ops. Verdicts whose reason is
 * the end of the sequence are returned only for the gap at its end. */
GPtrArray *lig_verdicts_at (
  const LigVerdict *verdicts, guint n_verdicts, guint n_ops, int first, int last, gboolean gaps);

G_END_DECLS
