/* SPDX-License-Identifier: MIT */
/* Binds a program: allocates memory, and creates launches with their pointers, streams and
 * events. */
#include "engine/program/private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

void *
lig_program_address (LigProgram *self, int value)
{
  if (value < 0)
    return NULL;
  const LigPlanValue *root = lig_plan_value (self->plan, lig_plan_root (self->plan, value));
  switch (root->role) {
  case LIG_VALUE_PARAMETER:
    return root->array == LIG_STATE_MASTER
             ? lig_state_master (self->state, root->state_offset)
             : lig_state_address (self->state, LIG_STATE_PARAMETERS, root->state_offset, NULL);
  case LIG_VALUE_PARAMETER_GRADIENT:
    return lig_state_address (self->state, LIG_STATE_GRADIENTS, root->state_offset, NULL);
  case LIG_VALUE_SCALING:
    return lig_state_scaling (self->state, NULL);
  case LIG_VALUE_QUANTIZERS:
    return lig_state_quantizers_address (lig_state_get_quantizers (self->state), root->state_offset,
                                         NULL);
  case LIG_VALUE_CACHE:
    return self->cache ? lig_cache_address (self->cache, root->state_offset) : NULL;
  case LIG_VALUE_STATE:
    return lig_state_address (self->state, (LigStateArray) root->array, root->state_offset, NULL);
  default:
    return root->offset < 0
             ? NULL
             : self->arena + root->offset + lig_plan_value (self->plan, value)->alias_offset;
  }
}

