/* SPDX-License-Identifier: MIT */
/* The parts of a macro, as its `expand` adds them. */
#include "engine/sequence/parts.h"

#include <ligature/macro.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>

static void
add_sized (LigParts *self, const char *name, LigOp *op, LigPartSize size)
{
  g_ptr_array_add (self->ops, op);
  g_ptr_array_add (self->names, (gpointer) g_intern_string (name));
  g_array_append_val (self->sizes, size);
  g_ptr_array_add (self->owners, NULL);
}

void
lig_parts_add (LigParts *self, const char *name, LigOp *op)
{
  add_sized (self, name, op, (LigPartSize){.param = NULL});
}

static gboolean
has_whole_number (LigOp *op, const char *param)
{
  for (const LigParam *at = lig_op_get_info (op)->params; at && at->name; at++)
    if (at->kind == LIG_PARAM_INT && g_str_equal (at->name, param))
      return !lig_op_get_info (op)->expand && !lig_op_get_body (op);
  return FALSE;
}

/* Until the shapes are known, the length is 1. */
void
lig_parts_add_scaled (
  LigParts *self, const char *name, LigOp *op, const char *param, gint64 multiple, gint64 divisor)
{
  LigPartSize size = {g_intern_string (param), multiple, divisor};
  if (op && (multiple < 1 || divisor < 1 || !has_whole_number (op, param)))
    g_clear_object (&op);
  else if (op)
    g_object_set (op, param, G_GINT64_CONSTANT (1), NULL);
  add_sized (self, name, op, size);
}

void
lig_parts_share_parameters (LigParts *self, const char *name)
{
  if (self->owners->len > 0)
    self->owners->pdata[self->owners->len - 1] = (gpointer) g_intern_string (name ? name : "");
}

void
lig_parts_reject (LigParts *self, const char *format, ...)
{
  va_list arguments;
  if (self->problem)
    return;
  va_start (arguments, format);
  self->problem = g_strdup_vprintf (format, arguments);
  va_end (arguments);
}

/* A part that could not be created is null. */
static void
unref (gpointer op)
{
  g_clear_object (&op);
}

LigParts *
lig_parts_new (LigDevice *device)
{
  LigParts *self = g_new0 (LigParts, 1);
  self->device = device;
  self->ops = g_ptr_array_new_with_free_func (unref);
  self->names = g_ptr_array_new ();
  self->sizes = g_array_new (FALSE, FALSE, sizeof (LigPartSize));
  self->owners = g_ptr_array_new ();
  return self;
}

void
lig_parts_free (LigParts *self)
{
  g_ptr_array_unref (self->ops);
  g_ptr_array_unref (self->names);
  g_array_unref (self->sizes);
  g_ptr_array_unref (self->owners);
  g_free (self->problem);
  g_free (self);
}

guint
lig_op_count_parts (LigOp *self)
{
  const LigOpInfo *info = lig_op_get_info (self);
  if (!info->expand)
    return 1;
  g_autoptr (LigParts) parts = lig_parts_new (NULL);
  info->expand (self, parts);
  return parts->ops->len;
}

gboolean
lig_parts_shards_vocabulary (const LigParts *self)
{
  return self->shards_vocabulary;
}

void
lig_parts_check_sharding (LigParts *self, const char *name, gint64 count)
{
  int ranks = self->device ? lig_device_get_n_ranks (self->device, LIG_GROUP_TENSOR) : 1;
  if (count % ranks != 0)
    lig_parts_reject (self,
                      _ ("%s is %" PRId64 ", expected a multiple of the tensor-parallel size, %d"),
                      name, count, ranks);
}

gboolean
lig_parts_on_gpu (const LigParts *self)
{
  return self->device && lig_device_get_facts (self->device)->capability > 0;
}

LigOp *
lig_parts_nth (const LigParts *self, guint n, const char **name)
{
  if (name)
    *name = n < self->names->len ? self->names->pdata[n] : NULL;
  return n < self->ops->len ? self->ops->pdata[n] : NULL;
}

void
lig_parts_replace (LigParts *self, guint n, LigOp *op)
{
  if (op) {
    g_object_unref (self->ops->pdata[n]);
    self->ops->pdata[n] = op;
    return;
  }
  g_ptr_array_remove_index (self->ops, n);
  g_ptr_array_remove_index (self->names, n);
  g_array_remove_index (self->sizes, n);
  g_ptr_array_remove_index (self->owners, n);
}

int
lig_parts_get_n_ranks (const LigParts *self, LigRankGroup group)
{
  return self->device ? lig_device_get_n_ranks (self->device, group) : self->apart ? 2 : 1;
}
