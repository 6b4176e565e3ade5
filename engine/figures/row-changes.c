/* SPDX-License-Identifier: MIT */
/* Compares the rows of two sequences by the ops of their plans, which a comparison has aligned. */
#include "engine/sequence/literal.h"
#include <ligature/row-changes.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* A row of a plan: the first and the last op of its first repetition, and the number of
 * repetitions. */
typedef struct _Row Row;
struct _Row {
  char *path;
  const LigPlanOp *op, *last;
  guint times;
  Row *other; /* (nullable): the same row of the other plan */
};

/* --- Rows ---------------------------------------------------------------------------------- */

static void
free_row (gpointer data)
{
  Row *row = data;
  g_free (row->path);
  g_free (row);
}

/* Returns the rows of a plan by path, and sets that of each op. */
static GHashTable *
find_rows (LigPlan *plan, Row ***of_ops)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GHashTable *rows = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_row);
  *of_ops = g_new0 (Row *, count + 1);
  for (guint i = 0; i < count; i++) {
    char *path = lig_verdict_row_path (ops[i].path);
    Row *row = g_hash_table_lookup (rows, path);
    if (!row) {
      row = g_new0 (Row, 1);
      *row = (Row){.path = path, .op = &ops[i], .last = &ops[i]};
      g_hash_table_insert (rows, path, row);
    } else {
      g_free (path);
    }
    /* Parts of one macro have the same path. */
    row->times += i == 0 || strcmp (ops[i - 1].path, ops[i].path) != 0;
    if (row->times == 1)
      row->last = &ops[i];
    (*of_ops)[i] = row;
  }
  return rows;
}

/* --- Texts --------------------------------------------------------------------------------- */

static void
append (GString *text, const char *name, const char *before, const char *after)
{
  if (g_str_equal (before, after))
    return;
  g_string_append_printf (text, "%s%s %s → %s", text->len > 0 ? ", " : "", name, before, after);
}

/* Returns the value as files spell it, the default too. */
static char *
format_value (LigOp *op, const LigParam *param)
{
  g_auto (GValue) value = G_VALUE_INIT;
  GString *text = g_string_new (NULL);
  lig_literal_get (op, param, &value);
  lig_literal_append (text, &value);
  return g_string_free (text, FALSE);
}

static void
append_params (GString *text, LigOp *before, LigOp *after)
{
  const LigOpInfo *info = lig_op_get_info (after);
  for (const LigParam *param = info->params; param && param->name; param++) {
    g_autofree char *first = format_value (before, param);
    g_autofree char *second = format_value (after, param);
    append (text, param->name, first, second);
  }
}

/* Appends the parameters that differ from the defaults. */
static void
append_own_params (GString *text, LigOp *op)
{
  const LigOpInfo *info = lig_op_get_info (op);
  for (const LigParam *param = info->params; param && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!lig_literal_get (op, param, &value))
      continue;
    g_string_append_printf (text, "%s%s ", text->len > 0 ? ", " : "", param->name);
    lig_literal_append (text, &value);
  }
}

static const char *
yes_or_no (gboolean value)
{
  return value ? _ ("yes") : _ ("no");
}

static char *
join (const char *const *names)
{
  return names && *names ? g_strjoinv ("+", (char **) names) : g_strdup (_ ("none"));
}

/* Appends what applies to the op without being a parameter. */
static void
append_marks (GString *text, LigOp *before, LigOp *after)
{
  char *forced[] = {join (lig_op_get_forced (before)), join (lig_op_get_forced (after))};
  char *forbidden[] = {join (lig_op_get_forbidden (before)), join (lig_op_get_forbidden (after))};
  append (text, _ ("fence before it"), yes_or_no (lig_op_get_fence (before)),
          yes_or_no (lig_op_get_fence (after)));
  append (text, _ ("trained"), yes_or_no (lig_op_get_trained (before)),
          yes_or_no (lig_op_get_trained (after)));
  append (text, _ ("forced"), forced[0], forced[1]);
  append (text, _ ("forbidden"), forbidden[0], forbidden[1]);
  for (guint i = 0; i < G_N_ELEMENTS (forced); i++) {
    g_free (forced[i]);
    g_free (forbidden[i]);
  }
}

/* Appends the shapes unless only the first axis differs, which is that of the input. */
static void
append_shapes (GString *text, const LigShape *before, const LigShape *after)
{
  gboolean same = before->n_axes == after->n_axes;
  for (int i = 1; same && i < after->n_axes; i++)
    same = before->axes[i] == after->axes[i];
  if (same)
    return;
  g_autofree char *first = lig_shape_to_string (before), *second = lig_shape_to_string (after);
  append (text, _ ("output"), first, second);
}

/* --- Changes ------------------------------------------------------------------------------- */

static void
add (GPtrArray *list, LigRowChangeKind kind, const Row *before, const Row *after, char *text)
{
  LigRowChange *change = g_new0 (LigRowChange, 1);
  *change = (LigRowChange){.kind = kind,
                           .before = before ? g_strdup (before->path) : NULL,
                           .after = after ? g_strdup (after->path) : NULL,
                           .op = lig_op_get_info ((after ? after : before)->op->written)->name,
                           .text = text};
  g_ptr_array_add (list, change);
}

