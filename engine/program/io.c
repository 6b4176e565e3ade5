/* SPDX-License-Identifier: MIT */
/* Moves the caller's tensors into a program and out of it. */
#include "engine/program/private.h"
#include "engine/program/results.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* Sends a tensor through the value's feed, which converts it if the types differ. */
static gboolean
send (LigProgram *self, int value, LigTensor *tensor, GError **error)
{
  gpointer key = GINT_TO_POINTER (value + 1);
  LigFeed *feed = g_hash_table_lookup (self->feeds, key);
  void *memory = lig_program_address (self, value);
  if (!memory)
    return TRUE;
  if (!feed) {
    feed =
      lig_feed_new (self->device, memory, tensor->size, lig_plan_value (self->plan, value)->dtype);
    g_hash_table_insert (self->feeds, key, feed);
  }
  return lig_feed_send (feed, tensor, error);
}

/* Sets the error about a tensor; `number` is that of an extra tensor, -1 for the main ones. */
static gboolean
reject_tensor (const char *what,
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
fill (LigProgram *self, int value, LigTensor *tensor, const char *what, int number, GError **error)
{
  const LigPlanValue *to = lig_plan_value (self->plan, value);
  if (!tensor)
    return reject_tensor (what, number, LIG_ERROR_VALUE, "null", "a tensor", error);
  if (!lig_shape_equal (&to->shape, &tensor->shape)) {
    g_autofree char *observed = lig_shape_to_string (&tensor->shape);
    g_autofree char *expected = lig_shape_to_string (&to->shape);
    return reject_tensor (what, number, LIG_ERROR_SHAPE, observed, expected, error);
  }
  unsigned role = lig_dtype_is_floating (to->dtype) ? LIG_DTYPE_COMPUTES : LIG_DTYPE_COUNTS;
  if (!lig_dtype_has (tensor->dtype, role))
    return reject_tensor (what, number, LIG_ERROR_DTYPE, lig_dtype_name (tensor->dtype),
                          lig_dtype_name (to->dtype), error);
  return lig_program_check_range (self, value, tensor, error) && send (self, value, tensor, error);
}

static gboolean
fill_input (
  LigProgram *self, int value, LigTensor *tensor, const char *what, int number, GError **error)
{
  if (!fill (self, value, tensor, what, number, error))
    return FALSE;
  g_hash_table_remove (self->awaited, GINT_TO_POINTER (value + 1));
  return TRUE;
}

static gboolean
fill_gradient (
  LigProgram *self, int value, LigTensor *tensor, const char *what, int number, GError **error)
{
  int root = lig_plan_root (self->plan, value);
  if (!fill (self, value, tensor, what, number, error))
    return FALSE;
  for (guint i = 0; i < self->output_gradients->len; i++) {
    LigOutputGradient *gradient = &g_array_index (self->output_gradients, LigOutputGradient, i);
    if (gradient->value != root)
      continue;
    gradient->fresh = TRUE;
    gradient->stale = FALSE;
  }
  return TRUE;
}

void
lig_program_keep_gradients (LigProgram *self)
{
  self->keeps_gradients = TRUE;
}

gboolean
lig_program_check_inputs (LigProgram *self, GError **error)
{
  const LigPlan *plan = self->plan;
  if (g_hash_table_size (self->awaited) == 0)
    return TRUE;
  if (g_hash_table_contains (self->awaited, GINT_TO_POINTER (plan->ends.input + 1))) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_ORDER,
                         "input missing; set it with lig_program_set_input()");
    return FALSE;
  }
  for (guint i = 0; i < plan->ends.extra_inputs->len; i++)
    if (g_hash_table_contains (
          self->awaited, GINT_TO_POINTER (g_array_index (plan->ends.extra_inputs, int, i) + 1))) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_ORDER,
                   "extra input %u missing; set it with lig_program_set_extra_input()", i);
      return FALSE;
    }
  return TRUE;
}

static gboolean
no_such (const char *what, guint n, guint count, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, "there is no %s %u: the plan has %u", what, n,
               count);
  return FALSE;
}

gboolean
lig_program_set_input (LigProgram *self, LigTensor *tensor, GError **error)
{
  return fill_input (self, self->plan->ends.input, tensor, "input", -1, error);
}

gboolean
lig_program_set_extra_input (LigProgram *self, guint n, LigTensor *tensor, GError **error)
{
  GArray *inputs = self->plan->ends.extra_inputs;
  if (n >= inputs->len)
    return no_such ("extra input", n, inputs->len, error);
  return fill_input (self, g_array_index (inputs, int, n), tensor, "extra input", (int) n, error);
}

