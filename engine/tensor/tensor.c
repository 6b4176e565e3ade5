/* SPDX-License-Identifier: MIT */
/* Type names, shapes with overflow-checked sizes, and reference-counted host tensors. */
#include "engine/base/suggest.h"
#include <ligature/tensor.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

void
lig_shape_init (LigShape *shape, int n_axes, ...)
{
  g_return_if_fail (n_axes >= 0 && n_axes <= LIG_MAX_AXES);
  va_list axes;
  *shape = (LigShape){.n_axes = n_axes};
  va_start (axes, n_axes);
  for (int i = 0; i < n_axes; i++)
    shape->axes[i] = va_arg (axes, int64_t);
  va_end (axes);
}

const char *
lig_dtype_names (unsigned types, const char *last)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (types & 1u << i) {
      gboolean more = types >> i > 1;
      g_string_append_printf (text, "%s%s",
                              text->len == 0 ? ""
                              : more         ? ", "
                                             : last,
                              lig_dtype_name ((LigDtype) i));
    }
  return g_intern_string (text->str);
}

int64_t
lig_shape_size (const LigShape *shape)
{
  int64_t size = 1;
  for (int i = 0; i < shape->n_axes; i++)
    size *= shape->axes[i];
  return size;
}

int64_t
lig_shape_columns (const LigShape *shape)
{
  return shape->n_axes > 0 ? shape->axes[shape->n_axes - 1] : 1;
}

gboolean
lig_shape_check (const LigShape *shape, LigDtype dtype, GError **error)
{
  int64_t bytes = (int64_t) lig_dtype_size (dtype);
  if (shape->n_axes > LIG_MAX_AXES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("a shape has %d axes, at most %d are possible"), shape->n_axes, LIG_MAX_AXES);
    return FALSE;
  }
  for (int i = 0; i < shape->n_axes; i++) {
    if (shape->axes[i] < 0) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("axis %d has length %" PRId64 ", expected at least 0"), i, shape->axes[i]);
      return FALSE;
    }
    if (__builtin_mul_overflow (bytes, MAX (shape->axes[i], 1), &bytes)) {
      g_autofree char *text = lig_shape_to_string (shape);
      g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                   _ ("a tensor of %s %s takes more than 2^63 bytes"), text,
                   lig_dtype_name (dtype));
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
lig_shape_equal (const LigShape *a, const LigShape *b)
{
  return a->n_axes == b->n_axes &&
         memcmp (a->axes, b->axes, (size_t) a->n_axes * sizeof *a->axes) == 0;
}

char *
lig_shape_to_string (const LigShape *shape)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; i < MIN (shape->n_axes, LIG_MAX_AXES); i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? "x" : "", shape->axes[i]);
  if (shape->n_axes == 0)
    g_string_append (text, "scalar");
  return g_string_free (text, FALSE);
}

static gboolean
parse_axes (const char *text, char **fields, LigShape *shape, GError **error)
{
  int n_axes = (int) g_strv_length (fields);
  if (n_axes > LIG_MAX_AXES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("a shape has %d axes, at most %d are possible"), n_axes, LIG_MAX_AXES);
    return FALSE;
  }
  *shape = (LigShape){.n_axes = n_axes};
  for (int i = 0; i < n_axes; i++) {
    g_autoptr (GError) local = NULL;
    if (!g_ascii_string_to_signed (fields[i], 10, 0, G_MAXINT64, &shape->axes[i], &local)) {
      g_set_error (
        error, LIG_ERROR, LIG_ERROR_FORMAT,
        _ ("shape '%s': axis %d is '%s', expected a length; write it like 16384x4096:bf16"), text,
        i, fields[i]);
      return FALSE;
    }
  }
  return TRUE;
}

static const char *
get_dtype_name (guint n)
{
  return n < LIG_N_DTYPES ? lig_dtype_name ((LigDtype) n) : NULL;
}

