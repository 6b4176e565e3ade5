/* SPDX-License-Identifier: MIT */
/* Registers an op: checks its table, then tries its functions on its example. */
#include "engine/compile/compilation.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan-private.h"
#include "engine/sequence/registry-lock.h"
#include "engine/sequence/table.h"
#include <ligature/register.h>

#include <string.h>

static gboolean
holds (LigSequence *sequence, const LigOpInfo *info)
{
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    LigSequence *body = lig_op_get_body (op);
    if (lig_op_get_info (op) == info || (body && holds (body, info)))
      return TRUE;
  }
  return FALSE;
}

/* Reads the example, such as `layer-norm @ 4x16`. */
static LigSequence *
read_example (const LigOpInfo *info, GError **error)
{
  const char *at = strrchr (info->example, '@');
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  if (!at) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "it has no input, as in '%s @ 4x16'", info->name);
    return NULL;
  }
  g_autofree char *expression = g_strndup (info->example, (gsize) (at - info->example));
  g_autofree char *input = g_strstrip (g_strdup (at + 1));
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, error);
  if (!sequence || !lig_shape_parse (input, &shape, &dtype, error))
    return NULL;
  lig_sequence_set_input (sequence, &shape, dtype);
  if (holds (sequence, info))
    return g_steal_pointer (&sequence);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "it does not contain the op");
  return NULL;
}

/* Checks that the output agrees with the flags. */
static gboolean
check_output (const LigOpInfo *info, const LigGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    const LigShape *x = &lig_value (graph, part->x)->shape, *y = &lig_value (graph, part->y)->shape;
    LigDtype dtype = lig_value (graph, part->y)->dtype;
    if (part->plan.info != info)
      continue;
    gboolean scalar = y->n_axes == 0 && dtype == LIG_FP32;
    gboolean same = lig_shape_equal (x, y);
    const char *wanted = info->flags & LIG_OP_LOSS && !scalar ? "an fp32 scalar, because it is "
                                                                "a loss"
                         : info->flags & (LIG_OP_TRANSPARENT | LIG_OP_ACTIVATION) && !same
                           ? "the shape of x, according to its flags"
                           : NULL;
    if (!wanted)
      continue;
    g_autofree char *shape = lig_shape_to_string (y);
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, "y is %s of %s, expected %s", shape,
                 lig_dtype_name (dtype), wanted);
    return FALSE;
  }
  return TRUE;
}

static gboolean
has_backward (const LigOpInfo *info)
{
  return info->backward || info->lower_backward || info->opaque_backward || info->expand;
}

/* Compiles with kernels of that type and backend, for evaluation and for training. */
static gboolean
compile (const LigOpInfo *info,
         LigSequence *sequence,
         const LigBackendInfo *backend,
         LigDtype compute,
         GError **error)
{
  g_autoptr (LigDevice) device = lig_device_open ("null", error);
  if (!device)
    return FALSE;
  LigDeviceFacts facts = *lig_device_get_facts (device);
  facts.capability = backend->traits & LIG_DEVICE_ACCELERATOR ? 90 : 0;
  g_strlcpy (facts.backend, backend->name, sizeof facts.backend);
  lig_device_set_facts (device, &facts);
  for (int training = 0; training <= has_backward (info); training++) {
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.policy = LIG_POLICY_NONE;
    options.training = options.input_gradient = training;
    options.compute = (int) compute;
    g_autoptr (LigGraph) graph = lig_graph_new (sequence, device, &options, 0, error);
    if (!graph || !lig_graph_compile (graph, error) || !check_output (info, graph, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_op_info_try (const LigOpInfo *info, GError **error)
{
  /* Kernels may support only one type and one kind of device. */
  const LigBackendInfo *backend;
  g_autoptr (GError) first = NULL;
  g_autoptr (LigSequence) sequence = read_example (info, &first);
  for (int i = 0; sequence && i < LIG_N_DTYPES; i++)
    for (guint n = 0; (backend = lig_backend_nth (n)); n++) {
      g_autoptr (GError) local = NULL;
      if (backend->traits & LIG_DEVICE_DESCRIBED || !lig_dtype_is_floating ((LigDtype) i))
        continue;
      if (compile (info, sequence, backend, (LigDtype) i, &local))
        return TRUE;
      if (!first)
        first = g_steal_pointer (&local);
    }
  g_propagate_prefixed_error (error, g_steal_pointer (&first),
                              "op %s: its example '%s': ", info->name, info->example);
  return FALSE;
}

/* Takes ownership of the table if it returns true, or if it created a class for it, which exists
 * until the process exits. */
static gboolean
admit (LigOpInfo *info, GError **error)
{
  if (!lig_op_info_propose (info, error)) {
    lig_op_info_free (info);
    return FALSE;
  }
  gboolean fine = lig_op_info_try (info, error);
  lig_op_info_decide (fine);
  return fine;
}

gboolean
lig_register_op (const LigOpInfo *info, GError **error)
{
  if (!lig_registry_open ("an op", LIG_ERROR_OP, error))
    return FALSE;
  LigOpInfo *whole = lig_op_info_complete (info, error);
  gboolean fine = whole && admit (whole, error);
  lig_registry_close ();
  return fine;
}
