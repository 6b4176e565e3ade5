/* SPDX-License-Identifier: MIT */
/* Exports a plan: builds its graph, encodes it, and writes the files. */
#include "engine/onnx/model.h"
#include <ligature/onnx.h>

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* With more bytes of weights the file of the graph could exceed the limit of protocol buffers. */
#define MAX_INSIDE G_GINT64_CONSTANT (1900000000)

const char *
lig_onnx_why_not (const LigOpInfo *info)
{
  if (info->onnx || info->expand || info->flags & LIG_OP_BLOCK)
    return NULL;
  return info->no_onnx ? _ (info->no_onnx) : _ ("has no ONNX form in its table");
}

/* Returns whether an op of the plan can be exported. Quantized matmuls would need their scales. */
static gboolean
check_op (const LigPlanOp *op, GError **error)
{
  const char *reason = lig_onnx_why_not (op->info);
  if (!reason && !op->recipe && !op->implicit)
    return TRUE;
  if (reason)
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: not exported to ONNX: it %s"),
                 op->info->name, op->path, reason);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: not exported to ONNX: it is quantized; use recipe none"),
                 op->info->name, op->path);
  lig_error_set_path (error, op->path);
  return FALSE;
}

gboolean
lig_onnx_check (LigPlan *plan, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    if (!check_op (&ops[i], error))
      return FALSE;
  return TRUE;
}

/* Writes the nodes of all ops, and names the results. */
static gboolean
build (LigOnnx *self, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  if (!lig_onnx_check (self->plan, error))
    return FALSE;
  lig_onnx_add_ends (self);
  for (guint i = 0; i < count; i++) {
    self->op = &ops[i];
    ops[i].info->onnx (self);
    if (self->error)
      break;
  }
  self->op = NULL;
  for (guint i = 0; i < self->outputs->len && !self->error; i++) {
    const LigOnnxEnd *end = &g_array_index (self->outputs, LigOnnxEnd, i);
    const char *value = lig_onnx_node (self, "Identity", lig_onnx_find (self, end->value), NULL);
    lig_onnx_rename (self, value, end->name);
  }
  if (self->error) {
    g_propagate_error (error, g_steal_pointer (&self->error));
    return FALSE;
  }
  lig_onnx_find_lengths (self);
  return TRUE;
}

/* --- The file of weights ------------------------------------------------------------------- */

static gboolean
write_all (int file, const char *data, gsize bytes)
{
  while (bytes > 0) {
    gssize written = write (file, data, MIN (bytes, (gsize) 1 << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return FALSE;
    data += written;
    bytes -= (gsize) written;
  }
  return TRUE;
}

static gboolean
write_weights (int file, GPtrArray *tensors)
{
  static const char zeros[4096];
  gint64 end = 0;
  for (guint i = 0; i < tensors->len; i++) {
    const LigOnnxTensor *tensor = g_ptr_array_index (tensors, i);
    gint64 start = lig_onnx_align (end);
    if (!tensor->weight)
      continue;
    if (!write_all (file, zeros, (gsize) (start - end)) ||
        !write_all (file, tensor->weight->data, tensor->bytes))
      return FALSE;
    end = start + (gint64) tensor->bytes;
  }
  return fsync (file) == 0;
}

/* Writes the weights under a temporary name, which (transfer full) is returned. */
static char *
save_weights (LigOnnx *self, const char *path, GError **error)
{
  g_autofree char *name = g_strconcat (path, ".XXXXXX", NULL);
  int file = g_mkstemp_full (name, O_RDWR | O_CLOEXEC, 0666);
  gboolean fine = file >= 0 && write_weights (file, self->tensors);
  int code = errno;
  if (file >= 0 && close (file) != 0 && fine) {
    code = errno;
    fine = FALSE;
  }
  if (fine)
    return g_steal_pointer (&name);
  if (file >= 0)
    (void) g_unlink (name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be saved: %s"), path,
               g_strerror (code));
  return NULL;
}

/* --- The export ---------------------------------------------------------------------------- */

/* Writes the file of weights, which replaces another one when it is complete. */
static gboolean
replace_weights (LigOnnx *self, const char *path, GError **error)
{
  g_autofree char *temporary = save_weights (self, path, error);
  if (!temporary)
    return FALSE;
  if (g_rename (temporary, path) == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be saved: %s"), path,
               g_strerror (errno));
  (void) g_unlink (temporary);
  return FALSE;
}

static GBytes *
make_file (LigOnnx *self, const LigOnnxOptions *options, gboolean external, GError **error)
{
  g_autofree char *data = external ? g_strconcat (options->path, ".data", NULL) : NULL;
  g_autofree char *data_name = external ? g_path_get_basename (data) : NULL;
  const char *metadata[] = {"ligature.version", LIG_VERSION, NULL, NULL, NULL, NULL, NULL};
  guint n = 2;
  if (options->sequence) {
    metadata[n++] = "ligature.sequence";
    metadata[n++] = options->sequence;
  }
  if (options->run) {
    metadata[n++] = "ligature.run";
    metadata[n++] = options->run;
  }
  g_autoptr (GBytes) bytes = lig_onnx_encode (self, metadata, data_name, error);
  if (!bytes || (external && !replace_weights (self, data, error)))
    return NULL;
  return g_steal_pointer (&bytes);
}

GBytes *
lig_onnx_export (LigPlan *plan,
                 LigTensorFile *weights,
                 const LigOnnxOptions *options,
                 LigOnnxCounts *counts,
                 GError **error)
{
  const LigOnnxOptions none = {0};
  LigOnnxCounts found = {0};
  g_return_val_if_fail (plan && weights, NULL);
  if (!options)
    options = &none;
  g_autoptr (LigOnnx) self = lig_onnx_new (plan, weights);
  if (!build (self, error))
    return NULL;
  for (guint i = 0; i < self->tensors->len; i++) {
    const LigOnnxTensor *tensor = g_ptr_array_index (self->tensors, i);
    found.weights += tensor->weight != NULL;
    found.weight_bytes += tensor->weight ? (gint64) tensor->bytes : 0;
  }
  found.nodes = self->nodes->len;
  found.external = found.weights > 0 && (options->external || found.weight_bytes > MAX_INSIDE);
  if (counts)
    *counts = found;
  if (found.external && !options->path) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_FILE,
      _ ("weights: %.1f GB do not fit in the file of the graph; give a path for a second "
         "file"),
      (double) found.weight_bytes / 1e9);
    return NULL;
  }
  return make_file (self, options, found.external, error);
}
