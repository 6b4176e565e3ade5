/* SPDX-License-Identifier: MIT */
/* Compiles plans: from a sequence, unfused, after edits that the verdicts of another plan suggest,
 * and with another choice of recomputation. */
#include "engine/choose/choice.h"
#include "engine/compile/compilation.h"
#include "engine/plan/plan-private.h"
#include <ligature/compile.h>
#include <ligature/plan-options.h>

/* Compiles a new graph, of which it takes ownership; null graph: its creation failed and the error
 * is set. */
static LigPlan *
compile (LigGraph *started, GError **error)
{
  g_autoptr (LigGraph) graph = started;
  return graph && lig_graph_compile (graph, error) ? lig_plan_finish (g_steal_pointer (&graph))
                                                   : NULL;
}

LigPlan *
lig_plan_compile (LigSequence *sequence,
                  LigDevice *device,
                  const LigPlanOptions *options,
                  GError **error)
{
  return compile (lig_graph_new (sequence, device, options, 0, error), error);
}

/* Returns whether the edit moves the paths of other ops. */
static gboolean
moves_ops (const LigFix *fix)
{
  return fix->kind == LIG_FIX_INSERT_OP || fix->kind == LIG_FIX_REMOVE_OP;
}

LigPlan *
lig_plan_fix (LigPlan *self, const guint *numbers, guint count, GError **error)
{
  g_return_val_if_fail (self && (numbers || count == 0), NULL);
  LigPlanOptions options = self->request->options;
  g_autoptr (LigSequence) sequence = lig_sequence_copy (self->request->sequence);
  /* Edits that move ops are made last, so that the paths of the others stay valid. */
  for (int moving = 0; moving < 2; moving++)
    for (guint i = 0; i < count; i++) {
      const LigFix *fix = lig_plan_find_fix (self, numbers[i], error);
      if (!fix)
        return NULL;
      if (moves_ops (fix) == moving && !lig_fix_apply (fix, sequence, error))
        return NULL;
    }
  options.tuning = NULL; /* its data may be freed */
  options.recall = TRUE;
  options.choices = NULL;
  return lig_plan_compile (sequence, self->request->device, &options, error);
}

LigPlan *
lig_plan_with_recompute (LigPlan *self, LigRecompute recompute, GError **error)
{
  g_return_val_if_fail (self, NULL);
  LigPlanOptions options = self->request->options;
  g_autofree char *choices = lig_plan_get_choices (self);
  options.tuning = NULL; /* its data may be freed */
  options.recall = TRUE;
  options.choices = choices;
  options.recompute = recompute;
  return lig_plan_compile (self->request->sequence, self->request->device, &options, error);
}

/* --- Unfused plans ------------------------------------------------------------------------ */

/* @of: (nullable): the plan whose sequence was copied, and whose measured times it uses */
static LigPlan *
compile_alone (LigSequence *sequence,
               LigDevice *device,
               const LigPlanOptions *options,
               const LigPlan *of,
               GError **error)
{
  LigPlanOptions alone;
  if (!lig_plan_options_read (options, &alone, error))
    return NULL;
  alone.policy = LIG_POLICY_NONE;
  alone.choices = NULL;
  LigGraph *graph = lig_graph_new (sequence, device, &alone,
                                   LIG_REQUEST_APART | (of ? LIG_REQUEST_COMPARED : 0), error);
  if (!graph)
    return NULL;
  if (of) {
    lig_graph_follow (graph, of->request);
    graph->choice->prices = of->prices ? g_hash_table_ref (of->prices) : NULL;
  }
  return compile (graph, error);
}

LigPlan *
lig_plan_compile_unfused (LigSequence *sequence,
                          LigDevice *device,
                          const LigPlanOptions *options,
                          GError **error)
{
  return compile_alone (sequence, device, options, NULL, error);
}

LigPlan *
lig_plan_unfuse (LigPlan *self, GError **error)
{
  LigPlanOptions options = self->request->options;
  options.tuning = NULL; /* its data may be freed */
  return compile_alone (self->request->sequence, self->request->device, &options, self, error);
}