/* Returns the three largest tensors, for the message about insufficient memory. */
static char *
largest_values (LigProgram *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint64 below = G_MAXINT64;
  for (int n = 0; n < 3; n++) {
    const LigPlanValue *best = NULL;
    for (int i = 0; i < (int) self->plan->values->len; i++) {
      const LigPlanValue *value = lig_plan_value (self->plan, i);
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
allocate_workspaces (LigProgram *self, GError **error)
{
  unsigned lanes = 1u << LIG_LANE_MAIN;
  for (int i = 0; i < (int) self->plan->steps->len; i++)
    lanes |= 1u << lig_plan_step (self->plan, i)->lane;
  for (int lane = 0; lane < LIG_N_LANES; lane++)
    if (lanes >> lane & 1) {
      self->workspaces[lane] = lig_device_allocate (self->device, LIG_WORKSPACE_SIZE, error);
      if (!self->workspaces[lane])
        return FALSE;
    }
  return TRUE;
}

/* The waits for other ranks are timed in each step, because they change with the work of the
 * ranks. */
static gboolean
allocate_timer (LigProgram *self, GError **error)
{
  const LigTimer zero = {0};
  if (!lig_device_get_ranks (self->device))
    return TRUE;
  self->waiting = lig_device_allocate (self->device, sizeof zero, error);
  return self->waiting &&
         lig_device_upload (self->device, self->waiting, &zero, sizeof zero, error);
}

static gboolean
allocate (LigProgram *self, GError **error)
{
  LigDevice *device = self->device;
  /* Allocates every state array of the plan before taking pointers to it. */
  for (int i = 0; i < (int) self->plan->values->len; i++) {
    const LigPlanValue *value = lig_plan_value (self->plan, i);
    LigStateArray array = value->role == LIG_VALUE_STATE ? (LigStateArray) value->array
                          : value->role == LIG_VALUE_PARAMETER_GRADIENT ? LIG_STATE_GRADIENTS
                                                                        : LIG_STATE_PARAMETERS;
    if ((value->role == LIG_VALUE_STATE || value->role == LIG_VALUE_PARAMETER_GRADIENT ||
         value->role == LIG_VALUE_PARAMETER) &&
        !lig_state_address (self->state, array, 0, error))
      return FALSE;
    if (value->role == LIG_VALUE_QUANTIZERS &&
        !lig_state_quantizers_address (lig_state_get_quantizers (self->state), 0, error))
      return FALSE;
    if (value->role == LIG_VALUE_SCALING && !lig_state_scaling (self->state, error))
      return FALSE;
  }
  self->arena = lig_device_allocate (device, (gsize) MAX (self->plan->arena_bytes, 1), error);
  if (!self->arena) {
    g_autofree char *largest = largest_values (self);
    g_prefix_error (error, _ ("activations (largest: %s bytes): "), largest);
    return FALSE;
  }
  self->tick = lig_device_allocate (device, sizeof (LigTick), error);
  return self->tick && allocate_workspaces (self, error) && allocate_timer (self, error);
}

/* Returns the group of processes of a collective step, and null for other steps. */
static const LigPeers *
find_peers (LigDevice *device, const LigPlanStep *step, const LigStepCode *code)
{
  LigRankGroup group = lig_code_group (step->kernel, code);
  return group < LIG_N_GROUPS ? lig_device_get_peers (device, group) : NULL;
}

/* A single process, which has no stream for collectives, runs them among the other steps. */
static LigLane
lane_of (LigDevice *device, const LigPlanStep *step)
{
  gboolean absent =
    step->lane == LIG_LANE_COMMUNICATION && !lig_device_lane (device, LIG_LANE_COMMUNICATION);
  return absent ? LIG_LANE_MAIN : step->lane;
}

static void
bind_step (LigProgram *self, int index, LigOperand *operands)
{
  const LigPlanStep *from = lig_plan_step (self->plan, index);
  const LigStepCode *code = lig_plan_code (self->plan, index);
  LigStep *to = &self->run->steps[index];
  LigDevice *device = self->device;
  to->function = from->kernel ? lig_device_function (device, from->kernel) : NULL;
  to->lane = lane_of (device, from);
  to->awaits = from->awaits < 0 ? NULL : &self->run->steps[from->awaits];
  to->reduces = from->reduces;
  to->empty = code->empty;
  to->adds = code->adds;
  to->zeroed = code->zeroed;
  to->added = code->added;
  to->joins = index == self->plan->phases.update ? ~0u
              : to->lane == LIG_LANE_SIDE        ? 1u << LIG_LANE_SIDE
                                                 : 0;
  memcpy (to->params, code->params, code->params_size);
  for (int i = 0; i < from->n_operands; i++) {
    int value = from->operands[i].value;
    operands[i] = lig_value_operand (value < 0 ? NULL : lig_plan_value (self->plan, value));
    operands[i].data = lig_program_address (self, value);
  }
  to->launch = (LigLaunch){
    .operands = operands,
    .params = code->params_size > 0 ? to->params : NULL,
    .tick = self->tick,
    .workspace = self->workspaces[to->lane],
    .scratch = code->scratch > 0 ? lig_program_address (self, code->scratch) : NULL,
    .stream = lig_device_lane (device, to->lane),
    .device = lig_device_handle (device),
    .peers = find_peers (device, from, code),
    .part = code->row_part,
    .tf32 = self->plan->request->options.tf32,
    .nondeterministic = self->plan->request->options.nondeterministic,
  };
}

static gboolean
bind_steps (LigProgram *self, GError **error)
{
  int n_operands = 0, n_steps = (int) self->plan->steps->len;
  LigDevice *device = self->device;
  for (int i = 0; i < n_steps; i++)
    n_operands += lig_plan_step (self->plan, i)->n_operands;
  self->run = lig_steps_new (n_steps, n_operands);
  if (!self->run) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 g_dngettext (GETTEXT_PACKAGE, "no memory for %d step", "no memory for %d steps",
                              (gulong) (n_steps)),
                 n_steps);
    return FALSE;
  }
  self->run->calls = lig_device_calls (device);
  self->run->device = lig_device_handle (device);
  for (int lane = 0; lane < LIG_N_LANES; lane++)
    self->run->lanes[lane].stream = lig_device_lane (device, (LigLane) lane);
  self->run->wait = g_getenv ("LIGATURE_SYNC") != NULL;
  self->run->waiting = self->waiting;
  n_operands = 0;
  for (int i = 0; i < n_steps; i++) {
    bind_step (self, i, self->run->operands + n_operands);
    n_operands += lig_plan_step (self->plan, i)->n_operands;
  }
  return TRUE;
}

/* Creates the event of each step that another one awaits. */
static LigStatus
make_step_events (LigProgram *self)
{
  LigSteps *run = self->run;
  LigStatus status = LIG_OK;
  for (int i = 0; i < run->n_steps && status == LIG_OK; i++) {
    int on = lig_plan_step (self->plan, i)->awaits;
    if (on >= 0 && !run->steps[on].ended)
      status = run->calls->event_new (run->device, &run->steps[on].ended);
  }
  return status;
}

/* Creates the events of the branch and of the results, and the host memory for results. */
static gboolean
make_events (LigProgram *self, GError **error)
{
  LigDevice *device = self->device;
  const LigBackend *calls = self->run->calls;
  LigBackendDevice *handle = self->run->device;
  void *results = NULL;
  LigStatus status =
    calls->allocate_host (handle, LIG_PROGRAM_RESULT_SLOTS * sizeof (LigProgramResult), &results);
  self->results = results;
  for (int i = 0; i < LIG_PROGRAM_RESULT_SLOTS && status == LIG_OK; i++)
    status = calls->event_new (handle, &self->arrived[i]);
  if (status == LIG_OK)
    status = calls->event_new (handle, &self->run->begun);
  for (int lane = LIG_LANE_SIDE; lane < LIG_N_LANES && status == LIG_OK; lane++)
    status = calls->event_new (handle, &self->run->lanes[lane].ended);
  if (status == LIG_OK)
    status = make_step_events (self);
  return lig_device_check (device, status, _ ("binding a program"), error);
}

/* Launched after the steps that run; the host does not wait. */
gboolean
lig_program_preset_gradient (LigProgram *self, int value, GError **error)
{
  const LigPlan *plan = self->plan;
  const LigPlanValue *of = lig_plan_value (plan, value);
  const LigSteps *run = self->run;
  float one = 1;
  guint8 narrow[4];
  void *memory = lig_program_address (self, value);
  LigStatus status =
    run->calls->fill (run->device, memory, 0, (gsize) of->bytes, run->lanes[LIG_LANE_MAIN].stream);
  if (status == LIG_OK && plan->ends.output_gradient == value && of->shape.n_axes == 0) {
    lig_narrow (of->dtype, &one, narrow, 1);
    status = run->calls->put (run->device, memory, narrow, lig_dtype_size (of->dtype),
                              run->lanes[LIG_LANE_MAIN].stream);
  }
  return lig_device_check (plan->request->device, status, _ ("clearing a gradient"), error);
}

/* Gradients that the caller does not set are zero, except a loss's own, which is 1. */
static gboolean
preset_gradients (LigProgram *self, GError **error)
{
  self->output_gradients = g_array_new (FALSE, TRUE, sizeof (LigOutputGradient));
  for (int i = 0; i < (int) self->plan->values->len; i++) {
    const LigPlanValue *value = lig_plan_value (self->plan, i);
    LigOutputGradient gradient = {.value = i};
    if (value->role != LIG_VALUE_GIVEN || value->offset < 0)
      continue;
    g_array_append_val (self->output_gradients, gradient);
    if (!lig_program_preset_gradient (self, i, error))
      return FALSE;
  }
  return TRUE;
}

/* Records the inputs that must be set before anything runs. */
static void
await_inputs (LigProgram *self)
{
  const LigPlan *plan = self->plan;
  self->awaited = g_hash_table_new (NULL, NULL);
  g_hash_table_add (self->awaited, GINT_TO_POINTER (plan->ends.input + 1));
  for (guint i = 0; i < plan->ends.extra_inputs->len; i++)
    g_hash_table_add (self->awaited,
                      GINT_TO_POINTER (g_array_index (plan->ends.extra_inputs, int, i) + 1));
}

gboolean
lig_program_bind (LigProgram *self, GError **error)
{
  LigDevice *device = self->device;
  if (!allocate (self, error) || !bind_steps (self, error) || !make_events (self, error))
    return FALSE;
  self->feeds = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lig_feed_free);
  await_inputs (self);
  if (g_getenv ("LIGATURE_POISON") &&
      !lig_device_check (device,
                         self->run->calls->fill (self->run->device, self->arena, 0xff,
                                                 (gsize) self->plan->arena_bytes,
                                                 lig_device_stream (self->device)),
                         _ ("poisoning"), error))
    return FALSE;
  if (!preset_gradients (self, error))
    return FALSE;
  self->sent = self->now = (LigTick){.seed = lig_state_get_seed (self->state), .step = 1};
  return lig_device_upload (device, self->tick, &self->now, sizeof self->now, error);
}

