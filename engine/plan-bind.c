/* SPDX-License-Identifier: MIT */
/* Binding a plan to a state: memory, launches with their pointers, streams and events. */
#include "engine/private/plan.h"

#include <string.h>

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
runs_beside (LigPlan *self)
{
  for (int i = 0; i < (int) self->draft->steps->len; i++)
    if (lig_step (self->draft, i)->beside)
      return TRUE;
  return FALSE;
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
  for (int i = 0; i < 2 && self->tick; i++)
    if (i == 0 || runs_beside (self))
      self->workspaces[i] = lig_device_allocate (device, LIG_WORKSPACE_SIZE, error);
  return self->workspaces[0] && (self->workspaces[1] || !runs_beside (self));
}

static void
bind_step (LigPlan *self, int index, LigOperand *operands)
{
  const LigDraftStep *from = lig_step (self->draft, index);
  LigStep *to = &self->run->steps[index];
  LigDevice *device = self->draft->device;
  to->function = from->kernel ? from->kernel->functions[lig_device_get_backend (device)] : NULL;
  to->beside = from->beside;
  to->joins = from->beside || index == self->draft->first_update;
  memcpy (to->params, from->params, from->params_size);
  for (int i = 0; i < from->n_operands; i++) {
    operands[i] = lig_draft_operand (self->draft, from->values[i]);
    operands[i].data = lig_plan_address (self, from->values[i]);
  }
  to->launch = (LigLaunch){
    .operands = operands,
    .params = from->params_size > 0 ? to->params : NULL,
    .tick = self->tick,
    .workspace = self->workspaces[from->beside],
    .stream = from->beside ? lig_device_branch (device) : lig_device_stream (device),
    .device = lig_device_handle (device),
    .tf32 = self->draft->options.tf32,
  };
}

static gboolean
bind_steps (LigPlan *self, GError **error)
{
  int n_operands = 0, n_steps = (int) self->draft->steps->len;
  LigDevice *device = self->draft->device;
  for (int i = 0; i < n_steps; i++)
    n_operands += lig_step (self->draft, i)->n_operands;
  self->run = lig_steps_new (n_steps, n_operands);
  if (!self->run) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY, "no memory for %d step%s", n_steps,
                 LIG_ENDING (n_steps));
    return FALSE;
  }
  self->run->calls = lig_device_calls (device);
  self->run->device = lig_device_handle (device);
  self->run->stream = lig_device_stream (device);
  self->run->branch = lig_device_branch (device);
  self->run->wait = g_getenv ("LIGATURE_SYNC") != NULL;
  n_operands = 0;
  for (int i = 0; i < n_steps; i++) {
    bind_step (self, i, self->run->operands + n_operands);
    n_operands += lig_step (self->draft, i)->n_operands;
  }
  return TRUE;
}

/* Events of the branch and of the results, and host memory that results arrive in. */
static gboolean
make_events (LigPlan *self, GError **error)
{
  LigDevice *device = self->draft->device;
  const LigBackend *calls = self->run->calls;
  LigBackendDevice *handle = self->run->device;
  void *results = NULL;
  LigStatus status = calls->allocate_host (handle, 2 * LIG_PLAN_LATE * sizeof (float), &results);
  self->results = results;
  for (int i = 0; i < LIG_PLAN_LATE && status == LIG_OK; i++)
    status = calls->event_new (handle, &self->arrived[i]);
  if (status == LIG_OK)
    status = calls->event_new (handle, &self->run->forked);
  if (status == LIG_OK)
    status = calls->event_new (handle, &self->run->joined);
  return lig_device_check (device, status, "binding a plan", error);
}

/* Gradients that the caller has not set are none at all, but for a loss's own, which is 1. */
static gboolean
preset_gradient (LigPlan *self, int value, GError **error)
{
  const LigValue *of = lig_value (self->draft, value);
  const LigValue *output = lig_value (self->draft, self->draft->output_value);
  LigDevice *device = self->draft->device;
  float one = 1;
  guint8 narrow[4];
  if (of->role != LIG_VALUE_GIVEN || of->offset < 0)
    return TRUE;
  void *memory = lig_plan_address (self, value);
  LigStatus status =
    self->run->calls->fill (self->run->device, memory, 0, (gsize) of->bytes, self->run->stream);
  if (!lig_device_check (device, status, "clearing a gradient", error))
    return FALSE;
  if (output->gradient != value || of->shape.n_axes > 0)
    return TRUE;
  lig_narrow (of->dtype, &one, narrow, 1);
  return lig_device_upload (device, memory, narrow, lig_dtype_size (of->dtype), error);
}

gboolean
lig_plan_bind (LigPlan *self, LigState *state, GError **error)
{
  LigDevice *device = self->draft->device;
  self->state = state;
  if (!allocate (self, error) || !bind_steps (self, error) || !make_events (self, error))
    return FALSE;
  self->feeds = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lig_feed_free);
  if (g_getenv ("LIGATURE_POISON") &&
      !lig_device_check (device,
                         self->run->calls->fill (self->run->device, self->arena, 0xff,
                                                 (gsize) self->draft->arena_bytes,
                                                 self->run->stream),
                         "poisoning", error))
    return FALSE;
  for (int i = 0; i < (int) self->draft->values->len; i++)
    if (!preset_gradient (self, i, error))
      return FALSE;
  self->told = self->now = (LigTick){.seed = lig_state_get_seed (state), .step = 1};
  return lig_device_upload (device, self->tick, &self->now, sizeof self->now, error);
}

static void
free_events (LigPlan *self)
{
  const LigBackend *calls = self->run->calls;
  LigBackendDevice *handle = self->run->device;
  if (self->results)
    calls->release_host (handle, self->results);
  for (int i = 0; i < LIG_PLAN_LATE; i++)
    if (self->arrived[i])
      calls->event_free (handle, self->arrived[i]);
  if (self->run->forked)
    calls->event_free (handle, self->run->forked);
  if (self->run->joined)
    calls->event_free (handle, self->run->joined);
}

void
lig_plan_unbind (LigPlan *self)
{
  LigDevice *device = self->draft->device;
  if (self->run) {
    /* Nothing is taken away that steps still use. */
    self->run->calls->wait (self->run->device, self->run->stream);
    lig_plan_forget_captures (self);
    free_events (self);
  }
  g_clear_pointer (&self->feeds, g_hash_table_unref);
  g_clear_pointer (&self->run, lig_steps_free);
  lig_device_release (device, self->arena);
  lig_device_release (device, self->tick);
  lig_device_release (device, self->workspaces[0]);
  lig_device_release (device, self->workspaces[1]);
}
