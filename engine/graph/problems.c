/* SPDX-License-Identifier: MIT */
/* Collects every problem of a sequence. */
#include "engine/graph/problems.h"

#include "engine/sequence/table.h"

#include <string.h>

struct _LigCollection {
  GPtrArray *problems;  /* of LigGraphProblem */
  GHashTable *messages; /* of the problems, with their paths */
  GHashTable *places;   /* the code and the path without repetitions -> the path of the first one */
  gboolean added;       /* by the last call of lig_graph_collect_problem() */
};

static void
free_problem (gpointer data)
{
  LigGraphProblem *problem = data;
  g_error_free (problem->error);
  g_ptr_array_unref (problem->fixes);
  g_free (problem);
}

LigCollection *
lig_collection_new (void)
{
  LigCollection *self = g_new0 (LigCollection, 1);
  self->problems = g_ptr_array_new_with_free_func (free_problem);
  self->messages = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
lig_collection_free (LigCollection *self)
{
  g_hash_table_unref (self->messages);
  g_hash_table_unref (self->places);
  g_ptr_array_unref (self->problems);
  g_free (self);
}

guint
lig_collection_count (const LigCollection *self)
{
  return self->problems->len;
}

LigGraphProblem *
lig_collection_get (const LigCollection *self, guint n)
{
  return self->problems->pdata[n];
}

/* Returns the code and the path without the numbers of repetitions: `shape 3.*.2`. */
static char *
place_of (const GError *error, const char *path)
{
  g_auto (GStrv) numbers = g_strsplit (path, ".", -1);
  for (guint i = 1; numbers[0] && numbers[i] && numbers[i + 1]; i += 2) {
    g_free (numbers[i]);
    numbers[i] = g_strdup ("*");
  }
  g_autofree char *place = g_strjoinv (".", numbers);
  return g_strdup_printf ("%s %s", lig_error_code_name (error), place);
}

/* Returns whether an earlier repetition of a block has the same problem. */
static gboolean
is_repeated (LigCollection *self, const GError *error)
{
  const char *path = lig_error_get_path (error);
  if (!path)
    return FALSE;
  g_autofree char *place = place_of (error, path);
  const char *first = g_hash_table_lookup (self->places, place);
  if (!first)
    g_hash_table_insert (self->places, g_steal_pointer (&place), g_strdup (path));
  return first && !g_str_equal (first, path);
}

gboolean
lig_graph_collect_problem (LigGraph *self, int part, GError **error)
{
  LigCollection *collection = self->problems;
  if (!collection)
    return FALSE;
  const char *path = lig_error_get_path (*error);
  collection->added =
    !is_repeated (collection, *error) &&
    g_hash_table_add (collection->messages,
                      g_strdup_printf ("%s %s", path ? path : "", (*error)->message));
  if (!collection->added) {
    g_clear_error (error);
    return TRUE;
  }
  LigGraphProblem *problem = g_new0 (LigGraphProblem, 1);
  problem->error = g_steal_pointer (error);
  problem->part = part;
  problem->fixes = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_fix_free);
  g_ptr_array_add (collection->problems, problem);
  return TRUE;
}

void
lig_graph_offer (
  LigGraph *self, LigProblemFixKind kind, const char *path, const char *name, const char *value)
{
  LigCollection *collection = self->problems;
  if (!collection || !collection->added)
    return;
  LigGraphProblem *last = lig_collection_get (collection, lig_collection_count (collection) - 1);
  g_ptr_array_add (last->fixes, lig_problem_fix_new (kind, path, name, value));
}
