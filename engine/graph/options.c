/* SPDX-License-Identifier: MIT */
/* The options of plans, the names of policies and the default one of a device. */
#include "engine/base/json-private.h"
#include "engine/base/layout.h"
#include "engine/graph/graph.h"
#include "engine/sequence/table.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

static const char *const names[] = {"none", "all", "measured"};
static const char *const levels[] = {"none", "cheap", "all"};

/* Finds a name in a list; sets its number. */
static gboolean
find_name (const char *const *list, guint count, const char *name, guint *number)
{
  for (guint i = 0; i < count; i++)
    if (g_str_equal (name, list[i])) {
      *number = i;
      return TRUE;
    }
  return FALSE;
}

const char *
lig_policy_name (LigPolicy policy)
{
  return policy < G_N_ELEMENTS (names) ? names[policy] : "default";
}

gboolean
lig_policy_from_name (const char *name, LigPolicy *policy)
{
  guint number;
  if (!find_name (names, G_N_ELEMENTS (names), name, &number))
    return FALSE;
  *policy = (LigPolicy) number;
  return TRUE;
}

const char *
lig_recompute_name (LigRecompute recompute)
{
  return recompute < G_N_ELEMENTS (levels) ? levels[recompute] : "default";
}

gboolean
lig_recompute_from_name (const char *name, LigRecompute *recompute)
{
  guint number;
  if (!find_name (levels, G_N_ELEMENTS (levels), name, &number))
    return FALSE;
  *recompute = (LigRecompute) number;
  return TRUE;
}

/* Sets the level that the sequence's `train` object names. */
static gboolean
read_recompute (const char *train, LigRecompute *level, GError **error)
{
  g_autoptr (JsonNode) root = lig_json_read (train, strlen (train), NULL, error);
  if (!root)
    return FALSE;
  JsonNode *node = JSON_NODE_HOLDS_OBJECT (root)
                     ? json_object_get_member (json_node_get_object (root), "recompute")
                     : NULL;
  gboolean text =
    node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
  if (!node || (text && lig_recompute_from_name (json_node_get_string (node), level)))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("recompute is '%.60s', expected none, cheap or all"),
               text ? json_node_get_string (node) : _ ("no text"));
  return lig_error_set_setting (error, "recompute");
}

gboolean
lig_recompute_resolve (LigSequence *sequence, LigRecompute *level, GError **error)
{
  if (*level < LIG_RECOMPUTE_DEFAULT)
    return TRUE;
  const char *train = lig_sequence_get_train (sequence);
  *level = LIG_RECOMPUTE_NONE;
  return !train || read_recompute (train, level, error);
}

LigPolicy
lig_policy_for (LigPolicy policy, LigDevice *device)
{
  if (policy != LIG_POLICY_DEFAULT)
    return policy;
  return lig_device_has (device, LIG_DEVICE_MEASURES) || lig_device_get_facts (device)->costs.known
           ? LIG_POLICY_MEASURED
           : LIG_POLICY_ALL;
}

static gboolean
check_choices (const LigPlanOptions *options, GError **error)
{
  const struct {
    const char *name;
    gint64 value, min, max;
  } numbers[] = {
    {"policy", options->policy, 0, LIG_POLICY_DEFAULT},
    {"recompute", options->recompute, 0, LIG_RECOMPUTE_DEFAULT},
    {"batch", options->batch, 0, G_MAXINT32},
    {"compute", options->compute, -1, LIG_N_DTYPES - 1},
    {"parameters", options->parameters, -1, LIG_N_DTYPES - 1},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].value < numbers[i].min || numbers[i].value > numbers[i].max) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s of the plan options is %" PRId64 ", expected %" PRId64 " to %" PRId64),
                   numbers[i].name, numbers[i].value, numbers[i].min, numbers[i].max);
      return FALSE;
    }
  return TRUE;
}

/* A plan with a cache computes only the forward pass, before the loss. */
static gboolean
check_cache (LigPlanOptions *options, GError **error)
{
  const LigCacheShape *cache = &options->cache;
  const struct {
    const char *name;
    gint64 value, min, max;
  } numbers[] = {
    {"rows", cache->rows, 1, 4096},        {"step", cache->step, 1, G_MAXINT32},
    {"length", cache->length, 1, 1 << 30}, {"slots", cache->slots, 1, 1 << 20},
    {"chunk", cache->chunk, 0, 1 << 30},   {"memory", cache->memory, 0, 1 << 30},
  };
  if (cache->rows == 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].value < numbers[i].min || numbers[i].value > numbers[i].max) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s of the cache is %" PRId64 ", expected %" PRId64 " to %" PRId64),
                   numbers[i].name, numbers[i].value, numbers[i].min, numbers[i].max);
      return FALSE;
    }
  if (cache->source && (cache->rows != 1 || cache->step > cache->memory)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("a run that reads a source has %" PRId64 " rows and step %" PRId64
                    ", expected 1 and at most the memory, %" PRId64),
                 cache->rows, cache->step, cache->memory);
    return FALSE;
  }
  if (cache->step > cache->length && !cache->source) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_VALUE,
      _ ("step of the cache is %" PRId64 ", its length %" PRId64 "; give a smaller step"),
      cache->step, cache->length);
    return FALSE;
  }
  if (cache->chunk > 0 && cache->step > cache->chunk && !cache->source) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("step of the cache is %" PRId64 ", its chunk %" PRId64 "; give a smaller step"),
                 cache->step, cache->chunk);
    return FALSE;
  }
  if (options->training || options->optimizer || options->calibrating) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("a plan with a cache computes the forward pass only; set training to FALSE"));
    return FALSE;
  }
  options->before_loss = TRUE;
  options->batch = 0;
  return TRUE;
}

