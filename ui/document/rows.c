/* SPDX-License-Identifier: MIT */
/* A document's rows, and which of them are selected. */
#include "ui/document/private.h"
#include <ligature/expand-macro.h>

#include <string.h>

static void
clear_row (gpointer data)
{
  LigRow *row = data;
  g_free (row->path);
}

void
lig_document_init_rows (LigDocument *self)
{
  self->rows = g_array_new (FALSE, TRUE, sizeof (LigRow));
  g_array_set_clear_func (self->rows, clear_row);
  self->by_op = g_hash_table_new (NULL, NULL);
  self->by_path = g_hash_table_new (g_str_hash, g_str_equal);
  self->open = g_hash_table_new (NULL, NULL);
  self->chosen = g_hash_table_new (NULL, NULL);
}

void
lig_document_clear_rows (LigDocument *self)
{
  g_array_unref (self->rows);
  g_hash_table_unref (self->by_op);
  g_hash_table_unref (self->by_path);
  g_hash_table_unref (self->open);
  g_hash_table_unref (self->chosen);
}

static void
add_rows (LigDocument *self, LigSequence *parent, const char *prefix, int depth)
{
  for (guint i = 0; i < lig_sequence_get_length (parent); i++) {
    LigRow row = {.op = lig_sequence_get (parent, (int) i, NULL),
                  .parent = parent,
                  .index = (int) i,
                  .depth = depth};
    row.path = g_strdup_printf ("%s%u", prefix, i);
    LigSequence *body = lig_op_get_body (row.op);
    row.folds = lig_row_folds (row.op);
    row.open = row.folds && g_hash_table_contains (self->open, row.op);
    g_array_append_val (self->rows, row);
    gpointer number = GUINT_TO_POINTER (self->rows->len);
    g_hash_table_insert (self->by_op, row.op, number);
    g_hash_table_insert (self->by_path, row.path, number);
    g_autofree char *inside = g_strconcat (row.path, ".0.", NULL);
    if (row.open && body)
      add_rows (self, body, inside, depth + 1);
  }
}

/* The answer for the last parameters of a macro. */
typedef struct {
  gpointer params;
  gboolean many;
} Count;

/* Returns whether a macro has many parts. Counting creates the parts, which takes long for a
 * thousand rows, so the answer is cached: most rows have the same parameters. */
static gboolean
has_many_parts (LigOp *op)
{
  enum { FEW_PARTS = 3 };
  static GHashTable *counts; /* from LigOpInfo; used by the main thread only */
  const LigOpInfo *info = lig_op_get_info (op);
  if (!counts)
    counts = g_hash_table_new (NULL, NULL);
  Count *count = g_hash_table_lookup (counts, info);
  if (count && memcmp (count->params, lig_op_get_params (op), info->params_size) == 0)
    return count->many;
  if (!count) {
    count = g_new0 (Count, 1);
    g_hash_table_insert (counts, (gpointer) info, count);
  }
  g_free (count->params);
  count->params = g_memdup2 (lig_op_get_params (op), MAX (info->params_size, 1));
  count->many = lig_op_count_ops (op) > FEW_PARTS;
  return count->many;
}

gboolean
lig_row_folds (LigOp *op)
{
  return lig_op_get_body (op) || (lig_op_get_info (op)->expand && has_many_parts (op));
}

/* Collects the rows that can be folded, including those inside folded blocks. */
static void
list_folds (LigSequence *sequence, GPtrArray *folds)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    LigSequence *body = lig_op_get_body (op);
    if (lig_row_folds (op))
      g_ptr_array_add (folds, op);
    if (body)
      list_folds (body, folds);
  }
}

/* Returns whether two ops may be the same op before and after an edit. */
static gboolean
is_like (LigOp *a, LigOp *b)
{
  LigSequence *one = lig_op_get_body (a), *two = lig_op_get_body (b);
  if (one && two)
    return lig_sequence_get_length (one) == lig_sequence_get_length (two);
  return lig_op_get_info (a) == lig_op_get_info (b);
}

