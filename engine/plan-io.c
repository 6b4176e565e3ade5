/* SPDX-License-Identifier: MIT */
/* The caller's tensors: into a bound plan, and out of it. */
#include "engine/private/plan.h"

#include <math.h>

/* Through the value's feed, which rounds where the types differ. */
static gboolean
send (LigPlan *self, int value, LigTensor *tensor, GError **error)
{
  gpointer key = GINT_TO_POINTER (value + 1);
  LigFeed *feed = g_hash_table_lookup (self->feeds, key);
  void *memory = lig_plan_address (self, value);
  if (!memory)
    return TRUE;
  if (!feed) {
    feed = lig_feed_new (self->draft->device, memory, tensor->size,
                         lig_value (self->draft, value)->dtype);
    g_hash_table_insert (self->feeds, key, feed);
  }
  return lig_feed_send (feed, tensor, error);
}

/* `number` of an extra tensor, -1 for the main ones. */
static gboolean
refuse_tensor (const char *what,
               int number,
               LigError code,
               const char *observed,
               const char *expected,
               GError **error)
{
  g_autofree char *name = number < 0 ? g_strdup (what) : g_strdup_printf ("%s %d", what, number);
  g_set_error (error, LIG_ERROR, code, "%s is %s, expected %s", name, observed, expected);
  return FALSE;
}

static gboolean
fill (LigPlan *self, int value, LigTensor *tensor, const char *what, int number, GError **error)
{
  const LigValue *to = lig_value (self->draft, value);
  if (!lig_shape_equal (&to->shape, &tensor->shape)) {
    g_autofree char *observed = lig_shape_to_string (&tensor->shape);
    g_autofree char *expected = lig_shape_to_string (&to->shape);
    return refuse_tensor (what, number, LIG_ERROR_SHAPE, observed, expected, error);
  }
  gboolean whole =
    tensor->dtype == LIG_INT32 || tensor->dtype == LIG_UINT8 || tensor->dtype == LIG_BOOL;
  if (lig_dtype_is_floating (to->dtype) ? !lig_dtype_is_floating (tensor->dtype) : !whole)
    return refuse_tensor (what, number, LIG_ERROR_DTYPE, lig_dtype_name (tensor->dtype),
                          lig_dtype_name (to->dtype), error);
  return send (self, value, tensor, error);
}

static gboolean
no_such (const char *what, guint n, guint count, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, "there is no %s %u: the plan has %u", what, n,
               count);
  return FALSE;
}

gboolean
lig_plan_set_input (LigPlan *self, LigTensor *tensor, GError **error)
{
  return fill (self, self->draft->input_value, tensor, "input", -1, error);
}

gboolean
lig_plan_set_extra_input (LigPlan *self, guint n, LigTensor *tensor, GError **error)
{
  GArray *inputs = self->draft->callers_inputs;
  if (n >= inputs->len)
    return no_such ("extra input", n, inputs->len, error);
  return fill (self, g_array_index (inputs, int, n), tensor, "extra input", (int) n, error);
}

gboolean
lig_plan_set_gradient (LigPlan *self, LigTensor *tensor, GError **error)
{
  int gradient = lig_value (self->draft, self->draft->output_value)->gradient;
  if (gradient < 0)
    return no_such ("gradient of the output, number", 0, 0, error);
  return fill (self, gradient, tensor, "gradient of the output", -1, error);
}

/* The gradient that arrives at an extra output from the caller: the last contribution to it. */
static int
given_gradient (LigPlan *self, guint n)
{
  int value = g_array_index (self->draft->callers_outputs, int, n);
  g_autofree char *name = g_strconcat ("d", lig_value (self->draft, value)->name, NULL);
  for (int i = 0; i < (int) self->draft->values->len; i++)
    if (lig_value (self->draft, i)->role == LIG_VALUE_GIVEN &&
        g_str_equal (lig_value (self->draft, i)->name, name))
      return i;
  return -1;
}