gboolean
lig_program_set_gradient (LigProgram *self, LigTensor *tensor, GError **error)
{
  int gradient = self->plan->ends.output_gradient;
  if (gradient < 0) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_INDEX,
                         "the plan takes no gradient of the output");
    return FALSE;
  }
  return fill_gradient (self, gradient, tensor, "gradient of the output", -1, error);
}

/* Returns the gradient that the caller provides for an extra output: the last contribution to
 * it. */
static int
get_extra_gradient (LigProgram *self, guint n)
{
  int value = g_array_index (self->plan->ends.extra_outputs, int, n);
  g_autofree char *name = g_strconcat ("d", lig_plan_value (self->plan, value)->name, NULL);
  for (int i = 0; i < (int) self->plan->values->len; i++)
    if (lig_plan_value (self->plan, i)->role == LIG_VALUE_GIVEN &&
        g_str_equal (lig_plan_value (self->plan, i)->name, name))
      return i;
  return -1;
}

gboolean
lig_program_set_extra_gradient (LigProgram *self, guint n, LigTensor *tensor, GError **error)
{
  GArray *outputs = self->plan->ends.extra_outputs;
  int gradient = n < outputs->len ? get_extra_gradient (self, n) : -1;
  if (gradient < 0)
    return no_such ("gradient of extra output", n, outputs->len, error);
  return fill_gradient (self, gradient, tensor, "gradient of extra output", (int) n, error);
}

/* Returns the address of a result that the pass has written; null with the error set. */
static void *
find_result (LigProgram *self, int value, LigRunFlags pass, const char *what, GError **error)
{
  void *memory = lig_program_address (self, value);
  if (!memory)
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, "the plan computes no %s", what);
  else if (!(self->done & pass)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_ORDER, "no %s to read: run %s first", what,
                 pass == LIG_RUN_FORWARD    ? "a forward pass"
                 : pass == LIG_RUN_BACKWARD ? "a backward pass"
                                            : "an update");
    memory = NULL;
  }
  return memory;
}

static LigTensor *
read_value (LigProgram *self, int value, LigRunFlags pass, const char *what, GError **error)
{
  const void *memory = find_result (self, value, pass, what, error);
  if (!memory)
    return NULL;
  const LigPlanValue *from = lig_plan_value (self->plan, value);
  g_autoptr (LigTensor) tensor = lig_tensor_new (from->dtype, &from->shape, error);
  return tensor && lig_device_download (self->device, tensor->data, memory,
                                        lig_tensor_bytes (tensor), error)
           ? g_steal_pointer (&tensor)
           : NULL;
}

LigTensor *
lig_program_read_output (LigProgram *self, GError **error)
{
  return read_value (self, self->plan->ends.output, LIG_RUN_FORWARD, "output", error);
}

const void *
lig_program_find_output_rows (LigProgram *self, gint64 first, gint64 count, GError **error)
{
  int value = self->plan->ends.output;
  const char *memory = find_result (self, value, LIG_RUN_FORWARD, "output", error);
  if (!memory)
    return NULL;
  const LigPlanValue *from = lig_plan_value (self->plan, value);
  gint64 columns = lig_shape_columns (&from->shape);
  gint64 rows = lig_shape_size (&from->shape) / MAX (columns, 1);
  if (first < 0 || count < 1 || first > rows - count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
                 _ ("rows %" PRId64 " to %" PRId64 " of the output do not exist; it has %" PRId64),
                 first, first + count - 1, rows);
    return NULL;
  }
  return memory + (gsize) (first * columns) * lig_dtype_size (from->dtype);
}

LigTensor *
lig_program_read_output_rows (LigProgram *self, gint64 first, gint64 count, GError **error)
{
  const void *memory = lig_program_find_output_rows (self, first, count, error);
  if (!memory)
    return NULL;
  const LigPlanValue *from = lig_plan_value (self->plan, self->plan->ends.output);
  LigShape shape;
  lig_shape_init (&shape, 2, count, lig_shape_columns (&from->shape));
  g_autoptr (LigTensor) tensor = lig_tensor_new (from->dtype, &shape, error);
  return tensor && lig_device_download (self->device, tensor->data, memory,
                                        lig_tensor_bytes (tensor), error)
           ? g_steal_pointer (&tensor)
           : NULL;
}

