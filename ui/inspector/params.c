/* SPDX-License-Identifier: MIT */
/* The parameters of the inspector: a row for each entry of the op's table, in its groups. */
#include "ui/inspector/param-row.h"
#include "ui/inspector/param-text.h"
#include "ui/inspector/parts.h"
#include "ui/widgets/fold.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>

struct _LigParamList {
  AdwBin parent_instance;
  LigDocument *doc;
  GtkBox *box;
  GtkWidget *picture;
  const LigOpInfo *info; /* that the rows were made from */
  GPtrArray *rows, *groups;
  char *key;
};

G_DEFINE_FINAL_TYPE (LigParamList, lig_param_list, ADW_TYPE_BIN)

/* --- Rows ---------------------------------------------------------------------------------- */

static GtkWidget *
new_card (void)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "lines");
  return card;
}

static GtkWidget *
add_card (LigParamList *self)
{
  GtkWidget *card = new_card ();
  gtk_box_append (self->box, card);
  return card;
}

/* The first group has the sizes, which everyone sets; the picture explains the parameters next to
 * it. */
static GtkWidget *
add_group (LigParamList *self, const char *title)
{
  GtkWidget *group = lig_fold_new (_ (title), new_card ());
  lig_fold_set_open (LIG_FOLD (group), self->groups->len == 0);
  gtk_box_append (self->box, group);
  g_ptr_array_add (self->groups, group);
  return group;
}

/* A folded group names its parameters with other values than the defaults. */
static void
name_changed (LigFold *group)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (GtkWidget *row = gtk_widget_get_first_child (lig_fold_get_rows (group)); row;
       row = gtk_widget_get_next_sibling (row))
    if (LIG_IS_PARAM_ROW (row) && lig_param_row_is_changed (LIG_PARAM_ROW (row)))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              _ (lig_param_row_get_param (LIG_PARAM_ROW (row))->label));
  lig_fold_set_note (group, names->str);
}

static void
add_picture (LigParamList *self, GtkWidget *card, GtkWidget *group)
{
  gtk_box_append (GTK_BOX (card), self->picture);
  if (group)
    lig_fold_set_open (LIG_FOLD (group), TRUE);
}

static void
clear (LigParamList *self)
{
  GtkWidget *child;
  if (self->picture && gtk_widget_get_parent (self->picture))
    gtk_box_remove (GTK_BOX (gtk_widget_get_parent (self->picture)), self->picture);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))))
    gtk_box_remove (self->box, child);
  g_ptr_array_set_size (self->rows, 0);
  g_ptr_array_set_size (self->groups, 0);
}

static void
rebuild (LigParamList *self, const LigOpInfo *info)
{
  const LigParam *param;
  const char *title, *last = NULL;
  GtkWidget *card = NULL, *group = NULL;
  clear (self);
  self->info = info;
  for (guint i = 0; (param = lig_op_info_nth_shown (info, i, &title)); i++) {
    if (title && title != last)
      group = add_group (self, title);
    if (title && title != last)
      card = lig_fold_get_rows (LIG_FOLD (group));
    else if (!card)
      card = add_card (self);
    last = title;
    GtkWidget *row = lig_param_row_new (self->doc, param);
    gtk_box_append (GTK_BOX (card), row);
    g_ptr_array_add (self->rows, row);
    if (self->picture && g_str_equal (param->name, "mask"))
      add_picture (self, card, group);
  }
}

void
lig_param_list_set_picture (LigParamList *self, GtkWidget *picture)
{
  self->picture = g_object_ref_sink (picture);
}

/* Returns whether the parameter is inferred to be the length of the input's last axis. */
static gboolean
is_length (const LigParam *param)
{
  static const char *const names[] = {"in-features", "normalized-shape", "size", NULL};
  return g_strv_contains (names, param->name);
}

/* Returns the inferred value of an omitted parameter: from the plan's op, or for a macro from one
 * of its parts; or the length of the input's last axis; or null. */
static char *
find_inferred (LigParamList *self, LigOp *op, const LigParam *wanted)
{
  guint count = 0;
  const LigRow *row = lig_document_find_row (self->doc, op);
  const LigPlanOp *parts = row ? lig_document_find_parts (self->doc, row->path, &count) : NULL;
  for (guint i = 0; i < count; i++)
    for (const LigParam *param = parts[i].info->params; param && param->name; param++) {
      g_auto (GValue) value = G_VALUE_INIT;
      if (!g_str_equal (param->name, wanted->name) || param->kind != wanted->kind)
        continue;
      if (lig_op_get_value (parts[i].op, param, &value))
        return lig_param_to_text (param, &value);
      if (parts[i].x.n_axes > 0 && is_length (param))
        return g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) lig_shape_columns (&parts[i].x));
    }
  return NULL;
}

static const char *
get_hint (const LigOpInfo *info, const LigParam *param)
{
  switch (param->kind) {
  case LIG_PARAM_INPUT:
    return lig_op_info_is_optional (info, (int) param->offset) ? _ ("none") : _ ("the caller");
  case LIG_PARAM_OUTPUT:
    return lig_op_info_is_optional_output (info, (int) param->offset) ? _ ("none")
                                                                      : _ ("the caller");
  case LIG_PARAM_PATH:
    return _ ("its own");
  default:
    return param->flags & LIG_PARAM_INFERRED ? _ ("inferred") : NULL;
  }
}

void
lig_param_list_show (LigParamList *self, GPtrArray *ops, const char *key)
{
  const LigOpInfo *info = lig_op_get_info (ops->pdata[0]);
  gboolean discard = info != self->info || g_strcmp0 (key, self->key) != 0;
  if (info != self->info)
    rebuild (self, info);
  g_free (self->key);
  self->key = g_strdup (key);
  gtk_widget_set_visible (GTK_WIDGET (self), self->rows->len > 0);
  for (guint i = 0; i < self->rows->len; i++) {
    LigParamRow *row = self->rows->pdata[i];
    const LigParam *param = lig_param_row_get_param (row);
    g_autofree char *inferred =
      param->flags & LIG_PARAM_INFERRED ? find_inferred (self, ops->pdata[0], param) : NULL;
    lig_param_row_show (row, ops, inferred ? inferred : get_hint (info, param), discard);
  }
  for (guint i = 0; i < self->groups->len; i++)
    name_changed (self->groups->pdata[i]);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_param_list_finalize (GObject *object)
{
  LigParamList *self = LIG_PARAM_LIST (object);
  g_clear_object (&self->doc);
  g_clear_object (&self->picture);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->groups);
  g_free (self->key);
  G_OBJECT_CLASS (lig_param_list_parent_class)->finalize (object);
}

static void
lig_param_list_class_init (LigParamListClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_param_list_finalize;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_param_list_init (LigParamList *self)
{
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->box = GTK_BOX (box);
  self->rows = g_ptr_array_new ();
  self->groups = g_ptr_array_new ();
  gtk_box_append (GTK_BOX (whole), lig_inspector_label (_ ("Parameters"), "heading"));
  gtk_box_append (GTK_BOX (whole), box);
  adw_bin_set_child (ADW_BIN (self), whole);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Parameters"), -1);
}

GtkWidget *
lig_param_list_new (LigDocument *doc)
{
  LigParamList *self = g_object_new (LIG_TYPE_PARAM_LIST, NULL);
  self->doc = g_object_ref (doc);
  return GTK_WIDGET (self);
}
