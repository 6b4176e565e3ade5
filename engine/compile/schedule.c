/* SPDX-License-Identifier: MIT */
/* schedule: puts the steps in order: conversions and groups forward, gradient sums and groups
 * backward, then the update. */
#include "engine/compile/calibrate.h"
#include "engine/compile/kernels.h"
#include "engine/compile/lower.h"
#include "engine/compile/predict.h"
#include "engine/compile/quantizers.h"
#include "engine/compile/reduce.h"
#include "engine/compile/share.h"
#include "engine/compile/update.h"
#include <ligature/kernels.h>
#include <ligature/params-collective.h>
#include <ligature/params-loss.h>

static int
by_part (gconstpointer a, gconstpointer b)
{
  const LigConversion *x = a, *y = b;
  return x->part < y->part ? -1 : x->part > y->part ? 1 : x->to - y->to;
}

/* Adds the conversions that the op `last` and those before it need; `next` advances, as the
 * conversions are sorted. */
static void
run_conversions (LigDraft *draft, LigPass pass, int last, guint *next)
{
  for (; *next < draft->conversions->len; ++*next) {
    const LigConversion *conversion = &g_array_index (draft->conversions, LigConversion, *next);
    int values[] = {conversion->from, conversion->to};
    int reader = lig_value (draft, conversion->to)->part;
    if (conversion->part > last)
      return;
    lig_lower_plain (draft, draft->steps, pass, MAX (reader, 0), "convert", values, NULL, 0);
  }
}

/* Adds the steps that sum the contributions to the gradients that the group reads next. Sums were
 * recorded from the last op to the first, the order in which groups run backward. */
static void
run_sums (LigDraft *draft, const LigGroup *group, guint *next)
{
  for (; *next < draft->sums->len; ++*next) {
    guint i = *next;
    const LigSum sum = g_array_index (draft->sums, LigSum, i);
    if (sum.part < group->first)
      return;
    if (lig_sum_is_inside (draft, group, &sum))
      continue;
    int total = g_array_index (sum.contributions, int, 0);
    for (guint j = 1; j < sum.contributions->len; j++) {
      LigShape shape = lig_value (draft, sum.target)->shape;
      LigDtype dtype = lig_value (draft, sum.target)->dtype;
      int to = j + 1 == sum.contributions->len
                 ? sum.target
                 : lig_draft_add_value (draft, LIG_VALUE_GRADIENT, &shape, dtype, sum.part,
                                        "sum%u.%u", i, j);
      int values[] = {total, g_array_index (sum.contributions, int, j), to};
      lig_lower_plain (draft, draft->steps, LIG_PASS_BACKWARD, sum.part, "add", values, NULL, 0);
      total = to;
    }
  }
}

/* A weight gradient that is too small to use a whole GPU overlaps the steps after it, which do not
 * read it before the update. Longer products gain nothing and would keep their operands alive. */
#define LONGEST_BESIDE 20e-6

static gboolean
may_run_beside (const LigDraft *draft, const LigDraftStep *step)
{
  if (lig_writes_shared (draft, step))
    return FALSE;
  double seconds = lig_predict_floor (draft, step);
  return lig_device_get_facts (draft->device)->capability > 0 && step->kernel &&
         step->kernel->work == LIG_PRODUCT_OVER_ROWS &&
         lig_kernel_find (step->kernel->name) == step->kernel && seconds > 0 &&
         seconds < LONGEST_BESIDE;
}

/* Returns whether a step reads a value that the other writes. */
static gboolean
depends (const LigDraft *draft, const LigDraftStep *step, const LigDraftStep *on)
{
  for (int i = 0; i < step->n_inputs; i++)
    for (int j = on->n_inputs; j < on->n_operands; j++)
      if (step->values[i] >= 0 && on->values[j] >= 0 &&
          lig_draft_root (draft, step->values[i]) == lig_draft_root (draft, on->values[j]))
        return TRUE;
  return FALSE;
}