LigTensor *
lig_program_read_extra_output (LigProgram *self, guint n, GError **error)
{
  GArray *outputs = self->plan->ends.extra_outputs;
  return read_value (self, n < outputs->len ? g_array_index (outputs, int, n) : -1, LIG_RUN_FORWARD,
                     "such extra output", error);
}

/* Returns a watched value of an op, or -1. */
static int
find_watched (LigProgram *self, int op, const char *name)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  int value = -1;
  for (int i = 0; op >= 0 && op < (int) count && i < ops[op].n_ports; i++) {
    const LigPlanPort *port = &ops[op].ports[i];
    gboolean watched = port->kind == LIG_PORT_KEPT && port->value >= 0 &&
                       lig_plan_value (self->plan, port->value)->kept_to_end;
    value = watched && g_str_equal (port->name, name) ? port->value : value;
  }
  return value;
}

LigTensor *
lig_program_read_watched (LigProgram *self, int op, const char *name, GError **error)
{
  g_return_val_if_fail (name, NULL);
  return read_value (self, find_watched (self, op, name), LIG_RUN_FORWARD, "such watched value",
                     error);
}

/* Reads a gradient and removes the loss scale. */
static LigTensor *
read_gradient (LigProgram *self, int value, const char *what, GError **error)
{
  g_autoptr (LigTensor) tensor = read_value (self, value, LIG_RUN_BACKWARD, what, error);
  if (!tensor || !self->plan->ends.scales)
    return g_steal_pointer (&tensor);
  return lig_state_unscale (self->state, tensor, tensor->dtype, error);
}

LigTensor *
lig_program_read_input_gradient (LigProgram *self, GError **error)
{
  return read_gradient (self, self->plan->ends.input_gradient, "gradient of the input", error);
}

LigTensor *
lig_program_read_extra_gradient (LigProgram *self, guint n, GError **error)
{
  const LigPlan *plan = self->plan;
  GArray *inputs = plan->ends.extra_inputs;
  int value =
    n < inputs->len ? lig_plan_value (plan, g_array_index (inputs, int, n))->gradient : -1;
  return read_gradient (self, value, "gradient of such an extra input", error);
}

static gboolean
read_scalar (
  LigProgram *self, int value, LigRunFlags pass, const char *what, float *result, GError **error)
{
  guint8 stored[4];
  const void *memory = find_result (self, value, pass, what, error);
  if (!memory)
    return FALSE;
  LigDtype dtype = lig_plan_value (self->plan, value)->dtype;
  if (!lig_device_download (self->device, stored, memory, lig_dtype_size (dtype), error))
    return FALSE;
  lig_widen (dtype, stored, result, 1);
  return TRUE;
}

gboolean
lig_program_read_loss (LigProgram *self, float *loss, GError **error)
{
  int value = self->plan->ends.output;
  const LigShape *shape = &lig_plan_value (self->plan, value)->shape;
  if (lig_shape_size (shape) == 1)
    return read_scalar (self, value, LIG_RUN_FORWARD, "loss", loss, error);
  g_autofree char *observed = lig_shape_to_string (shape);
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               "the output is %s, a loss is one number; end the sequence with a loss", observed);
  return FALSE;
}

gboolean
lig_program_read_accuracy (LigProgram *self, double *correct, double *counted, GError **error)
{
  float right, rows;
  const LigPlan *plan = self->plan;
  if (!read_scalar (self, plan->ends.correct, LIG_RUN_FORWARD, "accuracy", &right, error) ||
      !read_scalar (self, plan->ends.counted, LIG_RUN_FORWARD, "accuracy", &rows, error))
    return FALSE;
  *correct = (double) right;
  *counted = (double) rows;
  return TRUE;
}

gboolean
lig_program_read_gradient_norm (LigProgram *self, float *norm, GError **error)
{
  return read_scalar (self, self->plan->ends.gradient_norm, LIG_RUN_UPDATE, "norm of the gradients",
                      norm, error);
}

gboolean
lig_program_read_waiting (LigProgram *self, double *seconds, GError **error)
{
  LigTimer waiting = {0};
  gboolean fine = !self->waiting || lig_device_download (self->device, &waiting, self->waiting,
                                                         sizeof waiting, error);
  *seconds = waiting.seconds;
  return fine;
}

