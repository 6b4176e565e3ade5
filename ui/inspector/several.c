/* SPDX-License-Identifier: MIT */
/* The inspector's face for several ops: their sums, actions on all of them, and their parameters if
 * they are of one kind. */
#include "ui/document/edit.h"
#include "ui/inspector/parts.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>
#include <string.h>

struct _LigInspectorSeveral {
  AdwBin parent_instance;
  LigDocument *doc;
  GtkLabel *title, *kinds;
  GtkWidget *params, *facts;
};

G_DEFINE_FINAL_TYPE (LigInspectorSeveral, lig_inspector_several, ADW_TYPE_BIN)

/* --- Selection ----------------------------------------------------------------------------- */

static gboolean
are_alike (GPtrArray *ops)
{
  for (guint i = 1; i < ops->len; i++)
    if (lig_op_get_info (ops->pdata[i]) != lig_op_get_info (ops->pdata[0]))
      return FALSE;
  return TRUE;
}

/* Returns each kind once: `Linear, GELU`. */
static char *
name_kinds (GPtrArray *ops)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < ops->len; i++) {
    const LigOpInfo *info = lig_op_get_info (ops->pdata[i]);
    if (g_hash_table_add (seen, (gpointer) info))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", _ (info->title));
  }
  return g_string_free (names, FALSE);
}

/* Returns whether an enclosing block is also selected and so includes the row. */
static gboolean
is_within (GPtrArray *rows, const LigRow *row)
{
  for (guint i = 0; i < rows->len; i++) {
    const LigRow *block = rows->pdata[i];
    gsize length = strlen (block->path);
    if (strncmp (row->path, block->path, length) == 0 && row->path[length] == '.')
      return TRUE;
  }
  return FALSE;
}

static void
show_totals (LigInspectorSeveral *self, GPtrArray *rows)
{
  LigFacts *facts = LIG_FACTS (self->facts);
  gint64 parameters = 0, saved = 0;
  gboolean known = FALSE;
  for (guint i = 0; i < rows->len; i++) {
    guint count = 0;
    const LigRow *row = rows->pdata[i];
    if (is_within (rows, row))
      continue;
    const LigPlanOp *parts = lig_document_find_parts (self->doc, row->path, &count);
    known |= count > 0;
    for (guint k = 0; k < count; k++) {
      parameters += parts[k].parameters;
      saved += parts[k].saved_bytes;
    }
  }
  lig_facts_begin (facts);
  if (known) {
    lig_facts_take (facts, _ ("Trained parameters"), lig_figure_count (parameters));
    lig_facts_take (facts, _ ("Saved for backward"), lig_figure_bytes ((double) saved));
  }
  lig_facts_end (facts);
}

void
lig_inspector_several_show (LigInspectorSeveral *self, GPtrArray *rows)
{
  g_autoptr (GPtrArray) ops = g_ptr_array_new_with_free_func (g_object_unref);
  GString *key = g_string_new (NULL);
  for (guint i = 0; i < rows->len; i++) {
    const LigRow *row = rows->pdata[i];
    g_ptr_array_add (ops, g_object_ref (row->op));
    g_string_append_printf (key, "%s ", row->path);
  }
  g_autofree char *title = g_strdup_printf (
    ngettext ("%u operation selected", "%u operations selected", rows->len), rows->len);
  g_autofree char *kinds = name_kinds (ops);
  gtk_label_set_text (self->title, title);
  gtk_label_set_text (self->kinds, kinds);
  if (are_alike (ops))
    lig_param_list_show (LIG_PARAM_LIST (self->params), ops, key->str);
  else
    gtk_widget_set_visible (self->params, FALSE);
  show_totals (self, rows);
  g_string_free (key, TRUE);
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
duplicate (LigInspectorSeveral *self)
{
  lig_edit_duplicate (self->doc);
}

static void delete (LigInspectorSeveral *self)
{
  guint count = lig_edit_delete (self->doc);
  g_autofree char *text =
    g_strdup_printf (ngettext ("Deleted %u operation", "Deleted %u operations", count), count);
  if (count > 0)
    lig_toast (GTK_WIDGET (self), text, _ ("_Undo"), "win.undo-document");
}

static void
group (LigInspectorSeveral *self)
{
  GError *error = NULL;
  if (!lig_edit_group (self->doc, 1, &error))
    lig_toast_error (GTK_WIDGET (self), error);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_inspector_several_finalize (GObject *object)
{
  g_clear_object (&LIG_INSPECTOR_SEVERAL (object)->doc);
  G_OBJECT_CLASS (lig_inspector_several_parent_class)->finalize (object);
}

static void
lig_inspector_several_class_init (LigInspectorSeveralClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_inspector_several_finalize;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "inspector-several");
}

static void
lig_inspector_several_init (LigInspectorSeveral *self)
{
}

static GtkWidget *
make_button (LigInspectorSeveral *self, const char *label, const char *tip, GCallback clicked)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  lig_tooltip_set (button, tip);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  return button;
}

GtkWidget *
lig_inspector_several_new (LigDocument *doc)
{
  LigInspectorSeveral *self = g_object_new (LIG_TYPE_INSPECTOR_SEVERAL, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 18);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->doc = g_object_ref (doc);
  self->title = GTK_LABEL (lig_inspector_label ("", "title-3"));
  self->kinds = GTK_LABEL (lig_inspector_label ("", "dim-label"));
  self->params = lig_param_list_new (doc);
  self->facts = lig_facts_new (_ ("Together"));
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->kinds));
  gtk_box_append (GTK_BOX (buttons),
                  make_button (self, _ ("Make a _block"),
                               _ ("Turns the operations into a block, which can be repeated"),
                               G_CALLBACK (group)));
  gtk_box_append (GTK_BOX (buttons),
                  make_button (self, _ ("D_uplicate"), _ ("Inserts copies after the operations"),
                               G_CALLBACK (duplicate)));
  GtkWidget *remove =
    make_button (self, _ ("_Delete"), _ ("Removes the operations"), G_CALLBACK (delete));
  gtk_widget_add_css_class (remove, "destructive-action");
  gtk_box_append (GTK_BOX (buttons), remove);
  gtk_box_append (GTK_BOX (whole), head);
  gtk_box_append (GTK_BOX (whole), self->params);
  gtk_box_append (GTK_BOX (whole), self->facts);
  gtk_box_append (GTK_BOX (whole), buttons);
  adw_bin_set_child (ADW_BIN (self), whole);
  return GTK_WIDGET (self);
}
