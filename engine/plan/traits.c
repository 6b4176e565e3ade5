/* SPDX-License-Identifier: MIT */
/* The traits of a model that the ops of a sequence show, for config.json of other programs. */
#include "engine/plan/state-private.h"

#include "engine/tensor/config.h"

static void
add_trait (GArray *traits, const LigPart *part, const LigParam *param)
{
  const char *field = (const char *) part->params + param->offset;
  char *name = g_strconcat (part->info->name, ".", param->name, NULL);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    lig_traits_add (traits, name, part->title, part->path, NULL, *(const float *) field);
    break;
  case LIG_PARAM_INT:
    lig_traits_add (traits, name, part->title, part->path, NULL, (double) *(const gint64 *) field);
    break;
  case LIG_PARAM_BOOL:
    lig_traits_add (traits, name, part->title, part->path,
                    g_strdup (*(const bool *) field ? "true" : "false"), 0);
    break;
  case LIG_PARAM_CHOICE:
    lig_traits_add (traits, name, part->title, part->path,
                    g_strdup (lig_param_get_choice (param, *(const gint32 *) field)), 0);
    break;
  default:
    g_free (name);
  }
}

GArray *
lig_draft_traits (const LigDraft *draft)
{
  GArray *traits = lig_traits_new ();
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    for (const LigParam *param = part->info->params; param && param->name; param++)
      add_trait (traits, part, param);
    if (part->info->flags & (LIG_OP_ACTIVATION | LIG_OP_GATED))
      lig_traits_add (traits, g_strdup ("activation"), part->title, part->path,
                      g_strdup (part->info->name), 0);
  }
  return traits;
}

char *
lig_state_describe_weights (
  LigSequence *sequence, LigTensorFile *file, const char *names, gint64 vocabulary, GError **error)
{
  g_autoptr (LigDevice) device = lig_device_open ("null", error);
  g_autoptr (LigNames) table = device ? lig_names_find (names, error) : NULL;
  g_autoptr (LigDraft) draft = table ? lig_draft_new (sequence, device, NULL, error) : NULL;
  if (!draft || !lig_draft_infer (draft, error))
    return NULL;
  g_autoptr (GArray) traits = lig_draft_traits (draft);
  gint64 length = draft->input.n_axes > 1 ? draft->input.axes[draft->input.n_axes - 1] : 0;
  if (!file)
    return lig_config_check_required (traits, table, TRUE, error) ? g_strdup ("") : NULL;
  return lig_config_make (table, file, traits, length, vocabulary, error);
}