void
lig_start_beside (LigDraft *draft, GArray *steps, guint first)
{
  LigDraftStep *all = (LigDraftStep *) (gpointer) steps->data;
  for (guint i = first; i < steps->len; i++) {
    if (!may_run_beside (draft, &all[i]))
      continue;
    all[i].lane = LIG_LANE_SIDE;
    for (guint at = i; at > first && !all[at - 1].lane && !depends (draft, &all[at], &all[at - 1]);
         at--) {
      LigDraftStep moved = all[at];
      all[at] = all[at - 1];
      all[at - 1] = moved;
    }
  }
}

/* Adds the steps of a group. `next` is the first conversion, or in the backward pass the first sum,
 * that has not been added. */
static gboolean
run_group (LigDraft *draft, LigPass pass, int number, guint *next, GError **error)
{
  LigGroup *group = lig_group (draft, pass, number);
  if (pass == LIG_PASS_BACKWARD)
    run_sums (draft, group, next);
  else
    run_conversions (draft, pass, group->first + group->count - 1, next);
  group->first_step = (int) draft->steps->len;
  if (!lig_lower_group (draft, group, pass, draft->steps, NULL, error) ||
      !lig_check_kernels (draft, group, draft->steps, (guint) group->first_step, error))
    return FALSE;
  if (pass == LIG_PASS_BACKWARD)
    lig_start_beside (draft, draft->steps, (guint) group->first_step);
  group->n_steps = (int) draft->steps->len - group->first_step;
  group->predicted =
    group->n_steps > 0
      ? lig_predict_steps (draft, lig_step (draft, group->first_step), (guint) group->n_steps)
      : 0;
  for (int i = group->first_step; i < (int) draft->steps->len; i++) {
    LigDraftStep *step = lig_step (draft, i);
    step->group = number;
    group->bytes += step->read + step->written;
    group->flops += step->flops;
  }
  lig_schedule_calibration (draft, group, pass);
  return TRUE;
}

/* Returns whether the plan counts the rows whose largest logit is the target. */
static gboolean
counts_accuracy (const LigDraft *draft)
{
  const LigPart *last = lig_part (draft, draft->parts->len - 1);
  return draft->options.accuracy && g_str_equal (last->info->name, "cross-entropy");
}

gboolean
lig_accuracy_reads (const LigDraft *draft, int value)
{
  return counts_accuracy (draft) && lig_part (draft, draft->parts->len - 1)->x == value;
}

/* Adds a value of the accuracy. */
static int
add_counted (LigDraft *draft, const LigShape *shape, const char *name)
{
  return lig_draft_add_value (draft, LIG_VALUE_COMPUTED, shape, LIG_FP32, -1, "%s", name);
}

/* Adds the steps of the accuracy on ranks that have a part of the classes each. */
static void
run_accuracy_of_parts (LigDraft *draft, const int *values, const LigCrossEntropyParams *params)
{
  enum { NUMBERS = 3 }; /* see accuracy_part in kernels/kernel-list.h */
  const LigCollectiveParams gather = {lig_device_get_n_ranks (draft->device, LIG_GROUP_TENSOR),
                                      LIG_REDUCE_SUM, LIG_GROUP_TENSOR};
  int index = (int) draft->parts->len - 1, targets = values[1];
  gint64 rows = lig_shape_size (&lig_value (draft, targets)->shape);
  LigShape one, all;
  lig_shape_init (&one, 2, rows, (gint64) NUMBERS);
  lig_shape_init (&all, 3, (gint64) gather.peers, rows, (gint64) NUMBERS);
  int part = add_counted (draft, &one, "correct.part");
  int parts = add_counted (draft, &all, "correct.parts");
  lig_lower_plain (draft, draft->steps, LIG_PASS_FORWARD, index, "accuracy_part",
                   (int[]){values[0], targets, part}, params, sizeof *params);
  lig_lower_plain (draft, draft->steps, LIG_PASS_FORWARD, index, "all_gather", (int[]){part, parts},
                   &gather, sizeof gather);
  lig_lower_plain (draft, draft->steps, LIG_PASS_FORWARD, index, "accuracy_join",
                   (int[]){parts, targets, values[2], values[3]}, params, sizeof *params);
}

