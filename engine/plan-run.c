/* SPDX-License-Identifier: MIT */
/* Binding a plan to a state and running it. */
#include "engine/private/plan.h"

#include <string.h>
#include <time.h>

void *
lig_plan_address (LigPlan *self, int value)
{
  if (value < 0)
    return NULL;
  const LigValue *root = lig_value (self->draft, lig_draft_root (self->draft, value));
  switch (root->role) {
  case LIG_VALUE_PARAMETER:
    return lig_state_address (self->state, LIG_STATE_PARAMETERS, root->state_offset, NULL);
  case LIG_VALUE_PARAMETER_GRADIENT:
    return lig_state_address (self->state, LIG_STATE_GRADIENTS, root->state_offset, NULL);
  case LIG_VALUE_STATE:
    return lig_state_address (self->state, (LigStateArray) root->array, root->state_offset, NULL);
  default:
    return root->offset < 0 ? NULL : self->arena + root->offset;
  }
}

/* The three largest tensors, for the message when memory does not suffice. */
static char *
largest_values (LigPlan *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint64 below = G_MAXINT64;
  for (int n = 0; n < 3; n++) {
    const LigValue *best = NULL;
    for (int i = 0; i < (int) self->draft->values->len; i++) {
      const LigValue *value = lig_value (self->draft, i);
      if (value->offset >= 0 && value->bytes < below && (!best || value->bytes > best->bytes))
        best = value;
    }
    if (!best)
      break;
    g_string_append_printf (text, "%s%s %" G_GINT64_FORMAT, n > 0 ? ", " : "", best->name,
                            best->bytes);
    below = best->bytes;
  }
  return g_strdup (text->str);
}

static gboolean
allocate (LigPlan *self, GError **error)
{
  LigDevice *device = self->draft->device;
  /* Every array of the state that the plan touches exists before a pointer is taken. */
  for (int i = 0; i < (int) self->draft->values->len; i++) {
    const LigValue *value = lig_value (self->draft, i);
    LigStateArray array = value->role == LIG_VALUE_STATE ? (LigStateArray) value->array
                          : value->role == LIG_VALUE_PARAMETER_GRADIENT ? LIG_STATE_GRADIENTS
                                                                        : LIG_STATE_PARAMETERS;
    if ((value->role == LIG_VALUE_STATE || value->role == LIG_VALUE_PARAMETER_GRADIENT ||
         value->role == LIG_VALUE_PARAMETER) &&
        !lig_state_address (self->state, array, 0, error))
      return FALSE;
  }
  self->arena = lig_device_allocate (device, (gsize) MAX (self->draft->arena_bytes, 1), error);
  if (!self->arena) {
    g_autofree char *largest = largest_values (self);
    g_prefix_error (error, "activations (largest: %s bytes): ", largest);
    return FALSE;
  }
  self->tick = lig_device_allocate (device, sizeof (LigTick), error);
  self->workspace = self->tick ? lig_device_allocate (device, LIG_WORKSPACE_SIZE, error) : NULL;
  return self->workspace != NULL;
}

static void
bind_step (LigPlan *self, int index, LigOperand *operands)
{
  const LigDraftStep *from = lig_step (self->draft, index);
  LigStep *to = &self->run->steps[index];
  LigBackendKind backend = lig_device_get_backend (self->draft->device);
  to->function = from->kernel ? from->kernel->functions[backend] : NULL;
  memcpy (to->params, from->params, from->params_size);
  for (int i = 0; i < from->n_operands; i++) {
    operands[i] = lig_draft_operand (self->draft, from->values[i]);
    operands[i].data = lig_plan_address (self, from->values[i]);
  }
  to->launch = (LigLaunch){
    .operands = operands,
    .params = from->params_size > 0 ? to->params : NULL,
    .tick = self->tick,
    .workspace = self->workspace,
  };
}

/* Gradients that the caller has not set are none at all, but for a loss's own, which is 1. */
static void
preset_gradient (LigPlan *self, int value)
{
  const LigValue *of = lig_value (self->draft, value);
  const LigValue *output = lig_value (self->draft, self->draft->output_value);
  gsize size = lig_dtype_size (of->dtype);
  float one = 1;
  guint8 piece[4096] = {0};
  if (of->role != LIG_VALUE_GIVEN || of->offset < 0)
    return;
  char *memory = lig_plan_address (self, value);
  for (gsize at = 0; at < (gsize) of->bytes; at += sizeof piece)
    lig_device_upload (self->draft->device, memory + at, piece,
                       MIN ((gsize) of->bytes - at, sizeof piece));
  if (output->gradient != value || of->shape.n_axes > 0)
    return;
  lig_narrow (of->dtype, &one, piece, 1);
  lig_device_upload (self->draft->device, memory, piece, size);
}

gboolean
lig_plan_bind (LigPlan *self, LigState *state, GError **error)
{
  int n_operands = 0;
  self->state = state;
  if (!allocate (self, error))
    return FALSE;
  if (g_getenv ("LIGATURE_POISON"))
    memset (self->arena, 0xff, (gsize) self->draft->arena_bytes);
  for (int i = 0; i < (int) self->draft->steps->len; i++)
    n_operands += lig_step (self->draft, i)->n_operands;
  self->run = lig_steps_new ((int) self->draft->steps->len, n_operands);
  if (!self->run) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY, "no memory for %u steps",
                 self->draft->steps->len);
    return FALSE;
  }
  n_operands = 0;
  for (int i = 0; i < (int) self->draft->steps->len; i++) {
    bind_step (self, i, self->run->operands + n_operands);
    n_operands += lig_step (self->draft, i)->n_operands;
  }
  for (int i = 0; i < (int) self->draft->values->len; i++)
    preset_gradient (self, i);
  *self->tick = (LigTick){.seed = lig_state_get_seed (state), .step = 1};
  return TRUE;
}

