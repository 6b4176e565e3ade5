/* SPDX-License-Identifier: MIT */
/* Shared by tests of fusions: all results of a plan, their distance from others, and whether 16-bit
 * fusions round more than the unfused ops. */
#pragma once

#include "tests/plan/case.h"
#include <ligature/plan-options.h>

static inline double
size_of (const LigTensor *tensor)
{
  double squares = 0;
  for (gint64 i = 0; i < tensor->size; i++)
    squares += pow ((double) lig_tensor_get (tensor, i), 2);
  return sqrt (squares);
}

/* Returns the distance of two tensors relative to the expected one; a gradient with a true value of
 * 0 is pure rounding error, so the unit is at least a fraction of the largest gradient. */
static inline double
relative (const Results *got, const Results *want, guint at, const char *what)
{
  double difference = 0, largest = 0;
  const char *name = want->names->pdata[at];
  const LigTensor *a = results_find (got, name), *b = want->tensors->pdata[at];
  if (!a)
    g_error ("%s: %s is missing", what, name);
  g_assert_true (lig_shape_equal (&a->shape, &b->shape));
  for (gint64 i = 0; i < b->size; i++)
    difference += pow ((double) lig_tensor_get (a, i) - (double) lig_tensor_get (b, i), 2);
  if (g_str_has_prefix (name, "grad."))
    for (guint i = 0; i < want->names->len; i++)
      if (g_str_has_prefix (want->names->pdata[i], "grad."))
        largest = MAX (largest, size_of (want->tensors->pdata[i]));
  return difference == 0 ? 0 : sqrt (difference) / MAX (size_of (b), 1e-3 * largest + 1e-6);
}

/* Replaces the parameters with values that bf16 can represent. Series 0 rounds the values of
 * new_state; the others first perturb each value by up to four times the rounding error, because
 * activations are rounded, too. */
static inline void
shake (LigState *state, int series)
{
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) series);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) old = lig_state_get (state, LIG_STATE_PARAMETERS, *path, NULL);
    g_autoptr (LigTensor) tensor = named_tensor (*path, LIG_FP32, &old->shape, 1);
    float *values = tensor->data;
    for (gint64 i = 0; series > 0 && i < tensor->size; i++)
      values[i] *= (float) (1 + g_rand_double_range (random, -1, 1) / 128);
    g_autoptr (LigTensor) rounded = lig_tensor_convert (tensor, LIG_BF16, NULL);
    g_assert_true (lig_state_set (state, LIG_STATE_PARAMETERS, *path, rounded, NULL));
  }
}

/* Like compute of tests/plan/case.h, but frozen parameters have no gradient. With a `series` of 0
 * or more, the parameters are perturbed. */
static inline Results *
compute_shaken (LigSequence *sequence, const LigPlanOptions *options, int series)
{
  g_autoptr (LigState) state = new_state (sequence, options);
  if (series >= 0)
    shake (state, series);
  g_autoptr (LigProgram) program = new_program (state, sequence, options);
  feed_inputs (program);
  if (options->training)
    feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | (options->training ? LIG_RUN_BACKWARD : 0));
  Results *results = read_results (program, FALSE);
  LigTensor *tensor;
  if (!options->training)
    return results;
  if ((tensor = lig_program_read_input_gradient (program, NULL)))
    results_take (results, g_strdup ("grad.input"), tensor);
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (lig_program_get_plan (program)); i++)
    if ((tensor = lig_program_read_extra_gradient (program, i, NULL)))
      results_take (results, g_strdup_printf ("grad.extra.%u", i), tensor);
  for (const char *const *path = lig_state_get_paths (state); *path; path++)
    if ((tensor = lig_state_get (state, LIG_STATE_GRADIENTS, *path, NULL)))
      results_take (results, g_strdup_printf ("grad.%s", *path), tensor);
  return results;
}

static inline Results *
compute_trained (LigSequence *sequence, const LigPlanOptions *options)
{
  return compute_shaken (sequence, options, -1);
}

/* The number of parameter series that check a suspicious result. */
#define SERIES 31

/* The distance of one result from fp32, for each series of parameters: unfused and fused. */
typedef struct {
  double alone[SERIES], fused[SERIES];
} Noise;

/* Returns the noise of each result with the first series, in the order of the results. */
static inline Noise *
measure_noise (
  LigSequence *sequence, LigPlanOptions options, int count, GPtrArray **names, const char *what)
{
  Noise *noise = NULL;
  for (int series = 0; series < count; series++) {
    options.compute = options.parameters = LIG_FP32;
    options.policy = LIG_POLICY_NONE;
    g_autoptr (Results) want = compute_shaken (sequence, &options, series);
    options.compute = options.parameters = LIG_BF16;
    g_autoptr (Results) alone = compute_shaken (sequence, &options, series);
    options.policy = LIG_POLICY_ALL;
    g_autoptr (Results) fused = compute_shaken (sequence, &options, series);
    g_assert_cmpuint (alone->names->len, ==, want->names->len);
    g_assert_cmpuint (fused->names->len, ==, want->names->len);
    if (!noise) {
      noise = g_new0 (Noise, want->names->len);
      *names = g_ptr_array_ref (want->names);
    }
    for (guint i = 0; i < want->names->len; i++) {
      double a = relative (alone, want, i, what), b = relative (fused, want, i, what);
      noise[i].alone[series] = isnan (a) ? HUGE_VAL : a;
      noise[i].fused[series] = isnan (b) ? HUGE_VAL : b;
    }
  }
  return noise;
}

/* Returns the number of series in which the fusions are further from fp32 than allowed. */
static inline int
count_worse (const Noise *noise, int count)
{
  int worse = 0;
  for (int series = 0; series < count; series++)
    worse += !(noise->fused[series] <= 2 * noise->alone[series] + 0.005);
  return worse;
}

/* In 16 bits, each result of the fusions may be about as far from fp32 as that of the unfused ops.
 * With one set of parameters, either may be much closer by chance: rounding moves an argument of
 * relu across 0, or a gradient of 0 is pure rounding error. This is as frequent with fusions as
 * without, while a bug shows with nearly all parameters: a result that is further off is checked
 * with SERIES sets of parameters, and must not be further off with three quarters of them. */
static inline void
check_half (LigSequence *sequence, LigPlanOptions options, const char *expression)
{
  g_autoptr (GPtrArray) names = NULL, again = NULL;
  g_autofree char *what = g_strdup_printf ("bf16 %s", expression);
  g_autofree Noise *first = measure_noise (sequence, options, 1, &names, what);
  gboolean suspicious = FALSE;
  for (guint i = 0; i < names->len; i++)
    suspicious |= count_worse (&first[i], 1) > 0;
  if (!suspicious)
    return;
  g_autofree Noise *noise = measure_noise (sequence, options, SERIES, &again, what);
  for (guint i = 0; i < names->len; i++) {
    int worse = count_worse (&noise[i], SERIES);
    if (4 * worse > 3 * SERIES)
      g_error ("%s: %s is too far off with %d of %d sets of parameters, first %g, the ops alone %g",
               what, (char *) names->pdata[i], worse, SERIES, first[i].fused[0], first[i].alone[0]);
  }
}
