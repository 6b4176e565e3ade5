/* SPDX-License-Identifier: MIT */
/* The rows of a drawn comparison: the ops of both plans in one order. */
#pragma once

#include <ligature/comparison.h>

/**
 * LigCompareRow: an op of one or both plans, or the head of a block.
 *
 * @op: its expanded index in both plans, -1 if a plan does not have it; both -1 for a head
 * @title: (nullable): null for the further parts of a macro
 * @part: (nullable): the title of a macro's part
 * @tensor: (nullable): its output
 */
typedef struct {
  int op[2], depth;
  char *title, *part, *tensor;
  double y, height;
} LigCompareRow;

typedef struct {
  GArray *rows;  /* of LigCompareRow; only the first repetition of a block has rows */
  int *found[2]; /* for each op of either plan: its row, -1 for none */
  double height;
} LigCompareRows;

LigCompareRows *lig_compare_rows_new (LigPlanComparison *comparison, double top);
void lig_compare_rows_free (LigCompareRows *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCompareRows, lig_compare_rows_free)

/* Sets the extent of a group's rows; returns FALSE if none is shown. @which: 0 for the first plan
 */
gboolean lig_compare_rows_extent (
  const LigCompareRows *self, int which, const LigPlanGroup *group, double *y, double *height);
