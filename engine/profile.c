/* SPDX-License-Identifier: MIT */
/* Measuring whole steps and single ones on random data. */
#include "engine/profile.h"

#include <string.h>

void
lig_profile_free (LigProfile *self)
{
  g_clear_object (&self->state);
  g_free (self->steps);
  g_free (self->run);
  g_free (self);
}

/* Integers below this bound are safe: the rows of an embedding, the classes of a loss. */
static gint64
bound_of_input (LigPlan *plan)
{
  guint count;
  gint64 vocabulary = 2;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (ops[0].op), "vocabulary"))
    g_object_get (ops[0].op, "vocabulary", &vocabulary, NULL);
  return vocabulary;
}

static LigTensor *
random_tensor (const LigShape *shape, LigDtype dtype, gint64 bound, GError **error)
{
  LigTensor *tensor = lig_tensor_new (dtype, shape, error);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  if (!tensor)
    return NULL;
  for (gint64 i = 0; i < tensor->size; i++)
    if (dtype == LIG_INT32)
      ((gint32 *) tensor->data)[i] = g_rand_int_range (random, 0, (gint32) MIN (bound, G_MAXINT32));
    else
      lig_tensor_set (tensor, i, (float) g_rand_double_range (random, -1, 1));
  return tensor;
}

static gboolean
fill (LigPlan *plan, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) input = random_tensor (&shape, dtype, bound_of_input (plan), error);
  if (!input || !lig_plan_set_input (plan, input, error))
    return FALSE;
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    lig_plan_get_extra_input (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) extra =
      random_tensor (&shape, dtype, lig_shape_columns (&ops[count - 1].x), error);
    if (!extra || !lig_plan_set_extra_input (plan, i, extra, error))
      return FALSE;
  }
  lig_plan_get_output (plan, &shape, &dtype);
  if (shape.n_axes == 0)
    return TRUE;
  g_autoptr (LigTensor) gradient = random_tensor (&shape, dtype, 2, error);
  /* A plan without a backward pass takes none. */
  return gradient && (lig_plan_set_gradient (plan, gradient, NULL) || TRUE);
}

static double
now (void)
{
  return (double) g_get_monotonic_time () * 1e-6;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
median (double *values, guint count)
{
  qsort (values, count, sizeof *values, compare);
  return values[count / 2];
}

/* What is measured in one round: the three passes, their sum, and every step. */
enum { FORWARD, BACKWARD, UPDATE, WHOLE, FIRST_STEP };

static gboolean
run_round (LigProfile *self, double *sample, GError **error)
{
  static const unsigned flags[] = {LIG_RUN_FORWARD, LIG_RUN_BACKWARD, LIG_RUN_UPDATE};
  sample[WHOLE] = 0;
  for (int pass = FORWARD; pass <= UPDATE; pass++) {
    double begin = now ();
    if (!lig_plan_run (self->plan, flags[pass], error))
      return FALSE;
    sample[pass] = now () - begin;
    sample[WHOLE] += sample[pass];
  }
  return lig_plan_time_steps (self->plan, sample + FIRST_STEP, error);
}

static void
summarize (LigProfile *self, const double *samples, guint width, guint rounds)
{
  g_autofree double *column = g_new (double, rounds);
  self->steps = g_new0 (double, width);
  double *targets[] = {&self->forward, &self->backward, &self->update, &self->step};
  for (guint i = 0; i < width; i++) {
    for (guint round = 0; round < rounds; round++)
      column[round] = samples[round * width + i];
    *(i < FIRST_STEP ? targets[i] : &self->steps[i - FIRST_STEP]) = median (column, rounds);
  }
}

static LigProfile *
prepare (LigSequence *sequence, LigDevice *device, const LigPlanOptions *options, GError **error)
{
  g_autoptr (LigProfile) self = g_new0 (LigProfile, 1);
  self->state = lig_state_new (sequence, device, options, 0, error);
  self->plan = self->state ? lig_state_plan (self->state, sequence, options, error) : NULL;
  if (!self->plan || !fill (self->plan, error))
    return NULL;
  lig_plan_set_rate (self->plan, 0, 0);
  return g_steal_pointer (&self);
}

static gboolean
record (LigProfile *self, LigSequence *sequence, LigStore *store, GError **error)
{
  guint count, n_steps;
  const LigPlanStep *steps = lig_plan_get_steps (self->plan, &n_steps);
  g_autofree char *text = lig_sequence_to_json (sequence);
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  const char *name = lig_sequence_get_name (sequence);
  LigRunRecord row = {
    .name = name ? name : expression,
    .sequence = text,
    .kind = "profile",
    .device = lig_device_get_name (lig_plan_get_device (self->plan)),
    .dtype = lig_dtype_name (lig_plan_get_compute (self->plan)),
    .recipe = "none",
    .policy = lig_policy_name (lig_plan_get_policy (self->plan)),
    .settings = "{}",
    .versions = "{\"ligature\":\"" LIG_VERSION "\"}",
  };
  self->run = lig_store_begin_run (store, &row, error);
  if (!self->run)
    return FALSE;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      lig_store_add_fusion (store, self->run, lig_pass_name (pass), (int) i, groups[i].first,
                            groups[i].count, groups[i].fusion ? groups[i].fusion->name : NULL);
      lig_store_add_timing (store, self->run, 0, (int) i, lig_pass_name (pass),
                            lig_profile_get_group_seconds (self, &groups[i]) * 1e6, groups[i].bytes,
                            groups[i].flops);
    }
  }
  for (guint i = 0; i < n_steps; i++)
    if (steps[i].pass == LIG_PASS_UPDATE)
      lig_store_add_timing (store, self->run, 0, (int) i, "update", self->steps[i] * 1e6,
                            steps[i].read + steps[i].written, steps[i].flops);
  return lig_store_finish_run (store, self->run, "done", NULL, error);
}

GPtrArray *
lig_profile_measure (LigSequence *sequence,
                     LigDevice *device,
                     const LigPlanOptions *options,
                     guint count,
                     guint rounds,
                     LigStore *store,
                     GError **error)
{
  g_autoptr (GPtrArray) profiles =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_profile_free);
  g_autoptr (GPtrArray) samples = g_ptr_array_new_with_free_func (g_free);
  g_autofree guint *widths = g_new (guint, count);
  enum { WARM_UP = 2 };
  for (guint i = 0; i < count; i++) {
    LigProfile *profile = prepare (sequence, device, &options[i], error);
    if (!profile)
      return NULL;
    g_ptr_array_add (profiles, profile);
    lig_plan_get_steps (profile->plan, &widths[i]);
    widths[i] += FIRST_STEP;
    g_ptr_array_add (samples, g_new0 (double, (gsize) widths[i] * (rounds + WARM_UP)));
  }
  for (guint round = 0; round < rounds + WARM_UP; round++)
    for (guint i = 0; i < count; i++)
      if (!run_round (profiles->pdata[i], (double *) samples->pdata[i] + round * widths[i], error))
        return NULL;
  for (guint i = 0; i < count; i++) {
    summarize (profiles->pdata[i], (double *) samples->pdata[i] + WARM_UP * widths[i], widths[i],
               rounds);
    if (store && !record (profiles->pdata[i], sequence, store, error))
      return NULL;
  }
  return g_steal_pointer (&profiles);
}

double
lig_profile_get_group_seconds (const LigProfile *self, const LigPlanGroup *group)
{
  double seconds = 0;
  for (int i = 0; i < group->n_steps; i++)
    seconds += self->steps[group->first_step + i];
  return seconds;
}
