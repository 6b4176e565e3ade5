/* SPDX-License-Identifier: MIT */
/* The rows of a drawn comparison. */
#include "engine/draw/compare-rows.h"

#include "engine/draw/score.h"

#include <glib/gi18n-lib.h>
#include <string.h>

enum { HEIGHT = 28, PART = 22, HEAD = 24, SPACE = 6 };

static void
clear_row (gpointer data)
{
  LigCompareRow *row = data;
  g_free (row->title);
  g_free (row->part);
  g_free (row->tensor);
}

/* --- Blocks -------------------------------------------------------------------------------- */

/* Returns whether the path is in the first repetition of all its blocks: `3.0.2`. */
static gboolean
is_first (const char *path)
{
  gboolean first = TRUE;
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (guint i = 1; parts[i]; i += 2)
    first &= g_str_equal (parts[i], "0");
  return first;
}

static int
get_depth (const char *path)
{
  int dots = 0;
  for (; *path; path++)
    dots += *path == '.';
  return dots / 2;
}

/* Returns the path of the block at this depth around a path: `3` of `3.0.2`. */
static char *
get_block (const char *path, int depth)
{
  int dots = 0;
  const char *at = path;
  for (; *at; at++)
    if (*at == '.' && ++dots == 2 * depth + 1)
      break;
  return g_strndup (path, (gsize) (at - path));
}

static guint
count_repetitions (LigPlan *plan, const char *block)
{
  guint count, max = 0;
  gsize length = strlen (block);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    if (g_str_has_prefix (ops[i].path, block) && ops[i].path[length] == '.')
      max = MAX (max, 1 + (guint) g_ascii_strtoull (ops[i].path + length + 1, NULL, 10));
  return max;
}

/* Adds a head for each block that begins between two paths. */
static void
add_heads (LigCompareRows *self, LigPlan *plan, const char *last, const char *path)
{
  for (int depth = 0; depth < get_depth (path); depth++) {
    g_autofree char *block = get_block (path, depth);
    g_autofree char *known = last && get_depth (last) > depth ? get_block (last, depth) : NULL;
    if (g_strcmp0 (block, known) == 0)
      continue;
    LigCompareRow head = {.op = {-1, -1}, .depth = depth, .height = HEAD};
    head.title = g_strdup_printf (_ ("Block, %u ×"), count_repetitions (plan, block));
    head.y = self->height + SPACE;
    self->height = head.y + HEAD;
    g_array_append_val (self->rows, head);
  }
}

/* --- Ops ----------------------------------------------------------------------------------- */

static void
add_op (LigCompareRows *self, LigPlanComparison *comparison, int before, int after, char **last)
{
  guint count;
  int which = after >= 0, op = which ? after : before;
  LigPlan *plan = which ? lig_plan_comparison_get_after (comparison)
                        : lig_plan_comparison_get_before (comparison);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const char *path = ops[op].path;
  if (!is_first (path))
    return;
  gboolean further = op > 0 && g_str_equal (ops[op - 1].path, path);
  gboolean macro = further || (op + 1 < (int) count && g_str_equal (ops[op + 1].path, path));
  if (!further)
    add_heads (self, plan, *last, path);
  LigCompareRow row = {.op = {before, after}, .depth = get_depth (path)};
  if (!further)
    row.title = g_strdup (lig_score_title (&ops[op]));
  if (macro)
    row.part = g_strdup (_ (ops[op].info->title));
  row.tensor = lig_draw_tensor (&ops[op].y, ops[op].y_dtype);
  row.height = further ? PART : HEIGHT;
  row.y = self->height + (further ? 0 : SPACE);
  self->height = row.y + row.height;
  if (before >= 0)
    self->found[0][before] = (int) self->rows->len;
  if (after >= 0)
    self->found[1][after] = (int) self->rows->len;
  g_array_append_val (self->rows, row);
  g_free (*last);
  *last = g_strdup (path);
}

LigCompareRows *
lig_compare_rows_new (LigPlanComparison *comparison, double top)
{
  LigCompareRows *self = g_new0 (LigCompareRows, 1);
  g_autofree char *last = NULL;
  guint n_ops[2];
  int next = 0;
  lig_plan_get_ops (lig_plan_comparison_get_before (comparison), &n_ops[0]);
  lig_plan_get_ops (lig_plan_comparison_get_after (comparison), &n_ops[1]);
  self->height = top;
  self->rows = g_array_new (FALSE, TRUE, sizeof (LigCompareRow));
  g_array_set_clear_func (self->rows, clear_row);
  for (int i = 0; i < 2; i++) {
    self->found[i] = g_new (int, n_ops[i] + 1);
    for (guint k = 0; k <= n_ops[i]; k++)
      self->found[i][k] = -1;
  }
  for (int k = 0; k < (int) n_ops[1]; k++) {
    int known = lig_plan_comparison_find_op (comparison, k);
    while (next < known)
      add_op (self, comparison, next++, -1, &last);
    add_op (self, comparison, known, k, &last);
    next = MAX (next, known + 1);
  }
  while (next < (int) n_ops[0])
    add_op (self, comparison, next++, -1, &last);
  return self;
}

void
lig_compare_rows_free (LigCompareRows *self)
{
  g_array_unref (self->rows);
  g_free (self->found[0]);
  g_free (self->found[1]);
  g_free (self);
}

gboolean
lig_compare_rows_extent (
  const LigCompareRows *self, int which, const LigPlanGroup *group, double *y, double *height)
{
  double top = G_MAXDOUBLE, bottom = 0;
  for (int i = group->first; i < group->first + group->count; i++) {
    int found = self->found[which][i];
    if (found < 0)
      continue;
    const LigCompareRow *row = &g_array_index (self->rows, LigCompareRow, found);
    top = MIN (top, row->y);
    bottom = MAX (bottom, row->y + row->height);
  }
  *y = top;
  *height = bottom - top;
  return bottom > 0;
}
