/* SPDX-License-Identifier: MIT */
/* States: flat arrays of all parameters, of their gradients and of the optimizer state. */
#include "engine/compile/inferred.h"
#include "engine/plan/plan-private.h"
#include "engine/sequence/sequence-private.h"
#include "engine/state/shares.h"
#include "engine/state/struct.h"
#include "kernels/formulas.h"
#include <ligature/compile.h>
#include <ligature/loss-scaling.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (LigState, lig_state, G_TYPE_OBJECT)

static void
lig_state_finalize (GObject *object)
{
  LigState *self = LIG_STATE (object);
  g_clear_pointer (&self->plans, g_hash_table_unref);
  for (int i = 0; i < LIG_MAX_STATE_ARRAYS; i++)
    if (self->arrays[i])
      lig_device_release (self->device, self->arrays[i]);
  if (self->scaling)
    lig_device_release (self->device, self->scaling);
  g_clear_pointer (&self->quantizers, lig_state_quantizers_free);
  g_clear_pointer (&self->traits, g_array_unref);
  g_clear_pointer (&self->layout, lig_state_layout_free);
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
lig_state_init (LigState *self)
{
  self->paths = g_ptr_array_new ();
  self->version = 1;
  self->plans =
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) lig_plan_unref);
}

guint64
lig_state_get_version (LigState *self)
{
  return self->version;
}

void
lig_state_touch (LigState *self)
{
  self->version++;
}

/* Samples with Philox keyed by the seed and the path, so that a parameter's values depend neither
 * on its position in the sequence nor on the device. */
static void
draw_normal (guint64 seed, const char *path, float std, float *values, gint64 count)
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
      values[i + j] = std * normal[j];
  }
}

static gboolean
initialize (LigState *self, const LigParameter *from, GError **error)
{
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &from->whole, error);
  if (!tensor)
    return FALSE;
  float *values = tensor->data;
  if (from->init == LIG_INIT_NORMAL)
    draw_normal (self->seed, from->path, from->std, values, tensor->size);
  for (gint64 i = 0; from->init == LIG_INIT_ONES && i < tensor->size; i++)
    values[i] = 1;
  return lig_state_set (self, LIG_STATE_PARAMETERS, from->path, tensor, error);
}

/* Allocates and initializes the arrays of parameters. */
static gboolean
make_parameters (LigState *self, GError **error)
{
  const GArray *parameters = self->layout->parameters;
  for (guint i = 0; i < parameters->len; i++)
    g_ptr_array_add (self->paths, g_array_index (parameters, LigParameter, i).path);
  g_ptr_array_add (self->paths, NULL);
  /* Allocates before sampling: values that do not fit the device would not fit the host either. */
  if (!lig_state_ensure_array (self, LIG_STATE_PARAMETERS, error) ||
      (lig_state_hides (self) && !lig_state_ensure_array (self, LIG_STATE_MASTER, error)))
    return FALSE;
  for (guint i = 0; i < parameters->len; i++)
    if (!initialize (self, &g_array_index (parameters, LigParameter, i), error))
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
  LigInferred inferred;
  if (!lig_inferred_init (&inferred, sequence, device, options, error))
    return NULL;
  g_autoptr (LigState) self = g_object_new (LIG_TYPE_STATE, NULL);
  self->device = g_object_ref (device);
  self->seed = seed;
  self->gradient_dtype = inferred.gradient_dtype;
  self->traits = lig_ops_list_traits (inferred.ops);
  self->layout = g_steal_pointer (&inferred.layout);
  lig_inferred_clear (&inferred);
  self->quantizers = lig_state_quantizers_new (self->layout, device);
  return make_parameters (self, error) ? g_steal_pointer (&self) : NULL;
}

LigStateQuantizers *
lig_state_get_quantizers (LigState *self)
{
  return self->quantizers;
}

const GArray *
lig_state_get_traits (LigState *self)
{
  return self->traits;
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
  for (guint i = 0; i < self->layout->parameters->len; i++)
    total += lig_shape_size (&g_array_index (self->layout->parameters, LigParameter, i).shape);
  return total;
}

gboolean
lig_state_get_shape (LigState *self, const char *path, LigShape *shape, GError **error)
{
  const LigParameter *parameter = lig_state_find (self, path, error);
  if (parameter)
    *shape = parameter->whole;
  return parameter != NULL;
}

gboolean
lig_state_is_trained (LigState *self, const char *path)
{
  const LigParameter *parameter = lig_state_find (self, path, NULL);
  return parameter && parameter->trained;
}

/* Checks the type of the gradients, which the first plan with gradients chooses. */
static gboolean
fit_gradients (LigState *self, const LigRequest *request, GError **error)
{
  if (!request->options.training || request->gradient_dtype == self->gradient_dtype)
    return TRUE;
  if (self->arrays[LIG_STATE_GRADIENTS]) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("the state keeps gradients in %s, the plan needs %s; the option accumulate "
                    "must be the same in all its plans"),
                 lig_dtype_name (self->gradient_dtype), lig_dtype_name (request->gradient_dtype));
    return FALSE;
  }
  self->gradient_dtype = request->gradient_dtype;
  return TRUE;
}

