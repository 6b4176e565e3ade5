/* SPDX-License-Identifier: MIT */
/* Lists and removes overrides: forced and forbidden fusions. */
#include "ui/document/overrides.h"

#include "ui/document/edit.h"

#include <string.h>

static void
free_override (gpointer data)
{
  LigOverride *override = data;
  g_free (override->path);
  g_free (override->fusion);
  g_free (override);
}

static void
add_names (GPtrArray *overrides, gboolean forced, const char *path, const char *const *names)
{
  for (; names && *names; names++) {
    LigOverride *override = g_new0 (LigOverride, 1);
    override->forced = forced;
    override->path = g_strdup (path);
    override->fusion = g_strdup (*names);
    g_ptr_array_add (overrides, override);
  }
}

static void
add_sequence (GPtrArray *overrides, LigSequence *sequence, const char *prefix)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    g_autofree char *path = g_strdup_printf ("%s%u", prefix, i);
    add_names (overrides, TRUE, path, lig_op_get_forced (op));
    add_names (overrides, FALSE, path, lig_op_get_forbidden (op));
    g_autofree char *inside = g_strconcat (path, ".0.", NULL);
    if (lig_op_get_body (op))
      add_sequence (overrides, lig_op_get_body (op), inside);
  }
}

GPtrArray *
lig_document_list_overrides (LigDocument *self)
{
  GPtrArray *overrides = g_ptr_array_new_with_free_func (free_override);
  LigSequence *sequence = lig_document_get_sequence (self);
  add_names (overrides, FALSE, NULL, lig_sequence_get_forbidden (sequence));
  add_sequence (overrides, sequence, "");
  return overrides;
}

/* Also finds an op in a folded block, which has no row. The repetition's number does not matter,
 * because repetitions share their ops. */
static LigOp *
find_op (LigSequence *sequence, const char *path)
{
  g_auto (GStrv) numbers = g_strsplit (path, ".", -1);
  LigOp *op = NULL;
  for (guint i = 0; numbers[i] && sequence; i += 2) {
    op = lig_sequence_get (sequence, (int) g_ascii_strtoll (numbers[i], NULL, 10), NULL);
    sequence = op ? lig_op_get_body (op) : NULL;
    if (!numbers[i + 1])
      return op;
  }
  return NULL;
}

static GStrv
without (const char *const *names, const char *name)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (; *names; names++)
    if (!g_str_equal (*names, name))
      g_strv_builder_add (builder, *names);
  return g_strv_builder_end (builder);
}

gboolean
lig_override_remove (LigSequence *sequence, gboolean forced, const char *path, const char *fusion)
{
  LigOp *op = path ? find_op (sequence, path) : NULL;
  if (path && !op)
    return FALSE;
  const char *const *names = !path    ? lig_sequence_get_forbidden (sequence)
                             : forced ? lig_op_get_forced (op)
                                      : lig_op_get_forbidden (op);
  if (!names || !g_strv_contains (names, fusion))
    return FALSE;
  g_auto (GStrv) rest = without (names, fusion);
  if (!path)
    lig_sequence_set_forbidden (sequence, (const char *const *) rest);
  else
    (forced ? lig_op_set_forced : lig_op_set_forbidden) (op, (const char *const *) rest);
  return TRUE;
}

void
lig_document_drop_override (LigDocument *self,
                            gboolean forced,
                            const char *path,
                            const char *fusion)
{
  LigSequence *sequence = lig_document_get_sequence (self);
  LigOp *op = path ? find_op (sequence, path) : NULL;
  if (path && !op)
    return;
  if (forced && op)
    lig_edit_force (self, op, fusion, FALSE);
  else
    lig_edit_forbid (self, op, fusion, FALSE);
}