gboolean
lig_plan_set_extra_gradient (LigPlan *self, guint n, LigTensor *tensor, GError **error)
{
  GArray *outputs = self->draft->callers_outputs;
  int gradient = n < outputs->len ? given_gradient (self, n) : -1;
  if (gradient < 0)
    return no_such ("gradient of extra output", n, outputs->len, error);
  return fill (self, gradient, tensor, "gradient of extra output", (int) n, error);
}

static LigTensor *
read_value (LigPlan *self, int value, const char *what, GError **error)
{
  void *memory = lig_plan_address (self, value);
  if (!memory) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, "the plan computes no %s", what);
    return NULL;
  }
  const LigValue *from = lig_value (self->draft, value);
  LigTensor *tensor = lig_tensor_new (from->dtype, &from->shape, error);
  if (tensor && lig_device_download (self->draft->device, tensor->data, memory,
                                     lig_tensor_bytes (tensor), error))
    return tensor;
  g_clear_pointer (&tensor, lig_tensor_unref);
  return NULL;
}

LigTensor *
lig_plan_read_output (LigPlan *self, GError **error)
{
  return read_value (self, self->draft->output_value, "output", error);
}

LigTensor *
lig_plan_read_extra_output (LigPlan *self, guint n, GError **error)
{
  GArray *outputs = self->draft->callers_outputs;
  return read_value (self, n < outputs->len ? g_array_index (outputs, int, n) : -1,
                     "such extra output", error);
}

LigTensor *
lig_plan_read_input_gradient (LigPlan *self, GError **error)
{
  return read_value (self, self->draft->input_gradient, "gradient of the input", error);
}

LigTensor *
lig_plan_read_extra_gradient (LigPlan *self, guint n, GError **error)
{
  GArray *inputs = self->draft->callers_inputs;
  int value =
    n < inputs->len ? lig_value (self->draft, g_array_index (inputs, int, n))->gradient : -1;
  return read_value (self, value, "gradient of such an extra input", error);
}

static float
read_scalar (LigPlan *self, int value)
{
  float result = 0;
  void *memory = lig_plan_address (self, value);
  if (memory && !lig_device_download (self->draft->device, &result, memory, sizeof result, NULL))
    return NAN;
  return result;
}

float
lig_plan_read_loss (LigPlan *self)
{
  return read_scalar (self, self->draft->output_value);
}

gboolean
lig_plan_read_accuracy (LigPlan *self, double *correct, double *counted)
{
  if (self->draft->correct < 0)
    return FALSE;
  *correct = (double) read_scalar (self, self->draft->correct);
  *counted = (double) read_scalar (self, self->draft->counted);
  return TRUE;
}

float
lig_plan_read_gradient_norm (LigPlan *self)
{
  return self->draft->gradient_norm < 0 ? 0 : read_scalar (self, self->draft->gradient_norm);
}

/* One scalar into host memory, behind the steps; zero where the plan has none. */
static LigStatus
send_scalar (LigPlan *self, int value, float *to)
{
  void *memory = lig_plan_address (self, value);
  *to = 0;
  return memory
           ? self->run->calls->copy (self->run->device, to, memory, sizeof *to, self->run->stream)
           : LIG_OK;
}

gboolean
lig_plan_send_results (LigPlan *self, guint slot, GError **error)
{
  const LigSteps *run = self->run;
  float *pair = self->results + 2 * slot;
  LigStatus status = send_scalar (self, self->draft->output_value, &pair[0]);
  if (status == LIG_OK)
    status = send_scalar (self, self->draft->gradient_norm, &pair[1]);
  if (status == LIG_OK)
    status = run->calls->record (run->device, self->arrived[slot], run->stream);
  return lig_device_check (self->draft->device, status, "reading the loss", error);
}

gboolean
lig_plan_take_results (LigPlan *self, guint slot, double *loss, double *norm, GError **error)
{
  LigStatus status = self->run->calls->settle (self->run->device, self->arrived[slot]);
  *loss = (double) self->results[2 * slot];
  *norm = (double) self->results[2 * slot + 1];
  return lig_device_check (self->draft->device, status, "reading the loss", error);
}
