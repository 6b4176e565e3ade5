/* SPDX-License-Identifier: MIT */
/* The arrays of a state in device memory, and its loss scale. */
#include "engine/state/struct.h"
#include <ligature/loss-scaling.h>

#include <glib/gi18n-lib.h>
#include <math.h>

const LigParameter *
lig_state_find (LigState *self, const char *path, GError **error)
{
  for (guint i = 0; i < self->layout->parameters->len; i++)
    if (g_str_equal (g_array_index (self->layout->parameters, LigParameter, i).path, path))
      return &g_array_index (self->layout->parameters, LigParameter, i);
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("parameter '%s' is unknown"), path);
  return NULL;
}

LigDtype
lig_state_array_dtype (const LigState *self, LigStateArray array)
{
  return array == LIG_STATE_PARAMETERS  ? self->layout->dtype
         : array == LIG_STATE_GRADIENTS ? self->gradient_dtype
                                        : LIG_FP32;
}

gboolean
lig_state_hides (const LigState *self)
{
  return self->layout->stored_elements < self->layout->all_elements;
}

/* Copies `count` parameters, starting at an element, to the masters. */
static gboolean
widen (LigState *self, gint64 from, gint64 to, gint64 count, GError **error)
{
  enum { PIECE = 1 << 20 };
  g_autofree float *piece = g_new (float, PIECE);
  g_autofree guint8 *stored = g_malloc (PIECE * sizeof (float));
  gsize size = lig_dtype_size (self->layout->dtype);
  for (gint64 at = 0; at < count; at += PIECE) {
    gsize now = (gsize) MIN ((gint64) PIECE, count - at);
    if (!lig_device_download (self->device, stored,
                              self->arrays[LIG_STATE_PARAMETERS] + (gsize) (from + at) * size,
                              now * size, error))
      return FALSE;
    lig_widen (self->layout->dtype, stored, piece, now);
    if (!lig_device_upload (self->device,
                            self->arrays[LIG_STATE_MASTER] + (gsize) (to + at) * sizeof (float),
                            piece, now * sizeof (float), error))
      return FALSE;
  }
  return TRUE;
}

/* Initializes the masters from the parameters. */
static gboolean
fill_master (LigState *self, GError **error)
{
  if (self->layout->shares->len == 0)
    return widen (self, 0, 0, self->layout->elements, error);
  for (guint i = 0; i < self->layout->shares->len; i++) {
    const LigShare *share = &g_array_index (self->layout->shares, LigShare, i);
    if (!widen (self, share->own.first, share->kept, share->own.end - share->own.first, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_state_ensure_array (LigState *self, LigStateArray array, GError **error)
{
  gsize size = lig_dtype_size (lig_state_array_dtype (self, array));
  gsize bytes = (gsize) lig_state_layout_elements (self->layout, array) * size;
  if (self->arrays[array] || bytes == 0)
    return TRUE;
  self->arrays[array] = lig_device_allocate (self->device, bytes, error);
  if (!self->arrays[array]) {
    g_prefix_error (
      error,
      "%s: ", array == LIG_STATE_PARAMETERS ? _ ("parameters") : _ ("optimizer and gradients"));
    return FALSE;
  }
  const LigBackend *calls = lig_device_calls (self->device);
  LigStatus status = calls->fill (lig_device_handle (self->device), self->arrays[array], 0, bytes,
                                  lig_device_stream (self->device));
  return lig_device_check (self->device, status, _ ("clearing memory"), error) &&
         (array != LIG_STATE_MASTER || lig_state_hides (self) || fill_master (self, error));
}

void *
lig_state_address (LigState *self, LigStateArray array, gint64 element, GError **error)
{
  if (!lig_state_ensure_array (self, array, error))
    return NULL;
  self->updated |= array == LIG_STATE_MASTER;
  return self->arrays[array] +
         (gsize) element * lig_dtype_size (lig_state_array_dtype (self, array));
}

void *
lig_state_master (LigState *self, gint64 element)
{
  return self->arrays[LIG_STATE_MASTER] + (gsize) element * sizeof (float);
}

gsize
lig_state_array_bytes (LigState *self, LigStateArray array)
{
  return self->arrays[array] ? (gsize) lig_state_layout_elements (self->layout, array) *
                                 lig_dtype_size (lig_state_array_dtype (self, array))
                             : 0;
}

static gboolean
write_scaling (LigState *self, const LigScaling *scaling, GError **error)
{
  if (!self->scaling)
    self->scaling = lig_device_allocate (self->device, sizeof *scaling, error);
  return self->scaling &&
         lig_device_upload (self->device, self->scaling, scaling, sizeof *scaling, error);
}

void *
lig_state_scaling (LigState *self, GError **error)
{
  const LigScaling initial = {.scale = LIG_FIRST_SCALE, .carried = 1};
  return self->scaling || write_scaling (self, &initial, error) ? self->scaling : NULL;
}

gboolean
lig_state_get_scaling (LigState *self, LigScaling *scaling, GError **error)
{
  *scaling = (LigScaling){.scale = LIG_FIRST_SCALE, .carried = 1};
  return !self->scaling ||
         lig_device_download (self->device, scaling, self->scaling, sizeof *scaling, error);
}

gboolean
lig_state_set_scaling (LigState *self, const LigScaling *scaling, GError **error)
{
  gboolean fine = isfinite (scaling->scale) && scaling->scale >= LIG_MIN_SCALE &&
                  scaling->scale <= LIG_MAX_SCALE && scaling->good >= 0 &&
                  scaling->consecutive_skipped >= 0 &&
                  scaling->skipped >= scaling->consecutive_skipped && isfinite (scaling->skipped);
  LigScaling all = {.scale = scaling->scale,
                    .carried = 1,
                    .good = scaling->good,
                    .consecutive_skipped = scaling->consecutive_skipped,
                    .skipped = scaling->skipped};
  if (fine)
    return write_scaling (self, &all, error);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the loss scale is %g after %g skipped updates, %g of them in a row; expected a "
                  "scale from %g to %g, and at most as many in a row"),
               (double) scaling->scale, (double) scaling->skipped,
               (double) scaling->consecutive_skipped, (double) LIG_MIN_SCALE,
               (double) LIG_MAX_SCALE);
  return FALSE;
}

gboolean
lig_state_begin_gradients (LigState *self, gboolean scaled, GError **error)
{
  LigScaling scaling;
  gboolean carries = self->scaled && !scaled;
  self->scaled = scaled;
  return !carries || (lig_state_get_scaling (self, &scaling, error) &&
                      lig_state_set_scaling (self, &scaling, error));
}
