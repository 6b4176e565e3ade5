/* SPDX-License-Identifier: MIT */
/* The differences between the sequences of two compared plans, row by row: ops that only one has,
 * and other parameters, shapes, fences and repetitions of those that both have.
 *
 * Threads: any thread may call these functions. */
#pragma once

#include <ligature/comparison.h>

G_BEGIN_DECLS

/**
 * LigRowChangeKind:
 * @LIG_ROW_REMOVED: only the first sequence has the row
 * @LIG_ROW_ADDED: only the second sequence has it
 * @LIG_ROW_CHANGED: both have it, with differences
 */
typedef enum { LIG_ROW_REMOVED, LIG_ROW_ADDED, LIG_ROW_CHANGED } LigRowChangeKind;

/**
 * LigRowChange: (skip)
 * @before: (nullable): the path of the row in the first sequence
 * @after: (nullable): its path in the second sequence
 * @op: the name of the op as written
 * @text: what differs, `out-features 3072 → 4096, output 2048x3072 → 2048x4096`; for a row that
 *   only one sequence has, its parameters
 *
 * A row that differs. Shapes are named only if more than the batch differs.
 */
typedef struct {
  LigRowChangeKind kind;
  char *before, *after;
  const char *op;
  char *text;
} LigRowChange;

/**
 * lig_row_change_free: (skip)
 * @self: (nullable): a change
 *
 * Frees it.
 */
LIG_API void lig_row_change_free (LigRowChange *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRowChange, lig_row_change_free)

/**
 * lig_row_change_kind_name: (skip)
 * @kind: a kind
 *
 * Returns: (transfer none): its name in JSON, `added`
 */
LIG_API const char *lig_row_change_kind_name (LigRowChangeKind kind);

/**
 * lig_row_change_list: (skip)
 * @comparison: a comparison
 *
 * Lists the rows that differ. A row in a block stands for all its repetitions, a macro for its
 * parts.
 *
 * Returns: (transfer full): an array of #LigRowChange in the order of the rows; empty if the
 *   sequences have the same ops
 */
LIG_API GPtrArray *lig_row_change_list (LigPlanComparison *comparison);

/**
 * lig_row_change_inputs: (skip)
 * @comparison: a comparison
 *
 * Returns: (transfer full) (nullable): what differs between the inputs, types and recipes of both
 *   plans, `input 16x1024 → 32x1024, recipe none → fp8-rows`; %NULL if nothing does
 */
LIG_API char *lig_row_change_inputs (LigPlanComparison *comparison);

G_END_DECLS
