/* SPDX-License-Identifier: MIT */
/* Reads and writes states in files: parameters by their paths, optimizer state below
 * `optimizer.`. */
#include "engine/sequence/sequence-private.h"
#include "engine/state/struct.h"
#include "engine/tensor/config.h"
#include "engine/tensor/safetensors.h"
#include <ligature/loss-scaling.h>
#include <ligature/state.h>
#include <ligature/weights.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The values that updates keep in addition to the arrays: the fields of a LigScaling that remain
 * valid without gradients. */
#define SCALING LIG_OPTIMIZER_PREFIX "scaling"
enum { SCALE, GOOD, CONSECUTIVE_SKIPPED, SKIPPED, N_FIELDS };

/* Returns (transfer full) (nullable) the tensor's name for array `n` of a parameter's optimizer
 * state, fp32 weights first: `optimizer.moment.1.weight`; null after the last. */
static char *
kept_name (guint n, const char *path)
{
  const char *name = lig_state_array_name ((LigStateArray) (LIG_STATE_MASTER + n));
  return name ? g_strconcat (LIG_OPTIMIZER_PREFIX, name, ".", path, NULL) : NULL;
}

/* Adds the existing arrays of a parameter to the file. */
static gboolean
store_kept (LigState *self, LigTensorFile *file, const char *path, GError **error)
{
  for (guint n = 0;; n++) {
    GError *local = NULL;
    g_autofree char *name = kept_name (n, path);
    if (!name)
      return TRUE;
    g_autoptr (LigTensor) kept =
      lig_state_get_whole (self, (LigStateArray) (LIG_STATE_MASTER + n), path, &local);
    if (kept && file)
      lig_tensor_file_add (file, name, kept);
    /* A frozen parameter has none of the arrays, and other arrays may not exist yet. */
    if (g_error_matches (local, LIG_ERROR, LIG_ERROR_INDEX)) {
      g_clear_error (&local);
    } else if (!kept) {
      g_propagate_error (error, local);
      return FALSE;
    }
  }
}

/* Lists the tensors that are missing, surplus or have wrong shapes. */
static gboolean
check_names (LigState *self, LigTensorFile *file, GError **error)
{
  LigDifferences differences = {0};
  const char *const *paths = lig_state_get_paths (self);
  for (const char *const *path = paths; *path; path++) {
    LigShape shape, own;
    LigDtype dtype;
    if (!lig_state_get_shape (self, *path, &own, error))
      return FALSE;
    if (!lig_tensor_file_get_shape (file, *path, &shape, &dtype)) {
      lig_differences_add (&differences, "%s is missing", *path);
    } else if (!lig_shape_equal (&shape, &own)) {
      g_autofree char *observed = lig_shape_to_string (&shape);
      g_autofree char *expected = lig_shape_to_string (&own);
      lig_differences_add (&differences, "%s is %s, expected %s", *path, observed, expected);
    } else if (!lig_dtype_is_floating (dtype)) {
      lig_differences_add (&differences, "%s is %s, expected %s", *path, lig_dtype_name (dtype),
                           _ ("a floating type"));
    }
  }
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++)
    if (!g_strv_contains (paths, *name) && lig_names_is_parameter (*name))
      lig_differences_add (&differences, "%s is surplus", *name);
  return lig_differences_end (&differences, _ ("the weights do not fit the sequence"), error);
}

/* Detects whether the file has the names of another program. */
static gboolean
find_import (LigState *self, LigTensorFile *file, LigImport **import, GError **error)
{
  const char *const *paths = lig_state_get_paths (self);
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (LigShape));
  for (const char *const *path = paths; *path; path++) {
    LigShape shape;
    if (!lig_state_get_shape (self, *path, &shape, error))
      return FALSE;
    g_array_append_val (shapes, shape);
  }
  return lig_import_new (file, paths, (const LigShape *) (gpointer) shapes->data, import, error) &&
         (!*import || lig_config_check (*import, lig_state_get_traits (self), error));
}

/* A tensor that was read, and its destination. */
typedef struct {
  LigStateArray array;
  const char *path;
  LigTensor *tensor;
} Loaded;

static void
clear_loaded (gpointer data)
{
  g_clear_pointer (&((Loaded *) data)->tensor, lig_tensor_unref);
}

static GArray *
new_list (void)
{
  GArray *all = g_array_new (FALSE, TRUE, sizeof (Loaded));
  g_array_set_clear_func (all, clear_loaded);
  return all;
}

