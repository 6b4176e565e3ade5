/* SPDX-License-Identifier: MIT */
/* Folds the repetitions of a block that have equal groups into one, and draws different ones
 * separately. */
#include "engine/report/rails.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The maximum number of differing repetitions that a heading names, and of parts of a macro without
 * a heading. */
enum { NAMED = 3, FEW_PARTS = 3 };

/* Ops of one repetition, from the first op of their block. */
typedef struct {
  int offset, length;
} Part;

/* Several equal repetitions, counted from the block's first. */
typedef struct {
  guint first, count;
} Run;

static void
free_row (gpointer data)
{
  LigRailsRow *row = data;
  g_free (row->label);
  g_free (row->shape);
  for (int side = 0; side < 2; side++) {
    g_free (row->cells[side].name);
    for (int i = 0; i < LIG_RAILS_FIGURES; i++)
      g_free (row->cells[side].figures[i]);
  }
  g_array_unref (row->starts);
  g_free (row);
}

/* Returns the beginning of a number in a path, or null. Every second number is that of a
 * repetition. */
static const char *
find_number (const char *path, int level)
{
  for (; path && level > 0; level--) {
    path = strchr (path, '.');
    path = path ? path + 1 : NULL;
  }
  return path;
}

static gboolean
same_number (const char *a, const char *b, int level)
{
  const char *one = find_number (a, level), *two = find_number (b, level);
  gsize length = one ? strcspn (one, ".") : 0;
  return one && two && length == strcspn (two, ".") && strncmp (one, two, length) == 0;
}

static GArray *
shift (GArray *starts, int offset)
{
  GArray *shifted = g_array_sized_new (FALSE, FALSE, sizeof (int), starts->len);
  for (guint i = 0; i < starts->len; i++) {
    int start = g_array_index (starts, int, i) + offset;
    g_array_append_val (shifted, start);
  }
  return shifted;
}

/* --- Equal repetitions --------------------------------------------------------------------- */

static gboolean
same_group (const LigRails *self, int side, int a, int b)
{
  int one = self->owners[side][a], two = self->owners[side][b];
  if (one < 0 || two < 0)
    return one == two;
  const LigPlanGroup *first = &self->groups[side][one], *second = &self->groups[side][two];
  return first->fusion == second->fusion && first->count == second->count &&
         first->first - a == second->first - b && (first->n_steps > 0) == (second->n_steps > 0);
}

static gboolean
same_op (const LigRails *self, int a, int b)
{
  const LigPlanOp *one = &self->ops[a], *two = &self->ops[b];
  return one->info == two->info && one->y_dtype == two->y_dtype &&
         lig_shape_equal (&one->y, &two->y) && same_group (self, 0, a, b) &&
         same_group (self, 1, a, b);
}

static gboolean
same_part (const LigRails *self, int start, const Part *a, const Part *b)
{
  gboolean same = a->length == b->length;
  for (int i = 0; i < a->length && same; i++)
    same = same_op (self, start + a->offset + i, start + b->offset + i);
  return same;
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void emit (LigRails *self, GArray *starts, int length, int level, int depth);

static LigRailsRow *
add_row (LigRails *self, GArray *starts, int length, int depth, char *label)
{
  LigRailsRow *row = g_new0 (LigRailsRow, 1);
  row->depth = depth;
  row->label = label;
  row->starts = g_array_ref (starts);
  row->length = length;
  g_ptr_array_add (self->rows, row);
  return row;
}

static void
add_op (LigRails *self, GArray *starts, int depth)
{
  const LigPlanOp *op = &self->ops[g_array_index (starts, int, 0)];
  char *label = g_strdup_printf ("%s %s", op->path, op->info->name);
  add_row (self, starts, 1, depth, label)->shape = lig_shape_to_string (&op->y);
}

/* Returns the number of ops from `start` that are parts of one macro. */
static int
count_parts (const LigRails *self, int start, int length)
{
  int end = 1;
  while (end < length && g_str_equal (self->ops[start + end].path, self->ops[start].path))
    end++;
  return end;
}

/* Adds a heading with the macro's name, and below it its parts with their names. */
static void
add_macro (LigRails *self, GArray *starts, int length, int depth)
{
  const LigPlanOp *first = &self->ops[g_array_index (starts, int, 0)];
  LigRailsRow *row =
    add_row (self, starts, length, depth, g_strdup_printf ("%s %s", first->path, first->title));
  row->heading = TRUE;
  row->shape = lig_shape_to_string (&first[length - 1].y);
  for (int i = 0; i < length; i++) {
    g_autoptr (GArray) here = shift (starts, i);
    const char *part = lig_plan_op_get_part (&first[i]);
    gboolean same = g_strcmp0 (part, first[i].info->name) == 0;
    char *label = part && !same ? g_strdup_printf ("%s %s", part, first[i].info->name)
                                : g_strdup (first[i].info->name);
    add_row (self, here, 1, depth + 1, label)->shape = lig_shape_to_string (&first[i].y);
  }
}

static char *
copy_numbers (const char *path, int count)
{
  const char *end = find_number (path, count);
  return end ? g_strndup (path, (gsize) (end - path - 1)) : g_strdup (path);
}

/* Returns the path of a repetition: `3.11`. */
static char *
name_part (const LigRails *self, GArray *starts, const Part *part, int level)
{
  return copy_numbers (self->ops[g_array_index (starts, int, 0) + part->offset].path, level + 2);
}

/* Returns `3.0, 3.11 differ`, or null: the repetitions that differ from the most frequent one. */
static char *
name_differing (const LigRails *self, GArray *starts, GArray *parts, GArray *runs, int level)
{
  guint usual = 0, differing = 0;
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 1; i < runs->len; i++)
    if (g_array_index (runs, Run, i).count > g_array_index (runs, Run, usual).count)
      usual = i;
  for (guint i = 0; i < runs->len; i++) {
    const Run *run = &g_array_index (runs, Run, i);
    for (guint k = run->first; k < run->first + run->count && i != usual; k++) {
      g_autofree char *name = name_part (self, starts, &g_array_index (parts, Part, k), level);
      if (differing++ < NAMED)
        g_string_append_printf (text, "%s%s", differing > 1 ? ", " : "", name);
    }
  }
  if (differing > NAMED)
    /* Translators: the paths of some repetitions of a block, and how many more there are. */
    return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s and %u more differ",
                                         "%s and %u more differ", differing - NAMED),
                            text->str, differing - NAMED);
  /* Translators: the paths of one or several repetitions of a block. */
  return differing == 0
           ? NULL
           : g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s differs", "%s differ", differing),
                              text->str);
}

