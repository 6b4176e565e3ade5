/* SPDX-License-Identifier: MIT */
/* Shared code of the tests of plans on the GPU: results on any device, variants of a fusion's
 * pattern, cached times, comparisons that continue after a failure. */
#pragma once

#include "engine/patterns/pattern.h"
#include "tests/gpu/case.h"
#include "tests/plan/case.h"
#include <ligature/plan-options.h>
#include <ligature/tuning.h>

/* Compute type, and the type of parameters. */
static const LigDtype types[][2] = {
  {LIG_FP32, LIG_FP32}, {LIG_FP16, LIG_FP16}, {LIG_BF16, LIG_BF16},
  {LIG_FP16, LIG_FP32}, {LIG_BF16, LIG_FP32},
};

/* --- Cached times -------------------------------------------------------------------------- */

typedef struct {
  double microseconds, noise;
  char *choice;
} CachedTime;

static inline void
cached_time_free (gpointer data)
{
  g_free (((CachedTime *) data)->choice);
  g_free (data);
}

static inline gboolean
cache_get (gpointer data, const char *key, double *microseconds, double *noise, char **choice)
{
  const CachedTime *known = g_hash_table_lookup (data, key);
  if (!known)
    return FALSE;
  *microseconds = known->microseconds;
  *noise = known->noise;
  if (choice)
    *choice = g_strdup (known->choice);
  return TRUE;
}

static inline void
cache_put (gpointer data, const char *key, double microseconds, double noise, const char *choice)
{
  CachedTime *entry = g_new (CachedTime, 1);
  *entry = (CachedTime){microseconds, noise, g_strdup (choice)};
  g_hash_table_replace (data, g_strdup (key), entry);
}

/* Caches times, so that a kernel is measured once per shape and type, not once per plan. */
static inline const LigTuning *
tuning (void)
{
  static LigTuning tuning = {.get = cache_get, .put = cache_put, .data = NULL};
  if (!tuning.data)
    tuning.data = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, cached_time_free);
  return &tuning;
}

static inline LigPlanOptions
options_for (LigPolicy policy, gboolean training, const LigDtype *pair)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.training = training;
  options.input_gradient = training;
  options.compute = (int) pair[0];
  options.parameters = (int) pair[1];
  options.tuning = tuning ();
  return options;
}

/* --- Results on a device ------------------------------------------------------------------- */

/* Returns a state as new_state() does, on any device. */
static inline LigState *
state_on (LigDevice *device, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  LigState *state = lig_state_new (sequence, device, options, 7, &error);
  if (error)
    g_error ("%s", error->message);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) old = lig_state_get (state, LIG_STATE_PARAMETERS, *path, &error);
    g_assert_no_error (error);
    g_autoptr (LigTensor) tensor = named_tensor (*path, LIG_FP32, &old->shape, 1);
    lig_state_set (state, LIG_STATE_PARAMETERS, *path, tensor, &error);
    g_assert_no_error (error);
  }
  return state;
}

/* Runs a plan `times` times, all except the first accumulating gradients; null if there is no such
 * plan. */
static inline Results *
compute_on (LigDevice *device, LigSequence *sequence, const LigPlanOptions *options, int times)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigState) state = state_on (device, sequence, options);
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, options, &error);
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, state, &error) : NULL;
  unsigned flags = LIG_RUN_FORWARD | (options->training ? LIG_RUN_BACKWARD : 0);
  if (!program) {
    g_test_message ("FAILED: %s", error->message);
    g_test_fail ();
    return NULL;
  }
  feed_inputs (program);
  for (int i = 0; i < times; i++) {
    if (options->training)
      feed_gradients (program);
    if (!lig_program_run (program, flags | (i > 0 ? LIG_RUN_ACCUMULATE : 0), &error)) {
      g_test_message ("FAILED: %s", error->message);
      g_test_fail ();
      return NULL;
    }
  }
  return read_results (program, options->training);
}

/* Reports which results differ by more than the limit, and continues. With `reference`, the same
 * results in fp32, the difference may also be 1.5 times that between the wanted result and the
 * reference, because rounding errors accumulate through a sequence. */
static inline void
expect_close_to (
  const Results *got, const Results *want, const Results *reference, double limit, const char *what)
{
  if (!got || !want)
    return;
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++) {
    const char *name = want->names->pdata[i];
    const LigTensor *a = results_find (got, name), *b = want->tensors->pdata[i];
    double distance = a ? distance_between (a, b) : G_MAXDOUBLE, allowed = limit;
    if (reference)
      allowed = MAX (allowed, 1.5 * distance_between (b, reference->tensors->pdata[i]));
    if (distance <= allowed)
      continue;
    g_test_message ("FAILED: %s: %s is off by %g, allowed %g", what, name, distance, allowed);
    g_test_fail ();
  }
}

