/* SPDX-License-Identifier: MIT */
/* Edits of parameters, fences, forbidden and forced fusions, input and types. */
#include "ui/document/edit.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>

static const LigParam *
find_param (LigOp *op, const char *name)
{
  const LigParam *param = lig_op_get_info (op)->params;
  while (param && param->name && !g_str_equal (param->name, name))
    param++;
  return param && param->name ? param : NULL;
}

static void
reset_value (LigOp *op, const char *name)
{
  g_auto (GValue) value = G_VALUE_INIT;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), name);
  g_value_init (&value, spec->value_type);
  g_param_value_set_default (spec, &value);
  g_object_set_property (G_OBJECT (op), name, &value);
}

gboolean
lig_edit_set_value (
  LigDocument *doc, LigOp *op, const char *param, const GValue *value, GError **error)
{
  const LigParam *found = find_param (op, param);
  if (!value && found)
    reset_value (op, param);
  else if (!lig_op_set_value (op, param, value, error))
    return FALSE;
  const LigRow *row = lig_document_find_row (doc, op);
  g_autofree char *label = g_strdup_printf (_ ("Change %s"), _ (found->label));
  g_autofree char *merge = g_strdup_printf ("%s.%s", row ? row->path : "", param);
  lig_document_commit (doc, label, merge);
  return TRUE;
}

void
lig_edit_set_trained (LigDocument *doc, LigOp *op, gboolean trained)
{
  lig_op_set_trained (op, trained);
  lig_document_commit (doc, trained ? _ ("Train the parameters") : _ ("Freeze the parameters"),
                       NULL);
}

void
lig_edit_set_fence (LigDocument *doc, LigOp *op, gboolean fence)
{
  lig_op_set_fence (op, fence);
  lig_document_commit (doc, fence ? _ ("Add a fence") : _ ("Remove the fence"), NULL);
}

void
lig_edit_move_fence (LigDocument *doc, LigOp *from, LigOp *to)
{
  lig_op_set_fence (from, FALSE);
  lig_op_set_fence (to, TRUE);
  lig_document_commit (doc, _ ("Move the fence"), NULL);
}

/* Returns @names with @name added or removed. */
static GStrv
change_names (const char *const *names, const char *name, gboolean with)
{
  g_autoptr (GStrvBuilder) changed = g_strv_builder_new ();
  for (; names && *names; names++)
    if (!g_str_equal (*names, name))
      g_strv_builder_add (changed, *names);
  if (with)
    g_strv_builder_add (changed, name);
  return g_strv_builder_end (changed);
}

void
lig_edit_forbid (LigDocument *doc, LigOp *op, const char *fusion, gboolean forbid)
{
  LigSequence *sequence = lig_document_get_sequence (doc);
  const char *const *names = op ? lig_op_get_forbidden (op) : lig_sequence_get_forbidden (sequence);
  g_auto (GStrv) changed = change_names (names, fusion, forbid);
  if (op)
    lig_op_set_forbidden (op, (const char *const *) changed);
  else
    lig_sequence_set_forbidden (sequence, (const char *const *) changed);
  g_autofree char *label = g_strdup_printf (forbid ? _ ("Forbid %s") : _ ("Allow %s"), fusion);
  lig_document_commit (doc, label, NULL);
}

void
lig_edit_force (LigDocument *doc, LigOp *op, const char *fusion, gboolean force)
{
  g_auto (GStrv) changed = change_names (lig_op_get_forced (op), fusion, force);
  lig_op_set_forced (op, (const char *const *) changed);
  g_autofree char *label = g_strdup_printf (force ? _ ("Force %s") : _ ("Do not force %s"), fusion);
  lig_document_commit (doc, label, NULL);
}

static const char *
find_fusion (LigDocument *doc, const LigPlanOp *parts, guint n_parts)
{
  guint count;
  for (int pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups =
      lig_plan_get_groups (lig_document_get_plan (doc), (LigPass) pass, &count);
    for (guint i = 0; i < count; i++)
      if (groups[i].fusion && groups[i].first >= parts[0].index &&
          groups[i].first < parts[0].index + (int) n_parts)
        return groups[i].fusion->name;
  }
  return NULL;
}

gboolean
lig_edit_toggle_forbidden (LigDocument *doc, LigOp *op, GError **error)
{
  guint count = 0;
  const LigRow *row = lig_document_find_row (doc, op);
  const char *const *forbidden = lig_op_get_forbidden (op);
  const LigPlanOp *parts = row ? lig_document_find_parts (doc, row->path, &count) : NULL;
  const char *fusion = parts && !lig_op_get_body (op) ? find_fusion (doc, parts, count) : NULL;
  if (forbidden && *forbidden) {
    g_autofree char *name = g_strdup (*forbidden);
    lig_edit_forbid (doc, op, name, FALSE);
  } else if (fusion)
    lig_edit_forbid (doc, op, fusion, TRUE);
  else
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("no fusion starts here"));
  return fusion || (forbidden && *forbidden);
}

void
lig_edit_set_name (LigDocument *doc, const char *name)
{
  lig_sequence_set_name (lig_document_get_sequence (doc), name);
  lig_document_commit (doc, _ ("Rename"), "name");
}

void
lig_edit_set_input (LigDocument *doc, const LigShape *shape, LigDtype dtype)
{
  lig_sequence_set_input (lig_document_get_sequence (doc), shape, dtype);
  lig_document_commit (doc, _ ("Change the input"), "input");
}

void
lig_edit_set_batch (LigDocument *doc, gint64 batch)
{
  lig_sequence_set_batch (lig_document_get_sequence (doc), batch);
  lig_document_commit (doc, _ ("Change the batch"), "batch");
}

void
lig_edit_set_types (LigDocument *doc, int compute, int parameters)
{
  lig_sequence_set_types (lig_document_get_sequence (doc), compute, parameters);
  lig_document_commit (doc, _ ("Change the types"), NULL);
}

void
lig_edit_set_recipe (LigDocument *doc, const char *recipe)
{
  if (lig_sequence_set_recipe (lig_document_get_sequence (doc), recipe, NULL))
    lig_document_commit (doc, _ ("Change the recipe"), NULL);
}

void
lig_edit_set_train (LigDocument *doc, const char *json)
{
  lig_sequence_set_train (lig_document_get_sequence (doc), json);
  lig_document_commit (doc, _ ("Change the training settings"), "train");
}
