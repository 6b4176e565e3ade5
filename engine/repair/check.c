/* SPDX-License-Identifier: MIT */
/* Finds every problem of a sequence by running the passes, which continue after an error. */
#include "engine/repair/check.h"

#include "engine/choose/choice.h"
#include "engine/choose/fuse.h"
#include "engine/compile/compilation.h"
#include "engine/graph/problems.h"
#include "engine/lower/kernels.h"
#include "engine/sequence/registry-lock.h"

/* Finds the other problems of a sequence whose shapes are fine. The policy `measured` would use the
 * device, and accepts the same fusions as `all`. */
static gboolean
check_whole (LigGraph *self, GError **error)
{
  if (!lig_run_passes (self, "represent", "represent", error) || !lig_fuse_check (self, error))
    return FALSE;
  if (lig_collection_count (self->problems) > 0)
    return TRUE;
  lig_graph_measure_nothing (self);
  g_array_set_size (self->choice->verdicts, 0);
  g_ptr_array_set_size (self->choice->fixes, 0);
  g_clear_pointer (&self->choice->owners[0], g_free);
  g_clear_pointer (&self->choice->owners[1], g_free);
  if (lig_run_passes (self, "fuse", "schedule", error) &&
      lig_run_passes (self, "allocate", "allocate", error))
    return TRUE;
  /* The other problems of an op whose kernel is missing. */
  lig_graph_collect_problem (self, -1, error);
  return lig_check_single_ops (self, error);
}

/* Finds the forced fusions that are not legal for any shapes. An error of a table may come from a
 * guessed shape, so it is omitted. */
static void
check_rest (LigGraph *self)
{
  g_autoptr (GError) ignored = NULL;
  if (lig_run_passes (self, "represent", "represent", &ignored))
    lig_fuse_check (self, &ignored);
}

static gboolean
check (LigGraph *self, gboolean shapes, GError **error)
{
  if (!lig_run_passes (self, "expand", "infer", error))
    return FALSE;
  guint before = self->n_shape_problems = lig_collection_count (self->problems);
  if (shapes)
    return TRUE;
  if (!lig_run_passes (self, "differentiate", "differentiate", error))
    return FALSE;
  if (before == 0 && lig_collection_count (self->problems) == 0)
    return check_whole (self, error);
  check_rest (self);
  return TRUE;
}

void
lig_graph_check (LigGraph *self, gboolean shapes)
{
  g_autoptr (GError) error = NULL;
  lig_registry_hold ();
  if (!self->problems)
    self->problems = lig_collection_new ();
  if (!check (self, shapes, &error) && error)
    lig_graph_collect_problem (self, -1, &error);
  if (self->values->len == 0)
    self->n_shape_problems = lig_collection_count (self->problems);
  lig_registry_release ();
}