static inline void
expect_close (const Results *got, const Results *want, double limit, const char *what)
{
  expect_close_to (got, want, NULL, limit, what);
}

/* Returns the CPU's results in fp32, for sequences of many ops. */
static inline Results *
fp32_results (LigSequence *sequence, const LigPlanOptions *like, int times)
{
  LigPlanOptions options = *like;
  options.compute = LIG_FP32;
  return compute_on (cpu_device (), sequence, &options, times);
}

static inline void
expect_same_bits (const Results *got, const Results *want, const char *what)
{
  if (!got || !want)
    return;
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++) {
    const LigTensor *a = got->tensors->pdata[i], *b = want->tensors->pdata[i];
    if (lig_tensor_bytes (a) == lig_tensor_bytes (b) &&
        memcmp (a->data, b->data, lig_tensor_bytes (b)) == 0)
      continue;
    g_test_message ("FAILED: %s: %s differs bitwise", what, (char *) want->names->pdata[i]);
    g_test_fail ();
  }
}

/* Returns the tolerance of a sequence's results: where the last bits of a value differ between
 * devices, it may round to the adjacent fp8 number, an eighth away. */
static inline double
tolerance_of (const char *what, LigDtype dtype)
{
  return MAX (plan_tolerance (dtype), strstr (what, "quantize") ? 0.05 : 0);
}

/* Compares the CPU's unfused plan with the GPU's under all policies. `many`: the sequence has many
 * ops, so compare with the fp32 reference too. */
static inline void
expect_agreement (const Gpu *gpu,
                  LigSequence *sequence,
                  const LigDtype *pair,
                  gboolean training,
                  gboolean many,
                  const char *what)
{
  LigPlanOptions options = options_for (LIG_POLICY_NONE, training, pair);
  g_autoptr (Results) want = compute_on (cpu_device (), sequence, &options, 1);
  g_autoptr (Results) reference = many ? fp32_results (sequence, &options, 1) : NULL;
  for (int policy = LIG_POLICY_NONE; policy <= LIG_POLICY_MEASURED; policy++) {
    g_autofree char *all = g_strdup_printf (
      "%s, %s:%s, %s, %s", what, lig_dtype_name (pair[0]), lig_dtype_name (pair[1]),
      lig_policy_name ((LigPolicy) policy), training ? "training" : "evaluation");
    options.policy = (LigPolicy) policy;
    if (quick () && policy != LIG_POLICY_ALL)
      continue;
    g_autoptr (Results) got = compute_on (gpu->device, sequence, &options, 1);
    expect_close_to (got, want, reference, tolerance_of (what, pair[0]), all);
  }
}

/* --- Variants of a pattern ----------------------------------------------------------------- */

typedef void (*VariantFunc) (const Gpu *gpu, const LigFusion *fusion, const char *const *ops);

/* Returns the ops of one variant as an expression; matmuls and embedding tables have `features`
 * outputs, position tables more rows than any test's input. */
static inline char *
join_ops (const char *const *ops, int features)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; ops[i]; i++) {
    g_string_append_printf (text, "%s%s", i > 0 ? " ! " : "", ops[i]);
    if (g_str_equal (ops[i], "basic-linear") || g_str_equal (ops[i], "embedding"))
      g_string_append_printf (text, "(%d)", features);
    else if (g_str_equal (ops[i], "position-embedding"))
      g_string_append (text, "(70)");
    else if (g_str_equal (ops[i], "constant-scale"))
      g_string_append (text, "(0.5)");
    else if (g_str_equal (ops[i], "quantize"))
      g_string_append (text, "(backward=true)");
  }
  return g_string_free (text, FALSE);
}

/* Returns the sequence of a variant; one that quantizes has a recipe. */
static inline LigSequence *
variant_sequence (const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = new_sequence (expression, input);
  if (strstr (expression, "quantize"))
    lig_sequence_set_recipe (sequence, "fp8-current", &error);
  g_assert_no_error (error);
  return sequence;
}

static inline void
each_choice (
  const Gpu *gpu, const LigFusion *fusion, int element, GPtrArray *ops, VariantFunc function)
{
  const LigPattern *pattern = lig_fusion_get_pattern (fusion);
  const LigOpInfo *info;
  if (element == pattern->n_elements) {
    g_ptr_array_add (ops, NULL);
    if (ops->len > 2)
      function (gpu, fusion, (const char *const *) ops->pdata);
    g_ptr_array_set_size (ops, (int) ops->len - 1);
    return;
  }
  if (pattern->elements[element].optional)
    each_choice (gpu, fusion, element + 1, ops, function);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    if (!lig_element_fits (&pattern->elements[element], info))
      continue;
    g_ptr_array_add (ops, (gpointer) info->name);
    each_choice (gpu, fusion, element + 1, ops, function);
    g_ptr_array_set_size (ops, (int) ops->len - 1);
  }
}
