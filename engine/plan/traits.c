/* SPDX-License-Identifier: MIT */
/* The traits of a model that the ops of a sequence show, for config.json of other programs. */
#include "engine/plan/state-private.h"

#include "engine/tensor/config.h"

static void
add_trait (
  GArray *traits, const LigPart *part, char *name, const LigParam *param, const char *field)
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
  lig_traits_add (traits, name, part->title, part->path, text, number);
}

/* Adds the parameters of an op, called `owner`, at the place of a part. */
static void
add_traits (GArray *traits,
            const LigPart *part,
            const char *owner,
            const LigOpInfo *info,
            gconstpointer values)
{
  for (const LigParam *param = info->params; param && param->name; param++)
    add_trait (traits, part, g_strconcat (owner, ".", param->name, NULL), param,
               (const char *) values + param->offset);
}

/* Adds the traits of a part, and those that it alone shows: of the macro that begins with it, and,
 * as `embedding ! dropout.p`, of an op by the op before it. */
static void
add_part (GArray *traits, const LigPart *part, const LigPart *before)
{
  gboolean plain = part->written == part->op;
  if (!plain && (!before || !g_str_equal (before->path, part->path))) {
    const LigOpInfo *macro = lig_op_get_info (part->written);
    add_traits (traits, part, macro->name, macro, lig_op_get_params (part->written));
  }
  if (plain && before && before->written == before->op) {
    g_autofree char *pair = g_strdup_printf ("%s ! %s", before->info->name, part->info->name);
    add_traits (traits, part, pair, part->info, part->params);
  }
  add_traits (traits, part, part->info->name, part->info, part->params);
  if (part->info->flags & (LIG_OP_ACTIVATION | LIG_OP_GATED))
    lig_traits_add (traits, g_strdup ("activation"), part->title, part->path,
                    g_strdup (part->info->name), 0);
}

GArray *
lig_draft_traits (const LigDraft *draft)
{
  GArray *traits = lig_traits_new ();
  for (int i = 0; i < (int) draft->parts->len; i++)
    add_part (traits, lig_part (draft, i), i > 0 ? lig_part (draft, i - 1) : NULL);
  return traits;
}

char *
lig_state_describe_weights (
  LigSequence *sequence, LigTensorFile *file, const char *names, gint64 vocabulary, GError **error)
{
  g_return_val_if_fail (file, NULL);
  g_autoptr (LigDevice) device = lig_device_open ("null", error);
  g_autoptr (LigNames) table = device ? lig_names_find (names, error) : NULL;
  g_autoptr (LigDraft) draft = table ? lig_draft_new (sequence, device, NULL, error) : NULL;
  if (!draft || !lig_draft_infer (draft, error))
    return NULL;
  g_autoptr (GArray) traits = lig_draft_traits (draft);
  gint64 length = draft->input.n_axes > 1 ? draft->input.axes[draft->input.n_axes - 1] : 0;
  return lig_config_make (table, file, traits, length, vocabulary, error);
}
