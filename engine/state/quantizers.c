/* SPDX-License-Identifier: MIT */
/* Keeps the scales and histories of quantizers in device memory, and in checkpoints. */
#include "engine/state/quantizers.h"

#include "engine/device/device-private.h"
#include "engine/sequence/recipes.h"
#include "engine/tensor/names.h"
#include "kernels/quantize.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct _LigStateQuantizers {
  LigDevice *device;
  GArray *entries; /* of Entry */
  gint64 elements;
  char *memory; /* null until it is used */
};

typedef struct {
  char *name; /* `1.qkv.input` */
  char *recipe;
  float target; /* the magnitude to which an amax is scaled */
  gint64 offset, length;
} Entry;

/* The tensors of an entry in a file. */
typedef enum { SCALE, HISTORY, TARGET } Kind;

static void
clear_entry (gpointer data)
{
  g_free (((Entry *) data)->name);
  g_free (((Entry *) data)->recipe);
}

static float
target_of (const LigHistory *history)
{
  LigDtype format = lig_recipe_dtype (&history->recipe, history->role);
  return ldexpf (lig_quantize_largest (format), (int) -history->recipe.params.margin);
}

LigStateQuantizers *
lig_state_quantizers_new (const LigStateLayout *layout, LigDevice *device)
{
  if (layout->histories->len == 0)
    return NULL;
  LigStateQuantizers *self = g_new0 (LigStateQuantizers, 1);
  self->device = g_object_ref (device);
  self->elements = layout->history_elements;
  self->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (self->entries, clear_entry);
  for (guint i = 0; i < layout->histories->len; i++) {
    const LigHistory *history = &g_array_index (layout->histories, LigHistory, i);
    Entry entry = {g_strdup_printf ("%s.%s", history->path, lig_matmul_role_name (history->role)),
                   lig_recipe_format (&history->recipe), target_of (history), history->offset,
                   history->length};
    g_array_append_val (self->entries, entry);
  }
  return self;
}

void
lig_state_quantizers_free (LigStateQuantizers *self)
{
  if (self->memory)
    lig_device_release (self->device, self->memory);
  g_array_unref (self->entries);
  g_object_unref (self->device);
  g_free (self);
}

gboolean
lig_state_quantizers_fit (const LigStateQuantizers *self,
                          const LigStateLayout *layout,
                          GError **error)
{
  guint here = self ? self->entries->len : 0, wanted = layout->histories->len;
  for (guint i = 0; i < MIN (here, wanted); i++) {
    const Entry *entry = &g_array_index (self->entries, Entry, i);
    const LigHistory *history = &g_array_index (layout->histories, LigHistory, i);
    g_autofree char *recipe = lig_recipe_format (&history->recipe);
    if (g_str_equal (recipe, entry->recipe))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s is quantized by %s in the plan, by %s in the state"), history->path, recipe,
                 entry->recipe);
    return FALSE;
  }
  /* A plan without a recipe, or with one without histories, does not use those of the state. */
  if (wanted == 0 || here == wanted)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the number of histories is %u in the state and %u in the plan; create the state "
                  "with the same recipe"),
               here, wanted);
  return FALSE;
}

/* Returns (transfer full) the numbers of an untrained state. */
static float *
initial_values (const LigStateQuantizers *self)
{
  float *values = g_new0 (float, (gsize) self->elements);
  for (guint i = 0; i < self->entries->len; i++)
    values[g_array_index (self->entries, Entry, i).offset] = 1;
  return values;
}

static gboolean
upload (LigStateQuantizers *self, const float *values, GError **error)
{
  gsize bytes = (gsize) self->elements * sizeof *values;
  if (!self->memory)
    self->memory = lig_device_allocate (self->device, bytes, error);
  return self->memory && lig_device_upload (self->device, self->memory, values, bytes, error);
}

void *
lig_state_quantizers_address (LigStateQuantizers *self, gint64 offset, GError **error)
{
  if (!self->memory) {
    g_autofree float *values = initial_values (self);
    if (!upload (self, values, error))
      return NULL;
  }
  return self->memory + (gsize) offset * sizeof (float);
}

static char *
tensor_name (const Entry *entry, Kind kind)
{
  static const char *const endings[] = {".scale", ".amax-history", ".amax-target"};
  return g_strconcat (LIG_QUANTIZER_PREFIX, entry->name, endings[kind], NULL);
}

static gint64
tensor_size (const Entry *entry, Kind kind)
{
  return kind == HISTORY ? entry->length - 1 : 1;
}

gboolean
lig_state_quantizers_store (LigStateQuantizers *self, LigTensorFile *file, GError **error)
{
  g_autofree float *values = initial_values (self);
  if (self->memory && !lig_device_download (self->device, values, self->memory,
                                            (gsize) self->elements * sizeof *values, error))
    return FALSE;
  for (guint i = 0; i < self->entries->len; i++) {
    const Entry *entry = &g_array_index (self->entries, Entry, i);
    const float *from[] = {values + entry->offset, values + entry->offset + 1, &entry->target};
    for (Kind kind = SCALE; kind <= TARGET; kind++) {
      LigShape shape;
      lig_shape_init (&shape, 1, tensor_size (entry, kind));
      g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, error);
      if (!tensor)
        return FALSE;
      memcpy (tensor->data, from[kind], (gsize) tensor->size * sizeof *values);
      g_autofree char *name = tensor_name (entry, kind);
      lig_tensor_file_add (file, name, tensor);
    }
  }
  return TRUE;
}