void
lig_document_carry_open (LigDocument *self, LigSequence *next)
{
  g_autoptr (GPtrArray) before = g_ptr_array_new (), after = g_ptr_array_new ();
  GHashTable *open = g_hash_table_new (NULL, NULL);
  list_folds (self->sequence, before);
  list_folds (next, after);
  /* If their number changed, similar ones are matched. */
  for (guint i = 0, k = 0; i < before->len; i++) {
    if (!g_hash_table_contains (self->open, before->pdata[i]))
      continue;
    guint like = before->len == after->len ? i : k;
    while (before->len != after->len && like < after->len &&
           !is_like (after->pdata[like], before->pdata[i]))
      like++;
    if (like < after->len)
      g_hash_table_add (open, after->pdata[like]);
    k = like + 1;
  }
  g_hash_table_unref (self->open);
  self->open = open;
}

GStrv
lig_document_list_open (LigDocument *self)
{
  g_autoptr (GStrvBuilder) paths = g_strv_builder_new ();
  for (guint i = 0; i < self->rows->len; i++) {
    const LigRow *row = &g_array_index (self->rows, LigRow, i);
    if (row->open)
      g_strv_builder_add (paths, row->path);
  }
  return g_strv_builder_end (paths);
}

static void
open_below (LigDocument *self, LigSequence *parent, const char *prefix, const char *const *paths)
{
  for (guint i = 0; i < lig_sequence_get_length (parent); i++) {
    LigOp *op = lig_sequence_get (parent, (int) i, NULL);
    g_autofree char *path = g_strdup_printf ("%s%u", prefix, i);
    g_autofree char *inside = g_strconcat (path, ".0.", NULL);
    if (lig_row_folds (op) && g_strv_contains (paths, path))
      g_hash_table_add (self->open, op);
    if (lig_op_get_body (op))
      open_below (self, lig_op_get_body (op), inside, paths);
  }
}

void
lig_document_open_paths (LigDocument *self, LigSequence *next, const char *const *paths)
{
  open_below (self, next, "", paths);
}

static void
forget_open (LigDocument *self)
{
  g_autoptr (GPtrArray) blocks = g_ptr_array_new ();
  GHashTable *open = g_hash_table_new (NULL, NULL);
  list_folds (self->sequence, blocks);
  for (guint i = 0; i < blocks->len; i++)
    if (g_hash_table_contains (self->open, blocks->pdata[i]))
      g_hash_table_add (open, blocks->pdata[i]);
  g_hash_table_unref (self->open);
  self->open = open;
}

static gboolean
is_gone (gpointer op, gpointer value, gpointer data)
{
  const LigDocument *self = data;
  return !g_hash_table_contains (self->by_op, op);
}

void
lig_document_build_rows (LigDocument *self)
{
  g_hash_table_remove_all (self->by_op);
  g_hash_table_remove_all (self->by_path);
  g_clear_pointer (&self->faulty, g_hash_table_unref);
  g_array_set_size (self->rows, 0);
  forget_open (self);
  add_rows (self, self->sequence, "", 0);
  g_hash_table_foreach_remove (self->chosen, is_gone, self);
  if (self->cursor && !g_hash_table_contains (self->by_op, self->cursor))
    self->cursor = NULL;
}

const LigRow *
lig_document_get_rows (LigDocument *self, guint *count)
{
  *count = self->rows->len;
  return (const LigRow *) (gpointer) self->rows->data;
}

static const LigRow *
get_numbered (LigDocument *self, gpointer number)
{
  return number ? &g_array_index (self->rows, LigRow, GPOINTER_TO_UINT (number) - 1) : NULL;
}

const LigRow *
lig_document_find_row (LigDocument *self, LigOp *op)
{
  return get_numbered (self, g_hash_table_lookup (self->by_op, op));
}

/* The first repetition of a block represents all of them. */
static char *
fold_repetitions (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (guint i = 1; parts[0] && parts[i] && parts[i + 1]; i += 2) {
    g_free (parts[i]);
    parts[i] = g_strdup ("0");
  }
  return g_strjoinv (".", parts);
}

const LigRow *
lig_document_find_path (LigDocument *self, const char *path)
{
  g_autofree char *first = fold_repetitions (path);
  for (;;) {
    const LigRow *row = get_numbered (self, g_hash_table_lookup (self->by_path, first));
    char *dot = strrchr (first, '.');
    if (row || !dot)
      return row;
    *dot = '\0';
  }
}

void
lig_document_set_open (LigDocument *self, LigOp *op, gboolean open)
{
  const LigRow *row = lig_document_find_row (self, op);
  if (!row || !row->folds || row->open == open)
    return;
  if (open)
    g_hash_table_add (self->open, row->op);
  else
    g_hash_table_remove (self->open, row->op);
  lig_document_build_rows (self);
  lig_document_emit (self, LIG_DOCUMENT_CHANGED);
}

