/* SPDX-License-Identifier: MIT */
/* States: flat arrays of all parameters, of their gradients and of what the optimizer keeps. */
#include "engine/state.h"

#include "engine/private/plan.h"
#include "kernels/formulas.h"

#include <string.h>

struct _LigState {
  GObject parent_instance;
  LigDevice *device;
  guint64 seed, micro_step, step;
  LigDtype dtype;
  GArray *parameters; /* of Parameter, in op order */
  GPtrArray *paths;   /* null-terminated */
  gint64 elements;
  char *arrays[LIG_N_STATE_ARRAYS]; /* device memory */
  GHashTable *plans;                /* key -> LigPlan */
  guint compiled;
};

typedef struct {
  char *path;
  LigShape shape;
  gint64 offset, size;
} Parameter;

G_DEFINE_FINAL_TYPE (LigState, lig_state, G_TYPE_OBJECT)

static void
lig_state_finalize (GObject *object)
{
  LigState *self = LIG_STATE (object);
  g_clear_pointer (&self->plans, g_hash_table_unref);
  for (int i = 0; i < LIG_N_STATE_ARRAYS; i++)
    if (self->arrays[i])
      lig_device_release (self->device, self->arrays[i]);
  g_clear_pointer (&self->parameters, g_array_unref);
  g_clear_pointer (&self->paths, g_ptr_array_unref);
  g_clear_object (&self->device);
  G_OBJECT_CLASS (lig_state_parent_class)->finalize (object);
}

static void
lig_state_class_init (LigStateClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_state_finalize;
}

static void
clear_parameter (gpointer data)
{
  g_free (((Parameter *) data)->path);
}

static void
lig_state_init (LigState *self)
{
  self->parameters = g_array_new (FALSE, FALSE, sizeof (Parameter));
  g_array_set_clear_func (self->parameters, clear_parameter);
  self->paths = g_ptr_array_new ();
  self->plans =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) lig_plan_unref);
}

static LigDtype
array_dtype (LigState *self, LigStateArray array)
{
  return array <= LIG_STATE_GRADIENTS ? self->dtype : LIG_FP32;
}