/* Checks the numbers of a tensor: scales, targets and their inverses are positive and finite,
 * amaxes are not negative and may be infinite. */
static gboolean
check_numbers (const char *name, const float *values, gint64 count, Kind kind, GError **error)
{
  for (gint64 i = 0; i < count; i++)
    if (kind == HISTORY ? !(values[i] >= 0)
                        : !(values[i] > 0) || !isfinite (values[i]) || !isfinite (1 / values[i])) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s is %g at %" PRId64 ", expected %s"),
                   name, (double) values[i], i,
                   kind == HISTORY ? _ ("a number from 0")
                                   : _ ("a finite number above 0 that has a finite inverse"));
      return FALSE;
    }
  return TRUE;
}

/* Reads one tensor of the file into `values`. */
static gboolean
read_tensor (const Entry *entry, LigTensorFile *file, Kind kind, float *values, GError **error)
{
  g_autofree char *name = tensor_name (entry, kind);
  gint64 count = tensor_size (entry, kind);
  if (!lig_tensor_file_has (file, name)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s is missing; train with the recipe that the file was trained with"), name);
    return FALSE;
  }
  g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, name, error);
  if (!tensor)
    return FALSE;
  if (tensor->dtype != LIG_FP32 || tensor->size != count) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the length of %s is %" PRId64 " and its type is %s, expected "
                    "%" PRId64 " and fp32"),
                 name, tensor->size, lig_dtype_name (tensor->dtype), count);
    return FALSE;
  }
  memcpy (values, tensor->data, (gsize) count * sizeof *values);
  return check_numbers (name, values, count, kind, error);
}

/* Reads a scale. One of another format or margin, which a file of weights may have, is converted
 * through its amax; 1 is also the scale of a tensor without an amax. */
static gboolean
read_scale (const Entry *entry, LigTensorFile *file, float *scale, GError **error)
{
  g_autofree char *name = tensor_name (entry, TARGET);
  float target = entry->target;
  if (!read_tensor (entry, file, SCALE, scale, error) ||
      /* Files of earlier versions do not contain it. */
      (lig_tensor_file_has (file, name) && !read_tensor (entry, file, TARGET, &target, error)))
    return FALSE;
  float converted = *scale * (entry->target / target);
  if (*scale != 1 && converted > 0 && isfinite (converted) && isfinite (1 / converted))
    *scale = converted;
  return TRUE;
}

/* Fails if the file has scales of operands that the state does not quantize. */
static gboolean
check_surplus (const LigStateQuantizers *self, LigTensorFile *file, GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; self && i < self->entries->len; i++)
    for (Kind kind = SCALE; kind <= TARGET; kind++)
      g_hash_table_add (known, tensor_name (&g_array_index (self->entries, Entry, i), kind));
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++)
    if (g_str_has_prefix (*name, LIG_QUANTIZER_PREFIX) && !g_hash_table_contains (known, *name)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                   _ ("%s is surplus; train with the recipe that the file was trained with"),
                   *name);
      return FALSE;
    }
  return TRUE;
}

gboolean
lig_state_quantizers_load (LigStateQuantizers *self, LigTensorFile *file, GError **error)
{
  if (!check_surplus (self, file, error))
    return FALSE;
  if (!self)
    return TRUE;
  g_autofree float *values = initial_values (self);
  for (guint i = 0; i < self->entries->len; i++) {
    const Entry *entry = &g_array_index (self->entries, Entry, i);
    float *to = values + entry->offset;
    if (!read_scale (entry, file, to, error) || !read_tensor (entry, file, HISTORY, to + 1, error))
      return FALSE;
  }
  return upload (self, values, error);
}

static gboolean
has_any (LigTensorFile *file)
{
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++)
    if (g_str_has_prefix (*name, LIG_QUANTIZER_PREFIX))
      return TRUE;
  return FALSE;
}

gboolean
lig_state_quantizers_load_scales (LigStateQuantizers *self,
                                  LigTensorFile *file,
                                  char **note,
                                  GError **error)
{
  g_autofree float *values = initial_values (self);
  *note = NULL;
  if (!has_any (file)) {
    *note = g_strdup_printf (_ ("it has no scales; %s starts with scales of 1"),
                             g_array_index (self->entries, Entry, 0).recipe);
    return TRUE;
  }
  for (guint i = 0; i < self->entries->len; i++) {
    const Entry *entry = &g_array_index (self->entries, Entry, i);
    if (!read_scale (entry, file, values + entry->offset, error))
      return FALSE;
  }
  return upload (self, values, error);
}