static void
open_all (LigDocument *self, gboolean open, gboolean macros)
{
  g_autoptr (GPtrArray) blocks = g_ptr_array_new ();
  guint before = g_hash_table_size (self->open);
  list_folds (self->sequence, blocks);
  for (guint i = 0; i < blocks->len && open; i++)
    if (macros || lig_op_get_body (blocks->pdata[i]))
      g_hash_table_add (self->open, blocks->pdata[i]);
  if (!open)
    g_hash_table_remove_all (self->open);
  if (before == g_hash_table_size (self->open))
    return;
  lig_document_build_rows (self);
  lig_document_emit (self, LIG_DOCUMENT_CHANGED);
}

void
lig_document_set_all_open (LigDocument *self, gboolean open)
{
  open_all (self, open, TRUE);
}

void
lig_document_open_blocks (LigDocument *self)
{
  open_all (self, TRUE, FALSE);
}

/* --- Selection ----------------------------------------------------------------------------- */

static void
select_range (LigDocument *self, LigOp *op)
{
  guint from = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_op, self->cursor));
  guint to = GPOINTER_TO_UINT (g_hash_table_lookup (self->by_op, op));
  for (guint i = MIN (from, to); i <= MAX (from, to) && i > 0; i++)
    g_hash_table_add (self->chosen, g_array_index (self->rows, LigRow, i - 1).op);
}

void
lig_document_select (LigDocument *self, LigOp *op, LigSelectHow how)
{
  if (op && !g_hash_table_contains (self->by_op, op))
    return;
  if (how == LIG_SELECT_ONLY || !op)
    g_hash_table_remove_all (self->chosen);
  if (op && how == LIG_SELECT_TOGGLE && g_hash_table_contains (self->chosen, op))
    g_hash_table_remove (self->chosen, op);
  else if (op && how == LIG_SELECT_RANGE && self->cursor)
    select_range (self, op);
  else if (op)
    g_hash_table_add (self->chosen, op);
  self->cursor = op;
  lig_document_emit (self, LIG_DOCUMENT_SELECTED);
}

void
lig_document_select_all (LigDocument *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    g_hash_table_add (self->chosen, g_array_index (self->rows, LigRow, i).op);
  lig_document_emit (self, LIG_DOCUMENT_SELECTED);
}

gboolean
lig_document_is_selected (LigDocument *self, LigOp *op)
{
  return g_hash_table_contains (self->chosen, op);
}

LigOp *
lig_document_get_cursor (LigDocument *self)
{
  return self->cursor;
}

void
lig_document_want_parameter (LigDocument *self, const char *name)
{
  self->wanted = g_intern_string (name);
  lig_document_emit (self, LIG_DOCUMENT_WANTED);
}

const char *
lig_document_get_wanted (LigDocument *self)
{
  return self->wanted;
}

GPtrArray *
lig_document_get_selection (LigDocument *self)
{
  GPtrArray *selection = g_ptr_array_new ();
  for (guint i = 0; i < self->rows->len; i++) {
    LigRow *row = &g_array_index (self->rows, LigRow, i);
    if (g_hash_table_contains (self->chosen, row->op))
      g_ptr_array_add (selection, row);
  }
  return selection;
}

GStrv
lig_document_remember_selection (LigDocument *self)
{
  g_autoptr (GStrvBuilder) paths = g_strv_builder_new ();
  const LigRow *cursor = self->cursor ? lig_document_find_row (self, self->cursor) : NULL;
  g_strv_builder_add (paths, cursor ? cursor->path : "");
  g_autoptr (GPtrArray) selection = lig_document_get_selection (self);
  for (guint i = 0; i < selection->len; i++)
    g_strv_builder_add (paths, ((const LigRow *) selection->pdata[i])->path);
  return g_strv_builder_end (paths);
}

void
lig_document_restore_selection (LigDocument *self, const char *const *paths)
{
  g_hash_table_remove_all (self->chosen);
  const LigRow *cursor =
    paths[0] ? get_numbered (self, g_hash_table_lookup (self->by_path, paths[0])) : NULL;
  self->cursor = cursor ? cursor->op : NULL;
  for (guint i = 1; paths[0] && paths[i]; i++) {
    const LigRow *row = get_numbered (self, g_hash_table_lookup (self->by_path, paths[i]));
    if (row)
      g_hash_table_add (self->chosen, row->op);
  }
}