gboolean
lig_shape_parse (const char *text, LigShape *shape, LigDtype *dtype, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 2);
  g_auto (GStrv) fields = g_strsplit (parts[0] ? parts[0] : "", "x", -1);
  LigDtype named = *dtype;
  if (!fields[0]) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("shape '%s': no length; write it like 16384x4096:bf16"), text);
    return FALSE;
  }
  if (parts[0] && parts[1] && !lig_dtype_from_name (parts[1], &named)) {
    g_autofree char *like = lig_suggest_nth (parts[1], get_dtype_name);
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("element type '%s' is unknown%s"), parts[1],
                 like);
    return FALSE;
  }
  if (!parse_axes (text, fields, shape, error) || !lig_shape_check (shape, named, error))
    return FALSE;
  *dtype = named;
  return TRUE;
}

static LigShape *
copy_shape (LigShape *shape)
{
  return g_memdup2 (shape, sizeof *shape);
}

G_DEFINE_BOXED_TYPE (LigShape, lig_shape, copy_shape, g_free)

/* The reference count is stored before the public fields, so that callers cannot change it. */
typedef struct {
  gatomicrefcount count;
  LigTensor tensor;
} CountedTensor;

static CountedTensor *
counted (const LigTensor *self)
{
  return (CountedTensor *) ((char *) self - G_STRUCT_OFFSET (CountedTensor, tensor));
}

G_DEFINE_BOXED_TYPE (LigTensor, lig_tensor, lig_tensor_ref, lig_tensor_unref)

LigTensor *
lig_tensor_new (LigDtype dtype, const LigShape *shape, GError **error)
{
  if (!lig_shape_check (shape, dtype, error))
    return NULL;
  int64_t size = lig_shape_size (shape);
  gsize bytes = (gsize) size * lig_dtype_size (dtype);
  void *data = NULL;
  if (bytes > (gsize) G_MAXSSIZE - ALIGNMENT ||
      posix_memalign (&data, ALIGNMENT, MAX (bytes, 1)) != 0) {
    g_autofree char *text = lig_shape_to_string (shape);
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 g_dngettext (GETTEXT_PACKAGE, "no memory for a tensor of %s %s (%zu byte)",
                              "no memory for a tensor of %s %s (%zu bytes)", (gulong) (bytes)),
                 text, lig_dtype_name (dtype), bytes);
    return NULL;
  }
  memset (data, 0, bytes);
  CountedTensor *self = g_new (CountedTensor, 1);
  g_atomic_ref_count_init (&self->count);
  self->tensor = (LigTensor){dtype, *shape, size, data};
  return &self->tensor;
}

LigTensor *
lig_tensor_ref (LigTensor *self)
{
  g_atomic_ref_count_inc (&counted (self)->count);
  return self;
}

void
lig_tensor_unref (LigTensor *self)
{
  if (!g_atomic_ref_count_dec (&counted (self)->count))
    return;
  free (self->data);
  g_free (counted (self));
}

gsize
lig_tensor_bytes (const LigTensor *self)
{
  return (gsize) self->size * lig_dtype_size (self->dtype);
}

LigTensor *
lig_tensor_convert (LigTensor *self, LigDtype dtype, GError **error)
{
  if (self->dtype == dtype)
    return lig_tensor_ref (self);
  LigTensor *copy = lig_tensor_new (dtype, &self->shape, error);
  if (!copy)
    return NULL;
  float piece[1024];
  for (int64_t i = 0; i < self->size; i += (int64_t) G_N_ELEMENTS (piece)) {
    gsize count = (gsize) MIN ((int64_t) G_N_ELEMENTS (piece), self->size - i);
    lig_widen (self->dtype, (char *) self->data + (gsize) i * lig_dtype_size (self->dtype), piece,
               count);
    lig_narrow (dtype, piece, (char *) copy->data + (gsize) i * lig_dtype_size (dtype), count);
  }
  return copy;
}

float
lig_tensor_get (const LigTensor *self, int64_t element)
{
  float value;
  g_return_val_if_fail (element >= 0 && element < self->size, 0);
  lig_widen (self->dtype, (char *) self->data + (gsize) element * lig_dtype_size (self->dtype),
             &value, 1);
  return value;
}

void
lig_tensor_set (LigTensor *self, int64_t element, float value)
{
  g_return_if_fail (element >= 0 && element < self->size);
  lig_narrow (self->dtype, &value,
              (char *) self->data + (gsize) element * lig_dtype_size (self->dtype), 1);
}
