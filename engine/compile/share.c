/* SPDX-License-Identifier: MIT */
/* Sums the gradients of a parameter that several ops share. The steps that write it run one after
 * another, so that the sum is always added up in the same order. */
#include "engine/compile/share.h"

#include "engine/compile/lower.h"
#include "engine/compile/predict.h"

/* Returns the number of the parameter whose gradient a value is, or -1. */
static int
parameter_of (const LigDraft *draft, int value)
{
  if (value < 0 || lig_value (draft, value)->role != LIG_VALUE_PARAMETER_GRADIENT)
    return -1;
  return lig_value (draft, value)->parameter;
}

gboolean
lig_writes_shared (const LigDraft *draft, const LigDraftStep *step)
{
  for (int i = step->n_inputs; i < step->n_operands; i++) {
    int parameter = parameter_of (draft, step->values[i]);
    if (parameter >= 0 && g_array_index (draft->parameters, LigDraftParameter, parameter).shared)
      return TRUE;
  }
  return FALSE;
}

/* Appends the sum of two values to the steps of a group. */
static LigDraftStep *
append_sum (LigDraft *draft, GArray *steps, const LigDraftStep *of, int a, int b, int to)
{
  const int values[] = {a, b, to};
  lig_lower_plain (draft, steps, LIG_PASS_BACKWARD, of->part, "add", values, NULL, 0);
  LigDraftStep *step = &g_array_index (steps, LigDraftStep, steps->len - 1);
  step->group = of->group;
  return step;
}

/* Lets a sum without operands only zero its output. */
static void
only_zero (LigDraftStep *sum)
{
  sum->empty = TRUE;
  sum->zeroed = 1u << 2;
  sum->added = 0;
  sum->read = sum->flops = 0;
}

/* Adds a step to the figures of its group. */
static void
count_step (LigDraft *draft, LigDraftStep *step)
{
  LigGroup *group = lig_group (draft, LIG_PASS_BACKWARD, step->group);
  group->predicted += lig_predict_steps (draft, step, 1);
  group->bytes += step->read + step->written;
  group->flops += step->flops;
}

/* Lets output `i` of a step, a gradient that an earlier step wrote, go to a value of its own, which
 * is then added. The value is zeroed before, as the step adds to its outputs in later micro-batches
 * of an update. Appends the three steps. */
static void
add_apart (LigDraft *draft, GArray *steps, LigDraftStep step, guint later)
{
  int own[LIG_MAX_OPERANDS], total[LIG_MAX_OPERANDS], n = 0;
  for (int i = step.n_inputs; i < step.n_operands; i++) {
    if (!(later >> i & 1))
      continue;
    const LigValue *gradient = lig_value (draft, step.values[i]);
    LigShape shape = gradient->shape;
    LigDtype dtype = gradient->dtype;
    g_autofree char *name = g_strdup (gradient->name);
    total[n] = step.values[i];
    own[n] = lig_draft_add_value (draft, LIG_VALUE_GRADIENT, &shape, dtype, step.part, "%s>%d",
                                  name, step.part);
    step.values[i] = own[n++];
  }
  for (int i = 0; i < n; i++) {
    LigDraftStep *zero = append_sum (draft, steps, &step, -1, -1, own[i]);
    only_zero (zero);
    count_step (draft, zero);
  }
  g_array_append_val (steps, step);
  for (int i = 0; i < n; i++)
    count_step (draft, append_sum (draft, steps, &step, total[i], own[i], total[i]));
}

void
lig_find_step_groups (LigDraft *draft)
{
  for (guint i = 0; i < draft->groups[LIG_PASS_BACKWARD]->len; i++)
    lig_group (draft, LIG_PASS_BACKWARD, i)->n_steps = 0;
  for (int i = draft->first_backward; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    if (step->group < 0)
      continue;
    LigGroup *group = lig_group (draft, LIG_PASS_BACKWARD, step->group);
    group->first_step = group->n_steps == 0 ? i : group->first_step;
    group->n_steps = i + 1 - group->first_step;
  }
}

void
lig_share_gradients (LigDraft *draft)
{
  g_autofree gboolean *written = g_new0 (gboolean, draft->parameters->len + 1);
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (LigDraftStep));
  gboolean apart = FALSE;
  for (int i = draft->first_backward; i < (int) draft->steps->len; i++) {
    LigDraftStep step = *lig_step (draft, i);
    guint first = 0, later = 0;
    for (int j = step.n_inputs; j < step.n_operands; j++) {
      int parameter = parameter_of (draft, step.values[j]);
      if (parameter < 0)
        continue;
      *(written[parameter] ? &later : &first) |= 1u << j;
      written[parameter] = TRUE;
    }
    step.adds = later != 0 && first == 0;
    if (later != 0 && first != 0) {
      add_apart (draft, steps, step, later);
      apart = TRUE;
    } else
      g_array_append_val (steps, step);
  }
  g_array_set_size (draft->steps, (guint) draft->first_backward);
  g_array_append_vals (draft->steps, steps->data, steps->len);
  if (apart)
    lig_find_step_groups (draft);
}