/* fp32 master weights begin as the parameters. */
static gboolean
fill_master (LigState *self, GError **error)
{
  enum { PIECE = 1 << 20 };
  g_autofree float *piece = g_new (float, PIECE);
  g_autofree guint8 *stored = g_malloc (PIECE * sizeof (float));
  gsize size = lig_dtype_size (self->dtype);
  for (gint64 at = 0; at < self->elements; at += PIECE) {
    gsize count = (gsize) MIN ((gint64) PIECE, self->elements - at);
    if (!lig_device_download (self->device, stored,
                              self->arrays[LIG_STATE_PARAMETERS] + (gsize) at * size, count * size,
                              error))
      return FALSE;
    lig_widen (self->dtype, stored, piece, count);
    if (!lig_device_upload (self->device,
                            self->arrays[LIG_STATE_MASTER] + (gsize) at * sizeof (float), piece,
                            count * sizeof (float), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
ensure_array (LigState *self, LigStateArray array, GError **error)
{
  gsize size = lig_dtype_size (array_dtype (self, array));
  gsize bytes = (gsize) self->elements * size;
  if (self->arrays[array] || self->elements == 0)
    return TRUE;
  self->arrays[array] = lig_device_allocate (self->device, bytes, error);
  if (!self->arrays[array]) {
    g_prefix_error (
      error, "%s: ", array == LIG_STATE_PARAMETERS ? "parameters" : "optimizer and gradients");
    return FALSE;
  }
  const LigBackend *calls = lig_device_calls (self->device);
  LigStatus status = calls->fill (lig_device_handle (self->device), self->arrays[array], 0, bytes,
                                  lig_device_stream (self->device));
  return lig_device_check (self->device, status, "clearing memory", error) &&
         (array != LIG_STATE_MASTER || fill_master (self, error));
}

void *
lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error)
{
  if (!ensure_array (self, array, error))
    return NULL;
  return self->arrays[array] + (gsize) element * lig_dtype_size (array_dtype (self, array));
}

/* Philox keyed by the seed and the path, so that a parameter's values do not depend on its place
 * in the sequence's memory nor on the device. */
static void
draw_normal (guint64 seed, const char *path, float deviation, float *values, gint64 count)
{
  guint64 hash = G_GUINT64_CONSTANT (14695981039346656037);
  for (const char *at = path; *at; at++)
    hash = (hash ^ (guchar) *at) * G_GUINT64_CONSTANT (1099511628211);
#pragma omp parallel for schedule(static) if (count > 65536)
  for (gint64 i = 0; i < count; i += 4) {
    uint32_t word[4] = {(uint32_t) (i / 4), (uint32_t) ((guint64) i / 4 >> 32), (uint32_t) hash,
                        (uint32_t) (hash >> 32)};
    float normal[4];
    lig_philox (word, seed);
    lig_normal_pair (word[0], word[1], &normal[0], &normal[1]);
    lig_normal_pair (word[2], word[3], &normal[2], &normal[3]);
    for (gint64 j = 0; j < 4 && i + j < count; j++)
      values[i + j] = deviation * normal[j];
  }
}

static gboolean
initialize (LigState *self, const LigDraftParameter *from, const Parameter *to, GError **error)
{
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &from->shape, error);
  if (!tensor)
    return FALSE;
  float *values = tensor->data;
  if (from->init == LIG_INIT_NORMAL)
    draw_normal (self->seed, from->path, from->deviation, values, tensor->size);
  for (gint64 i = 0; from->init == LIG_INIT_ONES && i < tensor->size; i++)
    values[i] = 1;
  return lig_state_set (self, LIG_STATE_PARAMETERS, to->path, tensor, error);
}

static gboolean
take_parameters (LigState *self, const LigDraft *draft, GError **error)
{
  self->dtype = draft->parameter_dtype;
  self->elements = draft->elements;
  for (guint i = 0; i < draft->parameters->len; i++) {
    const LigDraftParameter *from = &g_array_index (draft->parameters, LigDraftParameter, i);
    Parameter parameter = {g_strdup (from->path), from->shape, from->offset,
                           lig_shape_size (&from->shape)};
    g_array_append_val (self->parameters, parameter);
    g_ptr_array_add (self->paths, parameter.path);
  }
  g_ptr_array_add (self->paths, NULL);
  /* Before anything is drawn: what does not fit the device would not fit the host either. */
  if (!ensure_array (self, LIG_STATE_PARAMETERS, error))
    return FALSE;
  for (guint i = 0; i < draft->parameters->len; i++)
    if (!initialize (self, &g_array_index (draft->parameters, LigDraftParameter, i),
                     &g_array_index (self->parameters, Parameter, i), error))
      return FALSE;
  return TRUE;
}

LigState *
lig_state_new (LigSequence *sequence,
               LigDevice *device,
               const LigPlanOptions *options,
               guint64 seed,
               GError **error)
{
  g_autoptr (LigState) self = g_object_new (LIG_TYPE_STATE, NULL);
  g_autoptr (LigDraft) draft = lig_draft_new (sequence, device, options, error);
  self->device = g_object_ref (device);
  self->seed = seed;
  if (!draft || !lig_expand (draft, error) || !lig_infer (draft, error) ||
      !take_parameters (self, draft, error))
    return NULL;
  return g_steal_pointer (&self);
}

LigDevice *
lig_state_get_device (LigState *self)
{
  return self->device;
}

guint64
lig_state_get_seed (LigState *self)
{
  return self->seed;
}

guint64
lig_state_get_micro_step (LigState *self)
{
  return self->micro_step;
}

guint64
lig_state_get_step (LigState *self)
{
  return self->step;
}

void
lig_state_set_steps (LigState *self, guint64 micro_step, guint64 step)
{
  self->micro_step = micro_step;
  self->step = step;
}

const char *const *
lig_state_get_paths (LigState *self)
{
  return (const char *const *) self->paths->pdata;
}

gint64
lig_state_get_n_elements (LigState *self)
{
  gint64 total = 0;
  for (guint i = 0; i < self->parameters->len; i++)
    total += g_array_index (self->parameters, Parameter, i).size;
  return total;
}

static const Parameter *
find (LigState *self, const char *path, GError **error)
{
  for (guint i = 0; i < self->parameters->len; i++)
    if (g_str_equal (g_array_index (self->parameters, Parameter, i).path, path))
      return &g_array_index (self->parameters, Parameter, i);
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, "no parameter is called '%s'", path);
  return NULL;
}

LigTensor *
lig_state_get (LigState *self, LigStateArray array, const char *path, GError **error)
{
  const Parameter *parameter = find (self, path, error);
  LigDtype dtype = array_dtype (self, array);
  if (!parameter)
    return NULL;
  if (!self->arrays[array]) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, "the state keeps no such array of '%s' yet",
                 path);
    return NULL;
  }
  LigTensor *tensor = lig_tensor_new (dtype, &parameter->shape, error);
  if (tensor &&
      lig_device_download (self->device, tensor->data,
                           self->arrays[array] + (gsize) parameter->offset * lig_dtype_size (dtype),
                           lig_tensor_bytes (tensor), error))
    return tensor;
  g_clear_pointer (&tensor, lig_tensor_unref);
  return NULL;
}

