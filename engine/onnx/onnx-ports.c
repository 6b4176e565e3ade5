/* SPDX-License-Identifier: MIT */
/* The ports of the op that is exported: ops read their inputs and set their outputs here. */
#include "engine/onnx/model.h"

#include <glib/gi18n-lib.h>

#include <string.h>

/* Returns the port of the current op; NULL if it has none, or the port has no value. */
static const LigPlanPort *
find_port (LigOnnx *self, const char *name)
{
  for (int i = 0; i < self->op->n_ports; i++) {
    const LigPlanPort *port = &self->op->ports[i];
    if (port->value >= 0 && port->kind != LIG_PORT_KEPT && strcmp (port->name, name) == 0)
      return port;
  }
  return NULL;
}

const void *
lig_onnx_get_params (LigOnnx *self)
{
  return self->op->params;
}

gboolean
lig_onnx_has (LigOnnx *self, const char *port)
{
  return find_port (self, port) != NULL;
}

int
lig_onnx_count_axes (LigOnnx *self, const char *port)
{
  const LigPlanPort *found = find_port (self, port);
  return found ? self->values[found->value].shape.n_axes : 0;
}

static LigOnnxType
get_type (LigOnnx *self, const LigPlanPort *port)
{
  return lig_onnx_type (self->values[port->value].dtype);
}

const char *
lig_onnx_get (LigOnnx *self, const char *port)
{
  const LigPlanPort *found = find_port (self, port);
  if (!found) {
    lig_onnx_reject (self, _ ("lacks an input in this plan"));
    return "";
  }
  const char *name = lig_onnx_find (self, found->value);
  LigOnnxType type = get_type (self, found);
  if (type != LIG_ONNX_FP16 && type != LIG_ONNX_BF16)
    return name;
  const char *wide = g_hash_table_lookup (self->wide, name);
  if (!wide) {
    wide = lig_onnx_cast_number (self, name);
    g_hash_table_insert (self->wide, (gpointer) name, (gpointer) wide);
  }
  return wide;
}

const char *
lig_onnx_rows (LigOnnx *self, const char *port, const char *indices)
{
  const LigPlanPort *found = find_port (self, port);
  if (!found)
    return lig_onnx_get (self, port);
  LigOnnxType type = get_type (self, found);
  const char *rows =
    lig_onnx_node (self, "Gather", lig_onnx_find (self, found->value), indices, NULL);
  return type == LIG_ONNX_FP32 ? rows : lig_onnx_cast_number (self, rows);
}

/* Makes a value that of a port, under the port's name if a node has just computed it. */
static void
bind (LigOnnx *self, const LigPlanPort *port, const char *value)
{
  const char *name = g_string_chunk_insert_const (self->names, self->values[port->value].name);
  if (*value == '%' && lig_onnx_rename (self, value, name))
    value = name;
  g_hash_table_insert (self->known, GINT_TO_POINTER (port->value + 1), (gpointer) value);
}

void
lig_onnx_set (LigOnnx *self, const char *port, const char *value)
{
  const LigPlanPort *found = find_port (self, port);
  if (!found)
    return;
  LigOnnxType type = get_type (self, found);
  if (type == LIG_ONNX_FP16 || type == LIG_ONNX_BF16)
    value = lig_onnx_cast (self, value, type);
  bind (self, found, value);
}

void
lig_onnx_pass (LigOnnx *self, const char *from, const char *to)
{
  const LigPlanPort *in = find_port (self, from), *out = find_port (self, to);
  if (!in || !out)
    return;
  const char *value = lig_onnx_find (self, in->value);
  if (get_type (self, in) != get_type (self, out))
    value = lig_onnx_cast (self, value, get_type (self, out));
  g_hash_table_insert (self->known, GINT_TO_POINTER (out->value + 1), (gpointer) value);
}

void
lig_onnx_pass_x (LigOnnx *self)
{
  lig_onnx_pass (self, "x", "y");
}

void
lig_onnx_move (LigOnnx *self, const char *type, const char *shape)
{
  const LigPlanPort *in = find_port (self, "x"), *out = find_port (self, "y");
  if (in && out)
    bind (self, out, lig_onnx_node (self, type, lig_onnx_find (self, in->value), shape, NULL));
}

void
lig_onnx_reject (LigOnnx *self, const char *reason)
{
  if (self->error)
    return;
  g_set_error (&self->error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: not exported to ONNX: it %s"),
               self->op->info->name, self->op->path, reason);
  lig_error_set_path (&self->error, self->op->path);
}