/* Copies into the value's memory, rounding piece by piece where the types differ: a training step
 * allocates nothing. */
static void
upload (LigPlan *self, int value, const LigTensor *tensor)
{
  LigDtype dtype = lig_value (self->draft, value)->dtype;
  gsize from = lig_dtype_size (tensor->dtype), to = lig_dtype_size (dtype);
  char *memory = lig_plan_address (self, value);
  float wide[1024];
  guint8 narrow[1024 * sizeof (float)];
  if (!memory)
    return;
  if (dtype == tensor->dtype) {
    lig_device_upload (self->draft->device, memory, tensor->data, lig_tensor_bytes (tensor));
    return;
  }
  for (gsize at = 0; at < (gsize) tensor->size; at += G_N_ELEMENTS (wide)) {
    gsize count = MIN (G_N_ELEMENTS (wide), (gsize) tensor->size - at);
    lig_widen (tensor->dtype, (const char *) tensor->data + at * from, wide, count);
    lig_narrow (dtype, wide, narrow, count);
    lig_device_upload (self->draft->device, memory + at * to, narrow, count * to);
  }
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
  if (lig_dtype_is_floating (to->dtype) != lig_dtype_is_floating (tensor->dtype))
    return refuse_tensor (what, number, LIG_ERROR_DTYPE, lig_dtype_name (tensor->dtype),
                          lig_dtype_name (to->dtype), error);
  upload (self, value, tensor);
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

void
lig_plan_set_rate (LigPlan *self, double learning_rate, double clip_norm)
{
  self->tick->learning_rate = (float) learning_rate;
  self->tick->clip_norm = (float) clip_norm;
}

static gboolean
call_opaque (LigPlan *self, int index, GError **error)
{
  const LigDraftStep *step = lig_step (self->draft, index);
  const LigStep *bound = &self->run->steps[index];
  g_autoptr (GError) local = NULL;
  if (step->opaque &&
      step->opaque (bound->launch.operands, bound->launch.stream, step->opaque_data, &local))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, "%s at %s: %s",
               lig_part (self->draft, step->part)->title, lig_part (self->draft, step->part)->path,
               local ? local->message : "its callback failed");
  return FALSE;
}

static gboolean
run_range (LigPlan *self, int first, int end, gboolean accumulate, GError **error)
{
  LigStatus status = LIG_OK;
  while (first < end) {
    int at = lig_steps_run (self->run, first, end, accumulate, &status);
    if (at == end)
      return TRUE;
    const LigDraftStep *step = lig_step (self->draft, at);
    if (status == LIG_OK && !step->kernel) {
      if (!call_opaque (self, at, error))
        return FALSE;
      first = at + 1;
      continue;
    }
    const char *where = self->run->steps[at].launch.where;
    const char *path = step->part >= 0 ? lig_part (self->draft, step->part)->path : "the update";
    g_set_error (error, LIG_ERROR,
                 status == LIG_OUT_OF_MEMORY ? LIG_ERROR_MEMORY : LIG_ERROR_DEVICE,
                 "step %d, %s at %s: %s", at, step->kernel ? step->kernel->name : "opaque", path,
                 where ? where : "the device has no such kernel");
    return FALSE;
  }
  return TRUE;
}

gboolean
lig_plan_run (LigPlan *self, unsigned flags, GError **error)
{
  const LigDraft *draft = self->draft;
  guint64 micro = lig_state_get_micro_step (self->state), step = lig_state_get_step (self->state);
  gboolean training = draft->options.training, accumulate = (flags & LIG_RUN_ACCUMULATE) != 0;
  g_return_val_if_fail (self->run, FALSE);
  if (flags & LIG_RUN_FORWARD) {
    self->tick->micro_step = micro;
    if (!run_range (self, 0, draft->first_backward, FALSE, error))
      return FALSE;
    micro += training;
  }
  if (flags & LIG_RUN_BACKWARD &&
      !run_range (self, draft->first_backward, draft->first_update, accumulate, error))
    return FALSE;
  if (flags & LIG_RUN_UPDATE) {
    self->tick->step = step + 1;
    if (!run_range (self, draft->first_update, (int) draft->steps->len, FALSE, error))
      return FALSE;
    step++;
  }
  lig_state_set_steps (self->state, micro, step);
  return TRUE;
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
  if (tensor)
    lig_device_download (self->draft->device, tensor->data, memory, lig_tensor_bytes (tensor));
  return tensor;
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
  if (memory)
    lig_device_download (self->draft->device, &result, memory, sizeof result);
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

gboolean
lig_plan_time_steps (LigPlan *self, double *seconds, GError **error)
{
  struct timespec begin, end;
  for (int i = 0; i < (int) self->draft->steps->len; i++) {
    clock_gettime (CLOCK_MONOTONIC, &begin);
    if (!run_range (self, i, i + 1, FALSE, error))
      return FALSE;
    clock_gettime (CLOCK_MONOTONIC, &end);
    seconds[i] =
      (double) (end.tv_sec - begin.tv_sec) + 1e-9 * (double) (end.tv_nsec - begin.tv_nsec);
  }
  return TRUE;
}