static gboolean
check_fits (LigState *self, const char *path, const char *name, LigTensor *tensor, GError **error)
{
  LigShape own;
  if (!lig_state_get_shape (self, path, &own, error))
    return FALSE;
  if (lig_shape_equal (&own, &tensor->shape))
    return TRUE;
  g_autofree char *observed = lig_shape_to_string (&tensor->shape);
  g_autofree char *expected = lig_shape_to_string (&own);
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s is %s, expected %s"), name, observed,
               expected);
  return FALSE;
}

/* Reads one tensor of the file, to be set later. */
static gboolean
read_one (LigState *self,
          LigTensorFile *file,
          LigStateArray array,
          const char *path,
          const char *name,
          GArray *all,
          GError **error)
{
  g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, name, error);
  if (!tensor || !check_fits (self, path, name, tensor, error))
    return FALSE;
  Loaded loaded = {array, path, g_steal_pointer (&tensor)};
  g_array_append_val (all, loaded);
  return TRUE;
}

static gboolean
set_all (LigState *self, GArray *all, GError **error)
{
  for (guint i = 0; i < all->len; i++) {
    Loaded *one = &g_array_index (all, Loaded, i);
    if (!lig_state_set (self, one->array, one->path, one->tensor, error))
      return FALSE;
    g_clear_pointer (&one->tensor, lig_tensor_unref);
  }
  return TRUE;
}

/* A run that starts with such a number would fail at its first loss, without naming it. */
static gboolean
check_finite (const char *path, const LigTensor *tensor, GError **error)
{
  float values[1024];
  for (gint64 first = 0; first < tensor->size; first += (gint64) G_N_ELEMENTS (values)) {
    gint64 count = MIN (tensor->size - first, (gint64) G_N_ELEMENTS (values));
    const char *from = (const char *) tensor->data + (gsize) first * lig_dtype_size (tensor->dtype);
    lig_widen (tensor->dtype, from, values, (gsize) count);
    for (gint64 i = 0; i < count; i++)
      if (!isfinite (values[i])) {
        g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s is %g at %" PRId64 ", expected %s"),
                     path, (double) values[i], first + i, _ ("a finite number"));
        return FALSE;
      }
  }
  return TRUE;
}

/* Loads from a file of Ligature, or with the names of another program. */
static gboolean
load_from (LigState *self, LigTensorFile *file, gboolean finite, char **note, GError **error)
{
  g_autoptr (GArray) all = new_list ();
  g_autoptr (LigImport) import = NULL;
  if (!find_import (self, file, &import, error) || (!import && !check_names (self, file, error)))
    return FALSE;
  for (const char *const *path = lig_state_get_paths (self); *path; path++) {
    g_autoptr (LigTensor) tensor =
      import ? lig_import_read (import, *path, error) : lig_tensor_file_get (file, *path, error);
    if (!tensor || !check_fits (self, *path, *path, tensor, error) ||
        (finite && !check_finite (*path, tensor, error)))
      return FALSE;
    Loaded loaded = {LIG_STATE_PARAMETERS, *path, g_steal_pointer (&tensor)};
    g_array_append_val (all, loaded);
  }
  if (note)
    *note = import ? g_strdup (import->notes->str) : NULL;
  self->vocabulary = import ? lig_import_vocabulary (import) : 0;
  return set_all (self, all, error);
}

gboolean
lig_state_load (LigState *self, LigTensorFile *file, GError **error)
{
  return load_from (self, file, FALSE, NULL, error);
}

/* Adds a remark to a note. */
static void
add_remark (char **note, const char *remark)
{
  if (!note)
    return;
  g_autofree char *before = *note;
  *note = before && *before ? g_strconcat (before, "; ", remark, NULL) : g_strdup (remark);
}

/* Loads the scales with which the weights were trained, and adds a remark if the file has none. */
static gboolean
load_scales (LigState *self, LigTensorFile *file, char **note, GError **error)
{
  LigStateQuantizers *quantizers = lig_state_get_quantizers (self);
  g_autofree char *remark = NULL;
  if (quantizers && !lig_state_quantizers_load_scales (quantizers, file, &remark, error))
    return FALSE;
  if (remark)
    add_remark (note, remark);
  return TRUE;
}

