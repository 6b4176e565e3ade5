/* SPDX-License-Identifier: MIT */
/* The traits of a model, derived from the ops of a sequence, for config.json of other programs. */
#include "engine/compile/inferred.h"
#include "engine/state/state.h"
#include "engine/tensor/config.h"

static void
add_trait (
  GArray *traits, const LigPlanOp *op, char *name, const LigParam *param, const char *field)
{
  char *text = NULL;
  double number = 0;
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    number = *(const float *) (gconstpointer) field;
    break;
  case LIG_PARAM_INT:
    number = (double) *(const gint64 *) (gconstpointer) field;
    break;
  case LIG_PARAM_BOOL:
    text = g_strdup (*(const bool *) field ? "true" : "false");
    break;
  case LIG_PARAM_CHOICE:
    text = g_strdup (lig_param_get_choice (param, *(const gint32 *) (gconstpointer) field));
    break;
  default:
    g_free (name);
    return;
  }
  lig_traits_add (traits, name, op->title, op->path, text, number, param->kind == LIG_PARAM_FLOAT);
}

/* Adds the parameters of an op, called `owner`, at the place of an op. */
static void
add_traits (GArray *traits,
            const LigPlanOp *op,
            const char *owner,
            const LigOpInfo *info,
            gconstpointer values)
{
  for (const LigParam *param = info->params; param && param->name; param++)
    add_trait (traits, op, g_strconcat (owner, ".", param->name, NULL), param,
               (const char *) values + param->offset);
}

/* Adds the traits of an op, and those that depend on it: of the macro that begins with it, and, as
 * `embedding ! dropout.p`, of an op by the op before it. */
static void
add_op (GArray *traits, const LigPlanOp *op, const LigPlanOp *before)
{
  gboolean plain = op->written == op->op;
  if (!plain && (!before || !g_str_equal (before->path, op->path))) {
    const LigOpInfo *macro = lig_op_get_info (op->written);
    add_traits (traits, op, macro->name, macro, lig_op_get_params (op->written));
  }
  if (plain && before && before->written == before->op) {
    g_autofree char *pair = g_strdup_printf ("%s ! %s", before->info->name, op->info->name);
    add_traits (traits, op, pair, op->info, op->params);
  }
  add_traits (traits, op, op->info->name, op->info, op->params);
  if (op->info->flags & (LIG_OP_ACTIVATION | LIG_OP_GATED))
    lig_traits_add (traits, g_strdup ("activation"), op->title, op->path, g_strdup (op->info->name),
                    0, FALSE);
}

GArray *
lig_ops_list_traits (const GArray *ops)
{
  GArray *traits = lig_traits_new ();
  for (guint i = 0; i < ops->len; i++)
    add_op (traits, &g_array_index (ops, LigPlanOp, i),
            i > 0 ? &g_array_index (ops, LigPlanOp, i - 1) : NULL);
  return traits;
}

char *
lig_state_describe_weights (
  LigSequence *sequence, LigTensorFile *file, const char *names, gint64 vocabulary, GError **error)
{
  g_return_val_if_fail (file, NULL);
  g_autoptr (LigDevice) device = lig_device_open ("null", error);
  g_autoptr (LigNames) table = device ? lig_names_find (names, error) : NULL;
  LigInferred inferred;
  if (!table || !lig_inferred_init (&inferred, sequence, device, NULL, error))
    return NULL;
  g_autoptr (GArray) traits = lig_ops_list_traits (inferred.ops);
  const LigShape input = inferred.input;
  gint64 length = input.n_axes > 1 ? input.axes[input.n_axes - 1] : 0;
  lig_inferred_clear (&inferred);
  return lig_config_make (table, file, traits, length, vocabulary, error);
}
