/* SPDX-License-Identifier: MIT */
/* Collects every problem of a sequence. */
#include "engine/compile/collect.h"

#include "engine/compile/kernels.h"
#include "engine/sequence/table.h"

#include <string.h>

struct _LigCollection {
  GPtrArray *problems;  /* of LigDraftProblem */
  GHashTable *messages; /* of the problems, with their paths */
  GHashTable *places;   /* the code and the path without repetitions -> the path of the first one */
  gboolean added;       /* by the last call of lig_draft_goes_on() */
};

static void
free_problem (gpointer data)
{
  LigDraftProblem *problem = data;
  g_error_free (problem->error);
  g_ptr_array_unref (problem->mends);
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

LigDraftProblem *
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
lig_draft_goes_on (LigDraft *self, int part, GError **error)
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
  LigDraftProblem *problem = g_new0 (LigDraftProblem, 1);
  problem->error = g_steal_pointer (error);
  problem->part = part;
  problem->mends = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_mend_free);
  g_ptr_array_add (collection->problems, problem);
  return TRUE;
}

void
lig_draft_offer (
  LigDraft *self, LigProblemMendKind kind, const char *path, const char *name, const char *value)
{
  LigCollection *collection = self->problems;
  if (!collection || !collection->added)
    return;
  LigDraftProblem *last = lig_collection_get (collection, lig_collection_count (collection) - 1);
  g_ptr_array_add (last->mends, lig_problem_mend_new (kind, path, name, value));
}

/* Finds the other problems of a sequence whose shapes are fine. The policy `measured` would use the
 * device, and accepts what `all` accepts. */
static gboolean
check_whole (LigDraft *self, GError **error)
{
  if (!lig_verify_values (self, error) || !lig_represent (self, error) ||
      !lig_fuse_check (self, error))
    return FALSE;
  if (lig_collection_count (self->problems) > 0)
    return TRUE;
  if (self->policy == LIG_POLICY_MEASURED)
    self->policy = LIG_POLICY_ALL;
  g_array_set_size (self->verdicts, 0);
  g_ptr_array_set_size (self->mends, 0);
  g_clear_pointer (&self->owners[0], g_free);
  g_clear_pointer (&self->owners[1], g_free);
  if (lig_fuse (self, error) && lig_verify_groups (self, error) && lig_schedule (self, error) &&
      lig_verify_steps (self, error) && lig_allocate (self, error))
    return lig_verify_memory (self, error);
  /* The others of an op whose kernel is missing. */
  lig_draft_goes_on (self, -1, error);
  return lig_check_single_ops (self, error);
}

/* Finds the forced fusions that are not legal whatever the shapes are. An error of a table may come
 * from a guessed shape, so it is left out. */
static void
check_rest (LigDraft *self)
{
  g_autoptr (GError) ignored = NULL;
  if (lig_represent (self, &ignored))
    lig_fuse_check (self, &ignored);
}

static gboolean
check (LigDraft *self, gboolean shapes, GError **error)
{
  if (!lig_expand (self, error) || !lig_verify_parts (self, error) || !lig_infer (self, error))
    return FALSE;
  guint before = self->n_shape_problems = lig_collection_count (self->problems);
  if (shapes)
    return TRUE;
  if (!lig_differentiate (self, error))
    return FALSE;
  if (before == 0 && lig_collection_count (self->problems) == 0)
    return check_whole (self, error);
  check_rest (self);
  return TRUE;
}

void
lig_draft_check (LigDraft *self, gboolean shapes)
{
  g_autoptr (GError) error = NULL;
  lig_registry_hold ();
  if (!self->problems)
    self->problems = lig_collection_new ();
  if (!check (self, shapes, &error) && error)
    lig_draft_goes_on (self, -1, &error);
  if (self->values->len == 0)
    self->n_shape_problems = lig_collection_count (self->problems);
  lig_registry_release ();
}