gboolean
lig_state_load_weights (LigState *self, const char *path, char **note, GError **error)
{
  g_autoptr (LigTensorFile) file = lig_weights_open (path, error);
  if (note)
    *note = NULL;
  if (!file)
    return FALSE;
  g_autofree char *prefix = lig_weights_unwrap (file);
  if (load_from (self, file, TRUE, note, error) && load_scales (self, file, note, error)) {
    g_autofree char *remark =
      prefix ? g_strdup_printf (_ ("names without the prefix %s"), prefix) : NULL;
    if (remark)
      add_remark (note, remark);
    return TRUE;
  }
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}

gboolean
lig_state_leave_out_padding (LigState *self, LigSequence *sequence, char **note)
{
  if (self->vocabulary == 0 || !lig_sequence_set_classes (sequence, self->vocabulary))
    return FALSE;
  g_autofree char *before = note ? *note : NULL;
  g_autofree char *remark =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "the loss counts %" PRId64 " class",
                                  "the loss counts %" PRId64 " classes", (gulong) self->vocabulary),
                     self->vocabulary);
  if (note)
    *note = before ? g_strconcat (before, "; ", remark, NULL) : g_strdup (remark);
  return TRUE;
}

static gboolean
store_scaling (LigState *self, LigTensorFile *file, GError **error)
{
  LigScaling scaling;
  LigShape shape;
  lig_shape_init (&shape, 1, (gint64) N_FIELDS);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, error);
  if (!tensor || !lig_state_get_scaling (self, &scaling, error))
    return FALSE;
  const float fields[N_FIELDS] = {scaling.scale, scaling.good, scaling.consecutive_skipped,
                                  scaling.skipped};
  memcpy (tensor->data, fields, sizeof fields);
  lig_tensor_file_add (file, SCALING, tensor);
  return TRUE;
}

/* Loads the loss scaling, which files of earlier versions do not contain. */
static gboolean
load_scaling (LigState *self, LigTensorFile *file, GError **error)
{
  if (!lig_tensor_file_has (file, SCALING))
    return TRUE;
  g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, SCALING, error);
  if (!tensor)
    return FALSE;
  if (tensor->dtype != LIG_FP32 || tensor->size != N_FIELDS) {
    g_autofree char *observed = lig_shape_to_string (&tensor->shape);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s is %s of %s, expected %d of fp32"),
                 SCALING, observed, lig_dtype_name (tensor->dtype), N_FIELDS);
    return FALSE;
  }
  const float *fields = tensor->data;
  LigScaling scaling = {.scale = fields[SCALE],
                        .good = fields[GOOD],
                        .consecutive_skipped = fields[CONSECUTIVE_SKIPPED],
                        .skipped = fields[SKIPPED]};
  return lig_state_set_scaling (self, &scaling, error);
}

gboolean
lig_state_store (LigState *self, LigTensorFile *file, gboolean with_moments, GError **error)
{
  for (const char *const *path = lig_state_get_paths (self); *path; path++) {
    g_autoptr (LigTensor) tensor = lig_state_get_whole (self, LIG_STATE_PARAMETERS, *path, error);
    if (!tensor)
      return FALSE;
    if (file)
      lig_tensor_file_add (file, *path, tensor);
    if (with_moments && !store_kept (self, file, *path, error))
      return FALSE;
  }
  LigStateQuantizers *quantizers = lig_state_get_quantizers (self);
  return !with_moments || !file ||
         (store_scaling (self, file, error) &&
          (!quantizers || lig_state_quantizers_store (quantizers, file, error)));
}

/* Reads the arrays of a parameter that the file contains. */
static gboolean
read_kept (LigState *self, LigTensorFile *file, const char *path, GArray *all, GError **error)
{
  gboolean fine = TRUE;
  char *name;
  for (guint n = 0; fine && (name = kept_name (n, path)); n++) {
    LigStateArray array = (LigStateArray) (LIG_STATE_MASTER + n);
    fine =
      !lig_tensor_file_has (file, name) || read_one (self, file, array, path, name, all, error);
    g_free (name);
  }
  return fine;
}

gboolean
lig_state_load_moments (LigState *self, LigTensorFile *file, GError **error)
{
  g_autoptr (GArray) all = new_list ();
  for (const char *const *path = lig_state_get_paths (self); *path; path++)
    if (!read_kept (self, file, *path, all, error))
      return FALSE;
  LigStateQuantizers *quantizers = lig_state_get_quantizers (self);
  return lig_state_quantizers_load (quantizers, file, error) && set_all (self, all, error) &&
         load_scaling (self, file, error);
}