/* Adds a step that counts the rows whose largest logit is the target, where the sequence ends in a
 * cross-entropy. */
static void
run_accuracy (LigDraft *draft)
{
  const LigPart *last = lig_part (draft, draft->parts->len - 1);
  LigShape scalar = {0};
  if (!counts_accuracy (draft))
    return;
  int x = last->x, targets = last->extra_inputs[0];
  draft->correct = add_counted (draft, &scalar, "correct");
  draft->counted = add_counted (draft, &scalar, "counted");
  lig_value (draft, draft->correct)->kept_to_end = TRUE;
  lig_value (draft, draft->counted)->kept_to_end = TRUE;
  int values[] = {x, targets, draft->correct, draft->counted};
  LigCrossEntropyParams params = *(const LigCrossEntropyParams *) last->params;
  if (params.part.count > 0)
    run_accuracy_of_parts (draft, values, &params);
  else
    lig_lower_plain (draft, draft->steps, LIG_PASS_FORWARD, (int) draft->parts->len - 1, "accuracy",
                     values, &params, sizeof params);
}

void
lig_draft_add_scratch (LigDraft *draft, LigDraftStep *step)
{
  LigShape shape;
  step->scratch = 0;
  if (step->scratch_bytes == 0)
    return;
  lig_shape_init (&shape, 1, (MIN (step->scratch_bytes, G_MAXINT64 / 4) + 3) / 4);
  const char *kernel = step->kernel->name;
  step->scratch =
    step->part < 0
      ? lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, LIG_FP32, -1, "%s.scratch", kernel)
      : lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, LIG_FP32, step->part,
                             "#%d.%s.scratch", step->part, kernel);
}

gboolean
lig_schedule (LigDraft *draft, GError **error)
{
  guint conversion = 0, sum = 0;
  g_array_sort (draft->conversions, by_part);
  run_conversions (draft, LIG_PASS_FORWARD, LIG_BEFORE_FORWARD, &conversion);
  lig_schedule_weights (draft);
  lig_schedule_calibration (draft, NULL, LIG_PASS_FORWARD);
  draft->first_forward = (int) draft->steps->len;
  run_conversions (draft, LIG_PASS_FORWARD, -1, &conversion);
  for (int i = 0; i < (int) draft->groups[LIG_PASS_FORWARD]->len; i++)
    if (!run_group (draft, LIG_PASS_FORWARD, i, &conversion, error))
      return FALSE;
  run_accuracy (draft);
  draft->first_backward = (int) draft->steps->len;
  lig_schedule_scaling (draft);
  for (int i = (int) draft->groups[LIG_PASS_BACKWARD]->len - 1; i >= 0; i--)
    if (!run_group (draft, LIG_PASS_BACKWARD, i, &sum, error))
      return FALSE;
  run_conversions (draft, LIG_PASS_BACKWARD, LIG_AFTER_BACKWARD, &conversion);
  lig_share_gradients (draft);
  lig_schedule_reductions (draft);
  draft->first_update = (int) draft->steps->len;
  if (draft->options.training && draft->options.optimizer && draft->elements > 0)
    lig_schedule_update (draft);
  if (draft->options.training && draft->options.optimizer)
    lig_schedule_histories (draft);
  for (guint i = 0; i < draft->steps->len; i++)
    if (lig_step (draft, i)->predicted == 0)
      lig_predict_steps (draft, lig_step (draft, i), 1);
  lig_delay_reductions (draft);
  for (guint i = 0; i < draft->steps->len; i++)
    lig_draft_add_scratch (draft, lig_step (draft, i));
  lig_find_awaits (draft);
  return TRUE;
}
