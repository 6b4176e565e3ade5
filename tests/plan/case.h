/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the compiler: sequences from expressions; values that depend only on a
 * tensor's name, so that any two plans of a sequence get the same numbers; all results of a plan;
 * and comparing results by name. */
#pragma once

#include "engine/figures/check.h"

#include <ligature/compile.h>
#include <ligature/kernels.h>
#include <ligature/plan-options.h>
#include <ligature/program.h>

#include <math.h>
#include <string.h>

static const LigDtype floating_types[] = {LIG_FP32, LIG_FP16, LIG_BF16};

/* Returns the tolerance between two plans of one sequence, by compute type. */
static inline double
plan_tolerance (LigDtype dtype)
{
  return dtype == LIG_FP32 ? 1e-5 : dtype == LIG_FP16 ? 2e-3 : 1.6e-2;
}

static inline LigDevice *
cpu_device (void)
{
  static LigDevice *device;
  g_autoptr (GError) error = NULL;
  if (!device)
    device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  return device;
}

static inline void
set_sequence_input (LigSequence *sequence, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  lig_shape_parse (input, &shape, &dtype, &error);
  g_assert_no_error (error);
  lig_sequence_set_input (sequence, &shape, dtype);
}

/* Joins the names of the ops with one of these flags, as verdicts do: `gelu|qgelu`. */
static inline char *
list_names (unsigned flags)
{
  const LigOpInfo *info;
  GString *names = g_string_new (NULL);
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (info->flags & flags)
      g_string_append_printf (names, "%s%s", names->len > 0 ? "|" : "", info->name);
  return g_string_free (names, FALSE);
}

static inline LigSequence *
new_sequence (const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  if (error)
    g_error ("%s: %s", expression, error->message);
  set_sequence_input (sequence, input);
  return sequence;
}

/* Returns a tensor whose values depend only on the name; integers are in [0, 4), valid in every
 * vocabulary of the tests. */
static inline LigTensor *
named_tensor (const char *name, LigDtype dtype, const LigShape *shape, double bound)
{
  g_autoptr (GError) error = NULL;
  LigTensor *tensor = lig_check_values (name, dtype, shape, bound, &error);
  g_assert_no_error (error);
  return tensor;
}

/* The results of a plan, by name: `output`, `extra.N`, `grad.input`, `grad.extra.N`,
 * `grad.PATH`. */
typedef struct {
  GPtrArray *names, *tensors;
} Results;

static inline void
results_free (Results *self)
{
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->tensors);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Results, results_free)

static inline void
results_take (Results *self, char *name, LigTensor *tensor)
{
  g_assert_nonnull (tensor);
  g_ptr_array_add (self->names, name);
  g_ptr_array_add (self->tensors, tensor);
}

static inline LigTensor *
results_find (const Results *self, const char *name)
{
  for (guint i = 0; i < self->names->len; i++)
    if (g_str_equal (self->names->pdata[i], name))
      return self->tensors->pdata[i];
  return NULL;
}

/* Returns ||a - b|| / ||b||, or NaN, which exceeds every limit. */
static inline double
distance_between (const LigTensor *a, const LigTensor *b)
{
  double difference = 0, length = 0;
  g_assert_true (lig_shape_equal (&a->shape, &b->shape));
  for (gint64 i = 0; i < a->size; i++) {
    double x = (double) lig_tensor_get (a, i), y = (double) lig_tensor_get (b, i);
    difference += (x - y) * (x - y);
    length += y * y;
  }
  return difference == 0 ? 0 : sqrt (difference) / MAX (sqrt (length), 1e-30);
}

static inline void
compare_results (const Results *got, const Results *want, double limit, const char *what)
{
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++) {
    const char *name = want->names->pdata[i];
    const LigTensor *tensor = results_find (got, name);
    if (!tensor)
      g_error ("%s: %s is missing", what, name);
    double distance = distance_between (tensor, want->tensors->pdata[i]);
    if (!(distance <= limit))
      g_error ("%s: %s is off by %g, allowed %g", what, name, distance, limit);
  }
}

/* Returns options of the policy that train and compute the input gradient, or neither. */
static inline LigPlanOptions
plan_options (LigPolicy policy, gboolean training)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.training = options.input_gradient = training;
  return options;
}