/* Checks that the shares of a state and a plan are equal: they depend on the bucket size. */
static gboolean
compare_shares (LigState *self, const LigStateLayout *wanted, GError **error)
{
  gboolean same = self->layout->shares->len == wanted->shares->len;
  for (guint i = 0; same && i < wanted->shares->len; i++) {
    const LigShare *a = &g_array_index (self->layout->shares, LigShare, i);
    const LigShare *b = &g_array_index (wanted->shares, LigShare, i);
    same = a->own.first == b->own.first && a->own.end == b->own.end && a->kept == b->kept;
  }
  if (same)
    return TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_VALUE,
    _ ("the state shards the optimizer state in %u ranges, the plan in %u others; set the plan "
       "option bucket_bytes to that of the state's options"),
    self->layout->shares->len, wanted->shares->len);
  return lig_error_set_setting (error, "bucket-size");
}

/* Checks that the state and the plan shard the optimizer state over the same ranks. */
static gboolean
check_shares (LigState *self, const LigStateLayout *wanted, GError **error)
{
  int ranks = lig_device_get_n_ranks (self->device, lig_device_get_replicas (self->device));
  if ((self->layout->shares->len > 0) == (wanted->shares->len > 0))
    return compare_shares (self, wanted, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               self->layout->shares->len > 0
                 ? _ ("the state has the optimizer state for 1/%d of the parameters, the plan "
                      "needs all; set the plan option shard-optimizer")
                 : _ ("the state has the optimizer state for all parameters, the plan needs "
                      "1/%d; omit the plan option shard-optimizer"),
               ranks);
  return FALSE;
}

/* Checks that the state has each parameter of the plan at the same offset. */
static gboolean
check_parameters (LigState *self, const LigStateLayout *wanted, GError **error)
{
  gboolean fits = wanted->parameters->len == self->layout->parameters->len &&
                  wanted->all_elements == self->layout->all_elements &&
                  wanted->dtype == self->layout->dtype;
  for (guint i = 0; i < wanted->parameters->len && fits; i++) {
    const LigParameter *other = &g_array_index (wanted->parameters, LigParameter, i);
    const LigParameter *here = &g_array_index (self->layout->parameters, LigParameter, i);
    if (!g_str_equal (other->path, here->path) || !lig_shape_equal (&other->shape, &here->shape)) {
      g_autofree char *observed = lig_shape_to_string (&here->shape);
      g_autofree char *expected = lig_shape_to_string (&other->shape);
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("the state has %s %s where the plan needs %s %s"), here->path, observed,
                   other->path, expected);
      return FALSE;
    }
    if ((other->stored < 0) != (here->stored < 0)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                   other->stored < 0
                     ? _ ("%s is kept in %s in the state, but in fp8 in the plan; use the same "
                          "types and recipe for both")
                     : _ ("%s is kept in fp8 in the state, but in %s in the plan; use the same "
                          "types and recipe for both"),
                   here->path, lig_dtype_name (self->layout->dtype));
      return FALSE;
    }
    if (other->trained != here->trained) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   other->trained ? _ ("%s is frozen in the state, but the plan trains it")
                                  : _ ("%s is frozen in the plan, but the state trains it"),
                   here->path);
      return FALSE;
    }
  }
  if (!fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "the state has %u parameter in %s, the plan needs %u in %s",
                              "the state has %u parameters in %s, the plan needs %u in %s",
                              (gulong) (self->layout->parameters->len)),
                 self->layout->parameters->len, lig_dtype_name (self->layout->dtype),
                 wanted->parameters->len, lig_dtype_name (wanted->dtype));
  return fits;
}

static gboolean
check_fit (LigState *self, const LigStateLayout *wanted, GError **error)
{
  return check_shares (self, wanted, error) && check_parameters (self, wanted, error) &&
         lig_state_quantizers_fit (self->quantizers, wanted, error);
}

gboolean
lig_state_check_plan (LigState *self, LigPlan *plan, GError **error)
{
  const char *wanted = lig_device_get_name (plan->request->device);
  const char *here = lig_device_get_name (self->device);
  if (g_str_equal (wanted, here))
    return check_fit (self, plan->layout, error) && fit_gradients (self, plan->request, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
               _ ("the plan is for %s, the state is on %s; compile for the state's device"), wanted,
               here);
  return FALSE;
}

gboolean
lig_state_keeps_plan (LigState *self, LigPlan *plan)
{
  GHashTableIter iter;
  gpointer kept;
  g_hash_table_iter_init (&iter, self->plans);
  while (g_hash_table_iter_next (&iter, NULL, &kept))
    if (kept == plan)
      return TRUE;
  return FALSE;
}

/* Returns whether a plan was compiled before an edit. Versions only grow, so it is not requested
 * again. */
static gboolean
is_outdated (gpointer key, gpointer plan, gpointer sequence)
{
  const LigRequest *request = ((LigPlan *) plan)->request;
  return request->serial == lig_sequence_get_serial (sequence) &&
         request->version != lig_sequence_get_version (sequence);
}

LigPlan *
lig_state_plan (LigState *self,
                LigSequence *sequence,
                const LigPlanOptions *options,
                GError **error)
{
  LigPlanOptions whole;
  if (!lig_plan_options_read (options, &whole, error))
    return NULL;
  options = &whole;
  g_autofree char *key = lig_plan_key (sequence, options);
  LigPlan *known = g_hash_table_lookup (self->plans, key);
  if (known)
    return lig_plan_ref (known);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, self->device, options, error);
  if (!plan || !check_fit (self, plan->layout, error))
    return NULL;
  self->compiled++;
  g_hash_table_foreach_remove (self->plans, is_outdated, sequence);
  g_hash_table_insert (self->plans, g_steal_pointer (&key), lig_plan_ref (plan));
  return g_steal_pointer (&plan);
}

guint
lig_state_get_n_compiled (LigState *self)
{
  return self->compiled;
}