static void
compare_rows (GPtrArray *list, const Row *before, const Row *after)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *first = g_strdup_printf ("%u", before->times);
  g_autofree char *second = g_strdup_printf ("%u", after->times);
  append_params (text, before->op->written, after->op->written);
  append_shapes (text, &before->last->y, &after->last->y);
  append_marks (text, before->op->written, after->op->written);
  append (text, _ ("times"), first, second);
  if (text->len > 0)
    add (list, LIG_ROW_CHANGED, before, after, g_strdup (text->str));
}

static void
add_own (GPtrArray *list, LigRowChangeKind kind, const Row *row)
{
  GString *text = g_string_new (NULL);
  append_own_params (text, row->op->written);
  add (list, kind, kind == LIG_ROW_REMOVED ? row : NULL, kind == LIG_ROW_ADDED ? row : NULL,
       g_string_free (text, FALSE));
}

/* Adds the rows of the first plan before an op that no row of the second one matches. */
static void
add_removed (GPtrArray *list, Row **rows, GHashTable *done, int *next, int until)
{
  for (; *next < until; ++*next)
    if (!rows[*next]->other && g_hash_table_add (done, rows[*next]))
      add_own (list, LIG_ROW_REMOVED, rows[*next]);
}

/* Pairs the rows by the first of their ops that both plans have: a recipe may insert ops before
 * those of a row. */
static void
pair_rows (LigPlanComparison *self, Row **before, Row **after, guint count)
{
  for (guint k = 0; k < count; k++) {
    int i = lig_plan_comparison_find_op (self, (int) k);
    if (i < 0 || before[i]->other || after[k]->other)
      continue;
    before[i]->other = after[k];
    after[k]->other = before[i];
  }
}

/* Returns the first op of the second plan from `k` on that the first one has too; `count` without
 * one. */
static guint
find_matched (LigPlanComparison *self, guint k, guint count)
{
  while (k < count && lig_plan_comparison_find_op (self, (int) k) < 0)
    k++;
  return k;
}

GPtrArray *
lig_row_change_list (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  guint counts[2], upcoming = 0;
  int next = 0;
  Row **rows[2];
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_row_change_free);
  g_autoptr (GHashTable) first = find_rows (lig_plan_comparison_get_before (self), &rows[0]);
  g_autoptr (GHashTable) second = find_rows (lig_plan_comparison_get_after (self), &rows[1]);
  g_autoptr (GHashTable) done = g_hash_table_new (NULL, NULL);
  lig_plan_get_ops (lig_plan_comparison_get_before (self), &counts[0]);
  lig_plan_get_ops (lig_plan_comparison_get_after (self), &counts[1]);
  pair_rows (self, rows[0], rows[1], counts[1]);
  for (guint k = 0; k < counts[1]; k++) {
    /* Rows that were removed at a place come before those that were added there. */
    if (k >= upcoming)
      upcoming = find_matched (self, k, counts[1]);
    add_removed (list, rows[0], done, &next,
                 upcoming < counts[1] ? lig_plan_comparison_find_op (self, (int) upcoming)
                                      : (int) counts[0]);
    if (k == upcoming)
      upcoming++;
    Row *row = rows[1][k];
    if (!g_hash_table_add (done, row))
      continue;
    if (row->other)
      compare_rows (list, row->other, row);
    else
      add_own (list, LIG_ROW_ADDED, row);
  }
  add_removed (list, rows[0], done, &next, (int) counts[0]);
  g_free (rows[0]);
  g_free (rows[1]);
  return list;
}

/* --- The whole ----------------------------------------------------------------------------- */

static char *
describe_input (LigPlan *plan)
{
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (lig_plan_get_sequence (plan), &shape, &dtype);
  g_autofree char *axes = lig_shape_to_string (&shape);
  return g_strdup_printf ("%s:%s", axes, lig_dtype_name (dtype));
}

static char *
describe_types (LigPlan *plan)
{
  return g_strdup_printf ("%s:%s", lig_dtype_name (lig_plan_get_compute (plan)),
                          lig_plan_get_parameters_name (plan));
}

char *
lig_row_change_inputs (LigPlanComparison *self)
{
  g_return_val_if_fail (self, NULL);
  LigPlan *before = lig_plan_comparison_get_before (self);
  LigPlan *after = lig_plan_comparison_get_after (self);
  g_autoptr (GString) text = g_string_new (NULL);
  char *inputs[] = {describe_input (before), describe_input (after)};
  char *types[] = {describe_types (before), describe_types (after)};
  append (text, _ ("input"), inputs[0], inputs[1]);
  append (text, _ ("types"), types[0], types[1]);
  append (text, _ ("recipe"), lig_plan_get_recipe (before), lig_plan_get_recipe (after));
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_free (inputs[i]);
    g_free (types[i]);
  }
  return text->len > 0 ? g_strdup (text->str) : NULL;
}

const char *
lig_row_change_kind_name (LigRowChangeKind kind)
{
  static const char *const names[] = {"removed", "added", "changed"};
  return kind < G_N_ELEMENTS (names) ? names[kind] : "unknown";
}

void
lig_row_change_free (LigRowChange *self)
{
  if (!self)
    return;
  g_free (self->before);
  g_free (self->after);
  g_free (self->text);
  g_free (self);
}