gboolean
lig_program_replace (LigProgram *self, int value, const void *data, gsize bytes, GError **error)
{
  const int root = lig_plan_root (self->plan, value);
  const LigPlanValue *of = lig_plan_value (self->plan, value);
  LigOperand *operands = self->run->operands;
  char *memory = lig_device_allocate (self->device, MAX (bytes, 1), error);
  if (!memory)
    return FALSE;
  if (!self->replaced)
    self->replaced = g_ptr_array_new ();
  g_ptr_array_add (self->replaced, memory);
  for (int i = 0; i < (int) self->plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (self->plan, i);
    for (int j = 0; j < step->n_inputs; j++) {
      int from = step->operands[j].value;
      const LigPlanValue *other = from < 0 ? NULL : lig_plan_value (self->plan, from);
      if (other && lig_plan_root (self->plan, from) == root && other->bytes == of->bytes &&
          other->alias_offset == of->alias_offset)
        operands[j].data = memory;
    }
    operands += step->n_operands;
  }
  return lig_device_upload (self->device, memory, data, bytes, error);
}

static void
free_events (LigProgram *self)
{
  const LigBackend *calls = self->run->calls;
  LigBackendDevice *handle = self->run->device;
  if (self->results)
    calls->release_host (handle, self->results);
  if (self->numbers)
    calls->release_host (handle, self->numbers);
  g_clear_pointer (&self->watched, g_array_unref);
  for (int i = 0; i < LIG_PROGRAM_RESULT_SLOTS; i++)
    if (self->arrived[i])
      calls->event_free (handle, self->arrived[i]);
  if (self->run->begun)
    calls->event_free (handle, self->run->begun);
  for (int i = 0; i < self->run->n_steps; i++)
    if (self->run->steps[i].ended)
      calls->event_free (handle, self->run->steps[i].ended);
  for (int lane = LIG_LANE_SIDE; lane < LIG_N_LANES; lane++)
    if (self->run->lanes[lane].ended)
      calls->event_free (handle, self->run->lanes[lane].ended);
}