gboolean
lig_state_set (
  LigState *self, LigStateArray array, const char *path, LigTensor *tensor, GError **error)
{
  const Parameter *parameter = find (self, path, error);
  LigDtype dtype = array_dtype (self, array);
  if (!parameter)
    return FALSE;
  if (!lig_shape_equal (&parameter->shape, &tensor->shape)) {
    g_autofree char *observed = lig_shape_to_string (&tensor->shape);
    g_autofree char *expected = lig_shape_to_string (&parameter->shape);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, "%s is %s, expected %s", path, observed,
                 expected);
    return FALSE;
  }
  g_autoptr (LigTensor) converted = lig_tensor_convert (tensor, dtype, error);
  if (!converted || !ensure_array (self, array, error))
    return FALSE;
  if (!lig_device_upload (self->device,
                          self->arrays[array] + (gsize) parameter->offset * lig_dtype_size (dtype),
                          converted->data, lig_tensor_bytes (converted), error))
    return FALSE;
  /* The weights behind 16-bit parameters keep what the caller's type said. */
  if (array == LIG_STATE_PARAMETERS && self->arrays[LIG_STATE_MASTER])
    return lig_state_set (self, LIG_STATE_MASTER, path, tensor, error);
  return TRUE;
}

/* Everything that a plan depends on, in words. */
static char *
plan_key (LigSequence *sequence, const LigPlanOptions *options)
{
  g_autoptr (GString) key = g_string_new (NULL);
  g_string_printf (
    key, "%p %" G_GUINT64_FORMAT " %d%d%d%d policy %d types %d %d batch %" G_GINT64_FORMAT,
    (void *) sequence, lig_sequence_get_version (sequence), options->training,
    options->input_gradient, options->tf32, options->accuracy, options->policy, options->compute,
    options->parameters, options->batch);
  if (options->optimizer) {
    const LigOptimizer *optimizer = options->optimizer;
    g_string_append_printf (key, " optimizer %d %a %a %a %a %a %a", optimizer->kind,
                            (double) optimizer->sgd.momentum, (double) optimizer->sgd.weight_decay,
                            (double) optimizer->adamw.beta1, (double) optimizer->adamw.beta2,
                            (double) optimizer->adamw.eps, (double) optimizer->adamw.weight_decay);
  }
  if (options->choices)
    g_string_append_printf (key, " choices %s", options->choices);
  return g_strdup (key->str);
}

/* A plan fits where each of its parameters is here, in the same place. */
static gboolean
check_fit (LigState *self, const LigDraft *draft, GError **error)
{
  gboolean fits = draft->parameters->len == self->parameters->len &&
                  draft->elements == self->elements && draft->parameter_dtype == self->dtype;
  for (guint i = 0; i < draft->parameters->len && fits; i++) {
    const LigDraftParameter *wanted = &g_array_index (draft->parameters, LigDraftParameter, i);
    const Parameter *here = &g_array_index (self->parameters, Parameter, i);
    if (!g_str_equal (wanted->path, here->path) ||
        !lig_shape_equal (&wanted->shape, &here->shape)) {
      g_autofree char *observed = lig_shape_to_string (&here->shape);
      g_autofree char *expected = lig_shape_to_string (&wanted->shape);
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   "the state has %s %s where the plan needs %s %s", here->path, observed,
                   wanted->path, expected);
      return FALSE;
    }
  }
  if (!fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 "the state has %u parameter%s in %s, the plan needs %u in %s",
                 self->parameters->len, LIG_ENDING (self->parameters->len),
                 lig_dtype_name (self->dtype), draft->parameters->len,
                 lig_dtype_name (draft->parameter_dtype));
  return fits;
}

/* Versions only grow, so what was compiled before an edit is never asked for again. */
static gboolean
is_outdated (gpointer key, gpointer plan, gpointer sequence)
{
  return ((LigPlan *) plan)->draft->sequence == sequence &&
         ((LigPlan *) plan)->version != lig_sequence_get_version (sequence);
}

LigPlan *
lig_state_plan (LigState *self,
                LigSequence *sequence,
                const LigPlanOptions *options,
                GError **error)
{
  g_autofree char *key = plan_key (sequence, options);
  LigPlan *known = g_hash_table_lookup (self->plans, key);
  if (known)
    return known;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, self->device, options, error);
  if (!plan || !check_fit (self, plan->draft, error) || !lig_plan_bind (plan, self, error))
    return NULL;
  self->compiled++;
  g_hash_table_foreach_remove (self->plans, is_outdated, sequence);
  known = g_steal_pointer (&plan);
  g_hash_table_insert (self->plans, g_steal_pointer (&key), known);
  return known;
}

guint
lig_state_get_n_compiled (LigState *self)
{
  return self->compiled;
}
