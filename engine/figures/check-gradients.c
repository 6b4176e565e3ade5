/* SPDX-License-Identifier: MIT */
/* Compares gradients with central differences. */
#include "engine/figures/check.h"

#include "engine/graph/request.h"
#include <ligature/check.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>

#define STEP (1.f / 64)
#define TOLERANCE 3e-3

/* Returns a value that is exact in every floating type and at least 1/32 away from any kink at a
 * multiple of 1/16. */
static float
choose_value (guint32 seed, gint64 element, double bound)
{
  guint64 state = seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + (guint64) element + 1;
  state = (state ^ state >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  state = (state ^ state >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  state ^= state >> 31;
  int steps = (int) (bound * 16);
  int value = (int) (state % (guint64) (2 * steps)) - steps;
  return (float) (2 * value + 1) / 32;
}

LigTensor *
lig_check_values (
  const char *name, LigDtype dtype, const LigShape *shape, double bound, GError **error)
{
  guint32 seed = g_str_hash (name);
  LigTensor *tensor = lig_tensor_new (dtype, shape, error);
  for (gint64 i = 0; tensor && i < tensor->size; i++)
    lig_tensor_set (tensor, i,
                    lig_dtype_is_floating (dtype) ? choose_value (seed, i, bound)
                                                  : (float) ((seed + (guint32) i * 7) % 4));
  return tensor;
}

/* The kinds of variables of the function. */
typedef enum { INPUT, EXTRA_INPUT, PARAMETER } Kind;

typedef struct {
  Kind kind;
  guint index; /* number of an extra input */
  char *name;
  LigShape shape;
  LigDtype dtype;
} Variable;

typedef struct {
  LigState *state;
  LigProgram *program;
  GArray *variables;
} Probe;

static void
clear_variable (gpointer variable)
{
  g_free (((Variable *) variable)->name);
}

static void
clear_probe (Probe *self)
{
  g_clear_object (&self->state);
  g_clear_pointer (&self->program, lig_program_unref);
  g_clear_pointer (&self->variables, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Probe, clear_probe)

static gboolean
set_variable (const Probe *self, const Variable *variable, LigTensor *values, GError **error)
{
  if (variable->kind == INPUT)
    return lig_program_set_input (self->program, values, error);
  if (variable->kind == EXTRA_INPUT)
    return lig_program_set_extra_input (self->program, variable->index, values, error);
  return lig_state_set (self->state, LIG_STATE_PARAMETERS, variable->name, values, error);
}

static LigTensor *
make_values (const Variable *variable, GError **error)
{
  return lig_check_values (variable->name, variable->dtype, &variable->shape,
                           variable->kind == PARAMETER ? 1 : 2, error);
}

/* Reads a gradient; null with the error set: %LIG_ERROR_INDEX if the plan computes none. */
static LigTensor *
read_gradient (const Probe *self, const Variable *variable, GError **error)
{
  if (variable->kind == INPUT)
    return lig_program_read_input_gradient (self->program, error);
  if (variable->kind == EXTRA_INPUT)
    return lig_program_read_extra_gradient (self->program, variable->index, error);
  return lig_state_get (self->state, LIG_STATE_GRADIENTS, variable->name, error);
}

/* Makes the weights for the weighted sum of an output's elements. */
static LigTensor *
make_weights (int extra, const LigShape *shape, GError **error)
{
  g_autofree char *name =
    extra < 0 ? g_strdup ("gradient") : g_strdup_printf ("gradient of extra %d", extra);
  return lig_check_values (name, LIG_FP32, shape, 1, error);
}

/* Adds the weighted sum of an output; a scalar, such as a loss, has no weight. */
static gboolean
add_output (int extra, LigTensor *output, double *total, GError **error)
{
  g_autoptr (LigTensor) weights = output ? make_weights (extra, &output->shape, error) : NULL;
  for (gint64 i = 0; weights && i < output->size; i++)
    *total += (double) lig_tensor_get (output, i) *
              (extra < 0 && output->shape.n_axes == 0 ? 1 : (double) lig_tensor_get (weights, i));
  return weights != NULL;
}

static gboolean
evaluate (const Probe *self, double *total, GError **error)
{
  guint extras = lig_plan_get_n_extra_outputs (lig_program_get_plan (self->program));
  *total = 0;
  /* Resetting the steps makes dropout draw the same mask, that of the first micro-step, each
   * time. */
  lig_state_set_steps (self->state, 0, 0);
  if (!lig_program_run (self->program, LIG_RUN_FORWARD, error))
    return FALSE;
  g_autoptr (LigTensor) output = lig_program_read_output (self->program, error);
  if (!add_output (-1, output, total, error))
    return FALSE;
  for (guint i = 0; i < extras; i++) {
    g_autoptr (LigTensor) extra = lig_program_read_extra_output (self->program, i, error);
    if (!add_output ((int) i, extra, total, error))
      return FALSE;
  }
  return TRUE;
}

/* Returns whether a call succeeded, or failed only because the plan has no such gradient. */
static gboolean
is_tolerable (GError *failure, GError **error)
{
  if (!failure)
    return TRUE;
  if (!g_error_matches (failure, LIG_ERROR, LIG_ERROR_INDEX)) {
    g_propagate_error (error, failure);
    return FALSE;
  }
  g_error_free (failure);
  return TRUE;
}

/* Sets the weights as the incoming gradients of the backward pass. */
static gboolean
set_gradients (const Probe *self, GError **error)
{
  LigPlan *plan = lig_program_get_plan (self->program);
  int extras = (int) lig_plan_get_n_extra_outputs (plan);
  LigShape shape;
  LigDtype dtype;
  for (int i = -1; i < extras; i++) {
    GError *failure = NULL;
    if (i < 0)
      lig_plan_get_output (plan, &shape, &dtype);
    else
      lig_plan_get_extra_output (plan, (guint) i, &shape, &dtype);
    if (i < 0 && shape.n_axes == 0)
      continue;
    g_autoptr (LigTensor) weights = make_weights (i, &shape, &failure);
    if (weights && i < 0)
      lig_program_set_gradient (self->program, weights, &failure);
    else if (weights)
      lig_program_set_extra_gradient (self->program, (guint) i, weights, &failure);
    if (!is_tolerable (failure, error))
      return FALSE;
  }
  return TRUE;
}

/* Computes the central difference for one element of a variable and restores its value. */
static gboolean
differ (const Probe *self,
        const Variable *variable,
        LigTensor *values,
        gint64 element,
        double *difference,
        GError **error)
{
  float value = lig_tensor_get (values, element);
  double sides[2];
  for (int side = 0; side < 2; side++) {
    lig_tensor_set (values, element, value + (side ? -STEP : STEP));
    if (!set_variable (self, variable, values, error) || !evaluate (self, &sides[side], error))
      return FALSE;
  }
  lig_tensor_set (values, element, value);
  *difference = (sides[0] - sides[1]) / (2 * (double) STEP);
  return TRUE;
}

static gboolean
compare (const Probe *self,
         const Variable *variable,
         const LigTensor *gradient,
         LigGradientCheck *found,
         GError **error)
{
  g_autoptr (LigTensor) values = make_values (variable, error);
  double difference = 0, length = 0, max = -1;
  for (gint64 i = 0; values && i < values->size; i++) {
    double got = (double) lig_tensor_get (gradient, i), wanted;
    if (!differ (self, variable, values, i, &wanted, error))
      return FALSE;
    double off = isfinite (got - wanted) ? fabs (got - wanted) : INFINITY;
    difference += off * off;
    length += wanted * wanted;
    if (off > max) {
      max = off;
      found->element = i;
      found->gradient = got;
      found->difference = wanted;
    }
  }
  found->distance = difference == 0 ? 0 : sqrt (difference) / MAX (sqrt (length), 1e-30);
  return values && set_variable (self, variable, values, error);
}

static void
list_variables (Probe *self)
{
  LigPlan *plan = lig_program_get_plan (self->program);
  Variable variable = {.kind = INPUT, .name = g_strdup ("input")};
  self->variables = g_array_new (FALSE, FALSE, sizeof variable);
  g_array_set_clear_func (self->variables, clear_variable);
  lig_plan_get_input (plan, &variable.shape, &variable.dtype);
  g_array_append_val (self->variables, variable);
  for (guint i = 0; i < lig_plan_get_n_extra_inputs (plan); i++) {
    variable = (Variable){EXTRA_INPUT, i, g_strdup_printf ("extra input %u", i), {0}, LIG_FP32};
    lig_plan_get_extra_input (plan, i, &variable.shape, &variable.dtype);
    g_array_append_val (self->variables, variable);
  }
  for (const char *const *path = lig_state_get_paths (self->state); *path; path++) {
    variable = (Variable){PARAMETER, 0, g_strdup (*path), {0}, LIG_FP32};
    lig_state_get_shape (self->state, *path, &variable.shape, NULL);
    g_array_append_val (self->variables, variable);
  }
}

static gboolean
prepare (Probe *self,
         LigSequence *sequence,
         LigDevice *device,
         const LigPlanOptions *requested,
         GError **error)
{
  LigPlanOptions options;
  if (!lig_plan_options_read (requested, &options, error))
    return FALSE;
  options.training = options.input_gradient = TRUE;
  options.accumulate = FALSE;
  options.compute = options.parameters = (int) LIG_FP32;
  self->state = lig_state_new (sequence, device, &options, 0, error);
  g_autoptr (LigPlan) plan =
    self->state ? lig_state_plan (self->state, sequence, &options, error) : NULL;
  self->program = plan ? lig_program_new (plan, self->state, error) : NULL;
  if (!self->program)
    return FALSE;
  list_variables (self);
  for (guint i = 0; i < self->variables->len; i++) {
    const Variable *variable = &g_array_index (self->variables, Variable, i);
    g_autoptr (LigTensor) values = make_values (variable, error);
    if (!values || !set_variable (self, variable, values, error))
      return FALSE;
  }
  return TRUE;
}

static void
release (gpointer tensor)
{
  if (tensor)
    lig_tensor_unref (tensor);
}

/* Returns the gradients in the order of the variables, null for those that the plan does not
 * compute. */
static GPtrArray *
compute_gradients (const Probe *self, GError **error)
{
  g_autoptr (GPtrArray) gradients = g_ptr_array_new_with_free_func (release);
  if (!set_gradients (self, error) ||
      !lig_program_run (self->program, LIG_RUN_FORWARD | LIG_RUN_BACKWARD, error))
    return NULL;
  for (guint i = 0; i < self->variables->len; i++) {
    GError *failure = NULL;
    const Variable *variable = &g_array_index (self->variables, Variable, i);
    g_ptr_array_add (gradients, read_gradient (self, variable, &failure));
    if (!is_tolerable (failure, error))
      return NULL;
  }
  return g_steal_pointer (&gradients);
}

static LigGradientCheck *
find_worst (const Probe *self, GError **error)
{
  g_autoptr (GPtrArray) gradients = compute_gradients (self, error);
  g_autoptr (LigGradientCheck) worst = NULL;
  for (guint i = 0; gradients && i < gradients->len; i++) {
    const Variable *variable = &g_array_index (self->variables, Variable, i);
    LigGradientCheck found = {0};
    if (!gradients->pdata[i])
      continue;
    if (!compare (self, variable, gradients->pdata[i], &found, error))
      return NULL;
    if (worst && found.distance <= worst->distance)
      continue;
    if (!worst)
      worst = g_atomic_rc_box_new0 (LigGradientCheck);
    g_free (worst->name);
    *worst = found;
    worst->name = g_strdup (variable->name);
  }
  if (gradients && !worst)
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_VALUE,
                         _ ("gradient check: neither an input nor a parameter has a gradient"));
  return g_steal_pointer (&worst);
}

static void
clear (gpointer check)
{
  g_free (((LigGradientCheck *) check)->name);
}

void
lig_gradient_check_free (LigGradientCheck *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigGradientCheck,
                     lig_gradient_check,
                     g_atomic_rc_box_acquire,
                     lig_gradient_check_free)

gboolean
lig_check_gradients (LigSequence *sequence,
                     LigDevice *device,
                     const LigPlanOptions *options,
                     double tolerance,
                     LigGradientCheck **worst,
                     GError **error)
{
  g_auto (Probe) probe = {0};
  double limit = tolerance > 0 ? tolerance : TOLERANCE;
  if (worst)
    *worst = NULL;
  if (!prepare (&probe, sequence, device, options, error))
    return FALSE;
  g_autoptr (LigGradientCheck) found = find_worst (&probe, error);
  if (!found)
    return FALSE;
  gboolean fine = found->distance <= limit;
  if (!fine)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("gradient of %s: relative error %.3g, expected at most %.3g; element %" PRId64
                    " is %g, the central difference %g"),
                 found->name, found->distance, limit, found->element, found->gradient,
                 found->difference);
  if (worst)
    *worst = g_steal_pointer (&found);
  return fine;
}
