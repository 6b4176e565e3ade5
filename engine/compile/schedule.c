/* SPDX-License-Identifier: MIT */
/* schedule: puts the steps in order: conversions and groups forward, gradient sums and groups
 * backward, then the update. */
#include "engine/choose/predict.h"
#include "engine/compile/compilation.h"
#include "engine/compile/gradients.h"
#include "engine/compile/update.h"
#include "engine/graph/awaits.h"
#include "engine/graph/gradients.h"
#include "engine/graph/op.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/lower/kernels.h"
#include "engine/lower/lower.h"
#include "engine/parallel/reduce.h"
#include "engine/quantize/calibrate.h"
#include "engine/quantize/quantizers.h"
#include <ligature/kernels.h>
#include <ligature/params-collective.h>
#include <ligature/params-loss.h>

static int
by_part (gconstpointer a, gconstpointer b)
{
  const LigConversion *x = a, *y = b;
  return x->part < y->part ? -1 : x->part > y->part ? 1 : x->to - y->to;
}

/* Adds the conversions that the op `last` and those before it need; `next` advances, because the
 * conversions are sorted. */
static void
run_conversions (LigGraph *graph, LigPass pass, int last, guint *next)
{
  for (; *next < graph->gradients->conversions->len; ++*next) {
    const LigConversion *conversion =
      &g_array_index (graph->gradients->conversions, LigConversion, *next);
    int values[] = {conversion->from, conversion->to};
    int reader = lig_value (graph, conversion->to)->op;
    if (conversion->part > last)
      return;
    lig_step_append (graph, graph->steps, pass, MAX (reader, 0), "convert", values, NULL, 0);
  }
}

/* Adds the steps that sum the contributions to the gradients that the group reads next. Sums were
 * recorded from the last op to the first, the order in which groups run backward. */
static void
run_sums (LigGraph *graph, const LigPlanGroup *group, guint *next)
{
  for (; *next < graph->gradients->sums->len; ++*next) {
    guint i = *next;
    const LigSum sum = g_array_index (graph->gradients->sums, LigSum, i);
    if (sum.part < group->first)
      return;
    if (lig_sum_is_inside (graph, group, &sum))
      continue;
    int total = g_array_index (sum.contributions, int, 0);
    for (guint j = 1; j < sum.contributions->len; j++) {
      LigShape shape = lig_value (graph, sum.target)->shape;
      LigDtype dtype = lig_value (graph, sum.target)->dtype;
      int to = j + 1 == sum.contributions->len
                 ? sum.target
                 : lig_graph_add_value (graph, LIG_VALUE_GRADIENT, &shape, dtype, sum.part,
                                        "sum%u.%u", i, j);
      int values[] = {total, g_array_index (sum.contributions, int, j), to};
      lig_step_append (graph, graph->steps, LIG_PASS_BACKWARD, sum.part, "add", values, NULL, 0);
      total = to;
    }
  }
}

/* Adds the steps of a group. `next` is the first conversion, or in the backward pass the first sum,
 * that has not been added. */
static gboolean
run_group (LigGraph *graph, LigPass pass, int number, guint *next, GError **error)
{
  LigPlanGroup *group = lig_group (graph, pass, number);
  if (pass == LIG_PASS_BACKWARD)
    run_sums (graph, group, next);
  else
    run_conversions (graph, pass, group->first + group->count - 1, next);
  int first = (int) graph->steps->len;
  if (!lig_lower_group (graph, group, pass, graph->steps, NULL, error) ||
      !lig_check_kernels (graph, group, graph->steps, (guint) first, error))
    return FALSE;
  if (pass == LIG_PASS_BACKWARD)
    lig_start_beside (graph, graph->steps, (guint) first);
  group->n_steps = (int) graph->steps->len - first;
  group->predicted = group->n_steps > 0
                       ? lig_predict_steps (graph, lig_step (graph, first), (guint) group->n_steps)
                       : 0;
  for (int i = first; i < (int) graph->steps->len; i++) {
    LigGraphStep *step = lig_step (graph, i);
    step->plan.group = number;
    group->bytes += step->plan.read + step->plan.written;
    group->flops += step->plan.flops;
  }
  lig_schedule_calibration (graph, group, pass);
  return TRUE;
}

/* Adds a value of the accuracy. */
static int
add_counted (LigGraph *graph, const LigShape *shape, const char *name)
{
  return lig_graph_add_value (graph, LIG_VALUE_COMPUTED, shape, LIG_FP32, -1, "%s", name);
}

/* Adds the steps of the accuracy if the classes are sharded. */
static void
run_accuracy_of_parts (LigGraph *graph, const int *values, const LigCrossEntropyParams *params)
{
  enum { NUMBERS = 3 }; /* see accuracy_part in kernels/kernel-list.h */
  const LigCollectiveParams gather = {
    lig_device_get_n_ranks (graph->request->device, LIG_GROUP_TENSOR), LIG_REDUCE_SUM,
    LIG_GROUP_TENSOR};
  int index = (int) graph->parts->len - 1, targets = values[1];
  gint64 rows = lig_shape_size (&lig_value (graph, targets)->shape);
  LigShape one, all;
  lig_shape_init (&one, 2, rows, (gint64) NUMBERS);
  lig_shape_init (&all, 3, (gint64) gather.peers, rows, (gint64) NUMBERS);
  int part = add_counted (graph, &one, "correct.part");
  int parts = add_counted (graph, &all, "correct.parts");
  lig_step_append (graph, graph->steps, LIG_PASS_FORWARD, index, "accuracy_part",
                   (int[]){values[0], targets, part}, params, sizeof *params);
  lig_step_append (graph, graph->steps, LIG_PASS_FORWARD, index, "all_gather", (int[]){part, parts},
                   &gather, sizeof gather);
  lig_step_append (graph, graph->steps, LIG_PASS_FORWARD, index, "accuracy_join",
                   (int[]){parts, targets, values[2], values[3]}, params, sizeof *params);
}