gboolean
lig_plan_options_read (const LigPlanOptions *options, LigPlanOptions *whole, GError **error)
{
  *whole = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
  if (!options)
    return TRUE;
  if (!lig_table_check_size ("LigPlanOptions", "it by LIG_PLAN_OPTIONS_INIT", options->size,
                             G_STRUCT_OFFSET (LigPlanOptions, training) + sizeof (gboolean),
                             LIG_ERROR_VALUE, error))
    return FALSE;
  memcpy (whole, options, MIN (options->size, sizeof *whole));
  whole->size = sizeof *whole;
  if (!check_choices (whole, error) || !check_cache (whole, error))
    return FALSE;
  if (whole->bucket_bytes == 0)
    whole->bucket_bytes = LIG_BUCKET_INITIAL;
  if (whole->bucket_bytes >= 1 && whole->bucket_bytes <= LIG_BUCKET_MAX)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the bytes of a bucket of gradients are %" PRId64 ", expected 1 to %" PRId64),
               whole->bucket_bytes, LIG_BUCKET_MAX);
  return lig_error_set_setting (error, "bucket-size");
}

gboolean
lig_plan_options_shard (LigPlanOptions *self,
                        LigSequence *sequence,
                        const LigLayout *layout,
                        GError **error)
{
  LigShape shape;
  LigDtype dtype;
  self->batch = 0;
  if (!lig_layout_check (layout, error))
    return FALSE;
  int ranks = lig_layout_size (layout, LIG_GROUP_DATA);
  if (ranks == 1 || !lig_sequence_has_input (sequence))
    return TRUE;
  lig_sequence_get_input (sequence, &shape, &dtype);
  gint64 rows = shape.n_axes > 0 ? shape.axes[0] : 1;
  if (rows % ranks == 0) {
    self->batch = rows / ranks;
    return TRUE;
  }
  /* Ranks of context-parallel and tensor-parallel groups have the same rows. */
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_SHAPE,
    ranks == lig_layout_size (layout, LIG_GROUP_ALL)
      ? _ ("the batch size is %" PRId64 ", expected a multiple of %d, the number of ranks")
      : _ ("the batch size is %" PRId64 ", expected a multiple of %d, the number of data ranks"),
    rows, ranks);
  return lig_error_set_setting (error, "batch");
}

LigPlanOptions *
lig_plan_options_new (void)
{
  const LigPlanOptions initial = LIG_PLAN_OPTIONS_INIT;
  return g_memdup2 (&initial, sizeof initial);
}

void
lig_plan_options_free (LigPlanOptions *self)
{
  g_free (self);
}

/* Copies options; the program may have been compiled with fewer or more fields. */
static LigPlanOptions *
copy_options (const LigPlanOptions *self)
{
  LigPlanOptions *copy = g_malloc0 (MAX (self->size, sizeof *copy));
  memcpy (copy, self, self->size);
  return copy;
}

G_DEFINE_BOXED_TYPE (LigPlanOptions, lig_plan_options, copy_options, lig_plan_options_free)

/* Checks that a device supports a recipe, which is an op's own or that of the options. A CPU
 * emulates 8-bit recipes. */
gboolean
lig_recipe_check_on (LigDevice *on, const LigRecipe *recipe, gboolean own, GError **error)
{
  const LigDeviceFacts *facts = lig_device_get_facts (on);
  const LigRecipeInfo *info = recipe->info;
  const char *device = lig_device_get_name (on);
  gboolean emulated = facts->capability == 0 && !info->described;
  gboolean computes = facts->capability >= info->capability &&
                      (!info->described || lig_device_has (on, LIG_DEVICE_DESCRIBED));
  if (emulated || computes)
    return TRUE;
  const char *remedy =
    own ? _ ("set its parameter recipe to another one") : _ ("choose another one");
  if (facts->capability == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("recipe %s can only be planned, for GPUs of compute capability %d.%d or "
                    "higher, not for %s; %s"),
                 info->name, info->capability / 10, info->capability % 10, device, remedy);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("recipe %s needs compute capability %d.%d or higher, %s has %d.%d; %s"),
                 info->name, info->capability / 10, info->capability % 10, device,
                 facts->capability / 10, facts->capability % 10, remedy);
  return own ? FALSE : lig_error_set_setting (error, "recipe");
}

gboolean
lig_recipe_check_device (const char *recipe, LigDevice *device, GError **error)
{
  LigRecipe parsed;
  g_return_val_if_fail (recipe && LIG_IS_DEVICE (device), FALSE);
  if (!lig_recipe_parse (&parsed, recipe, error))
    return FALSE;
  return !parsed.info || lig_recipe_check_on (device, &parsed, FALSE, error);
}