gboolean
lig_program_separate_waits (LigProgram *self, GError **error)
{
  gsize count = self->plan->steps->len + 1;
  if (!self->waiting || self->waits)
    return TRUE;
  g_autofree LigTimer *zeros = g_new0 (LigTimer, count);
  self->waits = lig_device_allocate (self->device, count * sizeof *zeros, error);
  if (!self->waits ||
      !lig_device_upload (self->device, self->waits, zeros, count * sizeof *zeros, error))
    return FALSE;
  self->run->waits = self->waits;
  return TRUE;
}

gboolean
lig_program_read_waits (LigProgram *self, double *seconds, GError **error)
{
  gsize count = self->plan->steps->len;
  g_autofree LigTimer *waits = g_new0 (LigTimer, count + 1);
  if (self->waits &&
      !lig_device_download (self->device, waits, self->waits, count * sizeof *waits, error))
    return FALSE;
  for (gsize i = 0; i < count; i++)
    seconds[i] = waits[i].seconds;
  return TRUE;
}

/* Copies a value to host memory after the steps; zero if the plan does not have it. */
static LigStatus
send_value (LigProgram *self, int value, void *to, gsize bytes)
{
  void *memory = lig_program_address (self, value);
  memset (to, 0, bytes);
  return memory ? self->run->calls->copy (self->run->device, to, memory, bytes,
                                          lig_device_stream (self->device))
                : LIG_OK;
}

/* Returns the number of elements of the watched values that results contain. */
static gsize
count_watched (LigProgram *self)
{
  gsize count = 0;
  for (guint i = 0; self->watched && i < self->watched->len; i++)
    count += (gsize) lig_shape_size (
      &lig_plan_value (self->plan, g_array_index (self->watched, int, i))->shape);
  return count;
}

gboolean
lig_program_watch (LigProgram *self, const char *name, gsize *count, GError **error)
{
  guint n_ops;
  lig_plan_get_ops (self->plan, &n_ops);
  void *numbers = NULL;
  g_return_val_if_fail (!self->watched && name && count, FALSE);
  self->watched = g_array_new (FALSE, FALSE, sizeof (int));
  for (guint i = 0; i < n_ops; i++) {
    int value = find_watched (self, (int) i, name);
    if (value >= 0)
      g_array_append_val (self->watched, value);
  }
  *count = count_watched (self);
  LigStatus status = *count == 0 ? LIG_OK
                                 : self->run->calls->allocate_host (
                                     self->run->device,
                                     LIG_PROGRAM_RESULT_SLOTS * *count * sizeof (float), &numbers);
  self->numbers = numbers;
  return lig_device_check (self->device, status, _ ("binding a program"), error);
}

/* Copies the watched values of a slot. */
static LigStatus
send_watched (LigProgram *self, guint slot)
{
  float *to = self->numbers + slot * count_watched (self);
  LigStatus status = LIG_OK;
  for (guint i = 0; i < self->watched->len && status == LIG_OK; i++) {
    int value = g_array_index (self->watched, int, i);
    gsize size = (gsize) lig_shape_size (&lig_plan_value (self->plan, value)->shape);
    status = send_value (self, value, to, size * sizeof *to);
    to += size;
  }
  return status;
}

gboolean
lig_program_send_results (LigProgram *self, guint slot, GError **error)
{
  const LigSteps *run = self->run;
  const LigPlan *plan = self->plan;
  LigProgramResult *to = &self->results[slot];
  LigStatus status = send_value (self, plan->ends.output, &to->loss, sizeof to->loss);
  if (status == LIG_OK)
    status = send_value (self, plan->ends.scaling, &to->scaling, sizeof to->scaling);
  if (status == LIG_OK && self->waiting)
    status = run->calls->copy (run->device, &to->waited, &self->waiting->seconds, sizeof to->waited,
                               lig_device_stream (self->device));
  if (status == LIG_OK && self->numbers)
    status = send_watched (self, slot);
  if (status == LIG_OK)
    status =
      run->calls->record (run->device, self->arrived[slot], run->lanes[LIG_LANE_MAIN].stream);
  return lig_device_check (self->device, status, _ ("reading the loss"), error);
}

gboolean
lig_program_take_results (LigProgram *self, guint slot, LigProgramResult *result, GError **error)
{
  LigStatus status = self->run->calls->wait_event (self->run->device, self->arrived[slot]);
  *result = self->results[slot];
  result->watched = self->numbers ? self->numbers + slot * count_watched (self) : NULL;
  return lig_device_check (self->device, status, _ ("reading the loss"), error);
}