static void
emit_run (LigRails *self, GArray *starts, GArray *parts, const Run *run, int level, int depth)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (int));
  const Part *first = &g_array_index (parts, Part, run->first);
  for (guint k = run->first; k < run->first + run->count; k++) {
    g_autoptr (GArray) some = shift (starts, g_array_index (parts, Part, k).offset);
    g_array_append_vals (all, some->data, some->len);
  }
  if (run->count < parts->len) {
    const Part *last = &g_array_index (parts, Part, run->first + run->count - 1);
    g_autofree char *from = name_part (self, starts, first, level);
    g_autofree char *to = name_part (self, starts, last, level);
    char *label = run->count == 1 ? g_steal_pointer (&from)
                                  : g_strdup_printf ("%s–%s × %u", from, to, run->count);
    add_row (self, all, first->length, depth++, label)->heading = TRUE;
  }
  emit (self, all, first->length, level + 2, depth);
}

static void
emit_block (LigRails *self, GArray *starts, int length, int level, int depth)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (Run));
  int start = g_array_index (starts, int, 0);
  for (int i = 0, begin = 0; i < length; i++)
    if (i + 1 == length ||
        !same_number (self->ops[start + i].path, self->ops[start + i + 1].path, level + 1)) {
      g_array_append_vals (parts, &(Part){begin, i + 1 - begin}, 1);
      begin = i + 1;
    }
  for (guint i = 0; i < parts->len; i++) {
    Run *run = runs->len > 0 ? &g_array_index (runs, Run, runs->len - 1) : NULL;
    const Part *part = &g_array_index (parts, Part, i);
    if (run && same_part (self, start, &g_array_index (parts, Part, run->first), part))
      run->count++;
    else
      g_array_append_vals (runs, &(Run){i, 1}, 1);
  }
  g_autofree char *path = copy_numbers (self->ops[start].path, level + 1);
  char *label = parts->len > 1 ? g_strdup_printf (_ ("%s block × %u"), path, parts->len)
                               : g_strdup_printf (_ ("%s block"), path);
  add_row (self, starts, length, depth, label)->heading = TRUE;
  char *differing = name_differing (self, starts, parts, runs, level);
  if (differing)
    add_row (self, starts, 0, depth + 1, differing)->heading = TRUE;
  for (guint i = 0; i < runs->len; i++)
    emit_run (self, starts, parts, &g_array_index (runs, Run, i), level, depth + 1);
}

/* Adds the rows of the ops that begin at each of `starts`; `level` is the index of the repetition
 * number in their paths. */
static void
emit (LigRails *self, GArray *starts, int length, int level, int depth)
{
  int start = g_array_index (starts, int, 0);
  for (int i = 0, end; i < length; i = end) {
    g_autoptr (GArray) here = shift (starts, i);
    const char *path = self->ops[start + i].path;
    gboolean block = find_number (path, level + 1) != NULL;
    end = i + 1;
    while (block && end < length && same_number (path, self->ops[start + end].path, level))
      end++;
    if (block)
      emit_block (self, here, end - i, level, depth);
    else if (count_parts (self, start + i, length - i) > FEW_PARTS) {
      end = i + count_parts (self, start + i, length - i);
      add_macro (self, here, end - i, depth);
    } else
      add_op (self, here, depth);
  }
}

void
lig_rails_fold (LigRails *self)
{
  g_autoptr (GArray) starts = g_array_new (FALSE, TRUE, sizeof (int));
  g_array_set_size (starts, 1);
  self->rows = g_ptr_array_new_with_free_func (free_row);
  if (self->n_ops > 0)
    emit (self, starts, (int) self->n_ops, 0, 0);
}