static void
forget_captures (LigProgram *self)
{
  for (guint i = 0; self->captures && i < self->captures->len; i++) {
    LigCapture *capture = &g_array_index (self->captures, LigCapture, i);
    if (capture->graph)
      self->run->calls->graph_free (self->run->device, capture->graph);
  }
  g_clear_pointer (&self->captures, g_array_unref);
}

void
lig_program_unbind (LigProgram *self)
{
  LigDevice *device = self->device;
  if (self->run) {
    /* Steps that are still running use the memory. */
    self->run->calls->wait (self->run->device, lig_device_stream (self->device));
    forget_captures (self);
    free_events (self);
  }
  g_clear_pointer (&self->feeds, g_hash_table_unref);
  g_clear_pointer (&self->awaited, g_hash_table_unref);
  g_clear_pointer (&self->output_gradients, g_array_unref);
  g_clear_pointer (&self->run, lig_steps_free);
  lig_device_release (device, self->arena);
  lig_device_release (device, self->tick);
  lig_device_release (device, self->waiting);
  lig_device_release (device, self->waits);
  for (guint i = 0; self->replaced && i < self->replaced->len; i++)
    lig_device_release (device, self->replaced->pdata[i]);
  g_clear_pointer (&self->replaced, g_ptr_array_unref);
  for (int lane = 0; lane < LIG_N_LANES; lane++)
    lig_device_release (device, self->workspaces[lane]);
}