static inline LigTensor *
read_value (LigState *state, LigStateArray array, const char *path)
{
  g_autoptr (GError) error = NULL;
  LigTensor *tensor = lig_state_get (state, array, path, &error);
  g_assert_no_error (error);
  return tensor;
}

/* Returns a state of the sequence; its parameters depend only on their paths. */
static inline LigState *
new_state (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  LigState *state = lig_state_new (sequence, cpu_device (), options, 7, &error);
  if (error)
    g_error ("%s", error->message);
  for (const char *const *path = lig_state_get_paths (state); *path; path++) {
    g_autoptr (LigTensor) old = read_value (state, LIG_STATE_PARAMETERS, *path);
    g_autoptr (LigTensor) tensor = named_tensor (*path, LIG_FP32, &old->shape, 1);
    lig_state_set (state, LIG_STATE_PARAMETERS, *path, tensor, &error);
    g_assert_no_error (error);
  }
  return state;
}

static inline LigProgram *
new_program (LigState *state, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, options, &error);
  LigProgram *program = plan ? lig_program_new (plan, state, &error) : NULL;
  if (error) {
    g_autofree char *expression = lig_sequence_to_expression (sequence);
    g_error ("%s: %s", expression, error->message);
  }
  return program;
}

static inline void
feed_inputs (LigProgram *program)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (plan, &shape, &dtype);
  g_autoptr (LigTensor) input = named_tensor ("input", dtype, &shape, 2);
  lig_program_set_input (program, input, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("extra input %u", i);
    lig_plan_get_extra_input (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) extra = named_tensor (name, dtype, &shape, 2);
    lig_program_set_extra_input (program, i, extra, &error);
    g_assert_no_error (error);
  }
}

/* Sets random cotangents for the next backward pass; a loss keeps its own, which is 1. */
static inline void
feed_gradients (LigProgram *program)
{
  LigPlan *plan = lig_program_get_plan (program);
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_output (plan, &shape, &dtype);
  if (shape.n_axes > 0) {
    g_autoptr (LigTensor) gradient = named_tensor ("gradient", dtype, &shape, 1);
    lig_program_set_gradient (program, gradient, &error);
    g_clear_error (&error); /* the plan may not need a gradient */
  }
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++) {
    g_autofree char *name = g_strdup_printf ("gradient of extra %u", i);
    lig_plan_get_extra_output (plan, i, &shape, &dtype);
    g_autoptr (LigTensor) extra = named_tensor (name, dtype, &shape, 1);
    lig_program_set_extra_gradient (program, i, extra, &error);
    g_clear_error (&error);
  }
}

static inline Results *
read_results (LigProgram *program, gboolean training)
{
  LigPlan *plan = lig_program_get_plan (program);
  LigState *state = lig_program_get_state (program);
  g_autoptr (GError) error = NULL;
  Results *results = g_new0 (Results, 1);
  LigTensor *tensor;
  results->names = g_ptr_array_new_with_free_func (g_free);
  results->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_tensor_unref);
  results_take (results, g_strdup ("output"), lig_program_read_output (program, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < lig_plan_get_n_extra_outputs (plan); i++)
    results_take (results, g_strdup_printf ("extra.%u", i),
                  lig_program_read_extra_output (program, i, &error));
  if (!training)
    return results;
  if ((tensor = lig_program_read_input_gradient (program, NULL)))
    results_take (results, g_strdup ("grad.input"), tensor);
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++)
    if ((tensor = lig_program_read_extra_gradient (program, i, NULL)))
      results_take (results, g_strdup_printf ("grad.extra.%u", i), tensor);
  for (const char *const *path = lig_state_get_paths (state); *path; path++)
    results_take (results, g_strdup_printf ("grad.%s", *path),
                  read_value (state, LIG_STATE_GRADIENTS, *path));
  return results;
}

static inline void
run_program (LigProgram *program, unsigned flags)
{
  g_autoptr (GError) error = NULL;
  lig_program_run (program, flags, &error);
  if (error)
    g_error ("%s", error->message);
}

static inline float
read_loss (LigProgram *program)
{
  g_autoptr (GError) error = NULL;
  float loss = 0;
  lig_program_read_loss (program, &loss, &error);
  g_assert_no_error (error);
  return loss;
}