/* Adds a step that counts the rows whose largest logit is the target, if the sequence ends in a
 * cross-entropy. */
static void
run_accuracy (LigGraph *graph)
{
  const LigPart *last = lig_part (graph, graph->parts->len - 1);
  LigShape scalar = {0};
  if (!lig_counts_accuracy (graph))
    return;
  int x = last->x, targets = last->extra_inputs[0];
  graph->ends.correct = add_counted (graph, &scalar, "correct");
  graph->ends.counted = add_counted (graph, &scalar, "counted");
  lig_value (graph, graph->ends.correct)->kept_to_end = TRUE;
  lig_value (graph, graph->ends.counted)->kept_to_end = TRUE;
  int values[] = {x, targets, graph->ends.correct, graph->ends.counted};
  LigCrossEntropyParams params = *(const LigCrossEntropyParams *) last->params;
  if (params.part.count > 0)
    run_accuracy_of_parts (graph, values, &params);
  else
    lig_step_append (graph, graph->steps, LIG_PASS_FORWARD, (int) graph->parts->len - 1, "accuracy",
                     values, &params, sizeof params);
}

/* Returns whether something outside the steps reads the value. */
static gboolean
is_result (const LigGraph *graph, int value)
{
  return lig_value (graph, value)->kept_to_end ||
         (lig_value (graph, value)->role == LIG_VALUE_CACHE &&
          !graph->request->options.cache.source);
}

/* Returns whether a needed value is among the outputs of a step; then its inputs are needed. */
static gboolean
follow (const LigGraph *graph, const LigGraphStep *step, gboolean *needed)
{
  gboolean wanted = FALSE;
  for (int i = step->plan.n_inputs; i < step->plan.n_operands; i++)
    wanted |= step->values[i] >= 0 && needed[lig_graph_root (graph, step->values[i])];
  for (int i = 0; i < step->plan.n_inputs && wanted; i++)
    if (step->values[i] >= 0)
      needed[lig_graph_root (graph, step->values[i])] = TRUE;
  return wanted;
}

/* Removes the steps of a plan with a cache whose results nothing reads: those of the source where
 * tokens are added to a text, those of the text where its source is read, and those after the last
 * op that keeps keys and values where a run only appends some. */
static void
prune (LigGraph *graph)
{
  if (graph->request->options.cache.rows == 0)
    return;
  g_autofree gboolean *needed = g_new0 (gboolean, graph->values->len);
  for (int i = 0; i < (int) graph->values->len; i++)
    if (is_result (graph, i))
      needed[lig_graph_root (graph, i)] = TRUE;
  for (int i = (int) graph->steps->len - 1; i >= 0; i--) {
    if (follow (graph, lig_step (graph, i), needed))
      continue;
    g_array_remove_index (graph->steps, (guint) i);
    graph->phases.forward -= i < graph->phases.forward;
    graph->phases.backward -= i < graph->phases.backward;
    graph->phases.update -= i < graph->phases.update;
  }
}

gboolean
lig_schedule (LigGraph *graph, GError **error)
{
  guint conversion = 0, sum = 0;
  g_array_sort (graph->gradients->conversions, by_part);
  run_conversions (graph, LIG_PASS_FORWARD, LIG_BEFORE_FORWARD, &conversion);
  lig_schedule_weights (graph);
  lig_schedule_calibration (graph, NULL, LIG_PASS_FORWARD);
  graph->phases.forward = (int) graph->steps->len;
  run_conversions (graph, LIG_PASS_FORWARD, -1, &conversion);
  for (int i = 0; i < (int) graph->groups[LIG_PASS_FORWARD]->len; i++)
    if (!run_group (graph, LIG_PASS_FORWARD, i, &conversion, error))
      return FALSE;
  run_accuracy (graph);
  graph->phases.backward = (int) graph->steps->len;
  lig_schedule_scaling (graph);
  for (int i = (int) graph->groups[LIG_PASS_BACKWARD]->len - 1; i >= 0; i--)
    if (!run_group (graph, LIG_PASS_BACKWARD, i, &sum, error))
      return FALSE;
  run_conversions (graph, LIG_PASS_BACKWARD, LIG_AFTER_BACKWARD, &conversion);
  lig_share_gradients (graph);
  lig_schedule_reductions (graph);
  graph->phases.update = (int) graph->steps->len;
  if (graph->request->options.training && graph->request->options.optimizer &&
      graph->layout->elements > 0)
    lig_schedule_update (graph);
  if (graph->request->options.training && graph->request->options.optimizer)
    lig_schedule_histories (graph);
  if (graph->request->options.training && graph->request->options.optimizer &&
      !lig_schedule_own_updates (graph, error))
    return FALSE;
  prune (graph);
  for (guint i = 0; i < graph->steps->len; i++)
    if (lig_step (graph, i)->plan.predicted == 0)
      lig_predict_steps (graph, lig_step (graph, i), 1);
  lig_delay_reductions (graph);
  for (guint i = 0; i < graph->steps->len; i++)
    lig_step_add_scratch (graph, lig_step (graph, i));
  lig_find_awaits (graph);
  return TRUE;
}