static inline Results *
compute_in (LigState *state, LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (LigProgram) program = new_program (state, sequence, options);
  feed_inputs (program);
  if (options->training)
    feed_gradients (program);
  run_program (program, LIG_RUN_FORWARD | (options->training ? LIG_RUN_BACKWARD : 0));
  return read_results (program, options->training);
}

/* Returns all results of the sequence with these options. */
static inline Results *
compute (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (LigState) state = new_state (sequence, options);
  return compute_in (state, sequence, options);
}

/* Returns the same with the parameters of another state, in order. */
static inline Results *
compute_like (LigSequence *sequence, LigState *like, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigState) state = new_state (sequence, options);
  const char *const *from = lig_state_get_paths (like), *const *to = lig_state_get_paths (state);
  g_assert_cmpuint (g_strv_length ((GStrv) from), ==, g_strv_length ((GStrv) to));
  for (; *from; from++, to++) {
    g_autoptr (LigTensor) value = read_value (like, LIG_STATE_PARAMETERS, *from);
    lig_state_set (state, LIG_STATE_PARAMETERS, *to, value, &error);
    g_assert_no_error (error);
  }
  return compute_in (state, sequence, options);
}

/* Compares results that have the same order; the paths in their names may differ. */
static inline void
compare_in_order (const Results *got, const Results *want, double limit, const char *what)
{
  g_assert_cmpuint (got->names->len, ==, want->names->len);
  for (guint i = 0; i < want->names->len; i++) {
    double distance = distance_between (got->tensors->pdata[i], want->tensors->pdata[i]);
    if (!(distance <= limit))
      g_error ("%s: %s, here %s, is off by %g", what, (char *) want->names->pdata[i],
               (char *) got->names->pdata[i], distance);
  }
}

/* Returns the groups of one pass as text: `[0] [1 2 3 forward-linear-bias-activation]`. */
static inline char *
groups_text (LigPlan *plan, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < count; i++) {
    g_string_append (text, i > 0 ? " [" : "[");
    for (int j = 0; j < groups[i].count; j++)
      g_string_append_printf (text, "%s%d", j > 0 ? " " : "", groups[i].first + j);
    if (groups[i].fusion)
      g_string_append_printf (text, " %s", groups[i].fusion->name);
    g_string_append_c (text, ']');
  }
  return g_string_free (text, FALSE);
}

/* Returns the kernels of one pass in order, joined by spaces. */
static inline char *
kernels_text (LigPlan *plan, LigPass pass)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < count; i++)
    if (steps[i].pass == pass)
      g_string_append_printf (text, "%s%s", text->len ? " " : "",
                              steps[i].kernel ? steps[i].kernel->name : "opaque");
  return g_string_free (text, FALSE);
}

static inline void
check_groups (LigPlan *plan, const char *forward, const char *backward)
{
  g_autofree char *got_forward = groups_text (plan, LIG_PASS_FORWARD);
  g_autofree char *got_backward = groups_text (plan, LIG_PASS_BACKWARD);
  g_assert_cmpstr (got_forward, ==, forward);
  g_assert_cmpstr (got_backward, ==, backward);
}

static inline const LigVerdict *
find_verdict (LigPlan *plan, const char *fusion, int first)
{
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (verdicts[i].first == first && g_str_equal (verdicts[i].fusion->name, fusion))
      return &verdicts[i];
  return NULL;
}

static inline void
force (LigSequence *sequence, const char *path, const char *fusion)
{
  g_autoptr (GError) error = NULL;
  const char *const fusions[] = {fusion, NULL};
  LigOp *op = lig_sequence_find (sequence, path, &error);
  g_assert_no_error (error);
  lig_op_set_forced (op, fusions);
}

static inline LigPlan *
compile (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GError) error = NULL;
  LigPlan *plan = lig_plan_compile (sequence, cpu_device (), options, &error);
  if (error) {
    g_autofree char *expression = lig_sequence_to_expression (sequence);
    g_error ("%s: %s", expression, error->message);
  }
  return plan;
}

/* Checks that the compilation fails with this message. */
static inline void
check_rejected (LigSequence *sequence, const LigPlanOptions *options, int code, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), options, &error);
  g_assert_null (plan);
  g_assert_error (error, LIG_ERROR, code);
  g_assert_cmpstr (error->message, ==, message);
}
