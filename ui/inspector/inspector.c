/* SPDX-License-Identifier: MIT */
/* The selection determines the inspector's face; the face updates itself. */
#include "ui/inspector/inspector.h"

#include "ui/inspector/param-row.h"
#include "ui/inspector/parts.h"
#include "ui/widgets/fold.h"

#include <glib/gi18n.h>

struct _LigInspector {
  AdwBin parent_instance;
  LigDocument *doc;
  GtkStack *stack;
  GtkWidget *op, *several, *sequence;
  gconstpointer shown; /* the op, null for the sequence; only compared */
};

G_DEFINE_FINAL_TYPE (LigInspector, lig_inspector, ADW_TYPE_BIN)

/* A new selection is shown from its beginning. */
static void
scroll_up (LigInspector *self, gconstpointer shown)
{
  GtkWidget *window = gtk_widget_get_ancestor (GTK_WIDGET (self->stack), GTK_TYPE_SCROLLED_WINDOW);
  if (self->shown != shown && window)
    gtk_adjustment_set_value (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (window)),
                              0);
  self->shown = shown;
}

static void
update (LigInspector *self)
{
  g_autoptr (GPtrArray) rows = lig_document_get_selection (self->doc);
  LigOp *op = lig_document_get_cursor (self->doc);
  if (!op && rows->len == 1)
    op = ((const LigRow *) rows->pdata[0])->op;
  scroll_up (self, rows->len > 1 ? (gconstpointer) self : op);
  if (rows->len > 1) {
    lig_inspector_several_show (LIG_INSPECTOR_SEVERAL (self->several), rows);
    gtk_stack_set_visible_child (self->stack, self->several);
  } else if (op) {
    lig_inspector_op_show (LIG_INSPECTOR_OP (self->op), op);
    gtk_stack_set_visible_child (self->stack, self->op);
  } else {
    lig_inspector_sequence_show (LIG_INSPECTOR_SEQUENCE (self->sequence));
    gtk_stack_set_visible_child (self->stack, self->sequence);
  }
}

/* Returns the editor of a parameter among a widget's children. */
static GtkWidget *
find_editor (GtkWidget *widget, const char *name)
{
  GtkWidget *editor = NULL;
  if (LIG_IS_PARAM_ROW (widget) &&
      g_str_equal (lig_param_row_get_param (LIG_PARAM_ROW (widget))->name, name))
    return lig_param_row_get_editor (LIG_PARAM_ROW (widget));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child && !editor;
       child = gtk_widget_get_next_sibling (child))
    editor = find_editor (child, name);
  return editor;
}

/* The focus moves once the edit that requested it is shown. */
static gboolean
focus_wanted (gpointer data)
{
  LigInspector *self = data;
  GtkWidget *editor = find_editor (self->op, lig_document_get_wanted (self->doc));
  if (editor && gtk_stack_get_visible_child (self->stack) == self->op) {
    GtkWidget *group = gtk_widget_get_ancestor (editor, LIG_TYPE_FOLD);
    if (group)
      lig_fold_set_open (LIG_FOLD (group), TRUE);
    gtk_widget_grab_focus (editor);
  }
  return G_SOURCE_REMOVE;
}

static void
want (LigInspector *self)
{
  g_idle_add_full (G_PRIORITY_DEFAULT, focus_wanted, g_object_ref (self), g_object_unref);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_inspector_finalize (GObject *object)
{
  g_clear_object (&LIG_INSPECTOR (object)->doc);
  G_OBJECT_CLASS (lig_inspector_parent_class)->finalize (object);
}

static void
lig_inspector_class_init (LigInspectorClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_inspector_finalize;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "inspector");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_inspector_init (LigInspector *self)
{
}

GtkWidget *
lig_inspector_new (LigDocument *doc)
{
  static const char *const signals[] = {"changed", "planned", "selected", "titled", "timed"};
  LigInspector *self = g_object_new (LIG_TYPE_INSPECTOR, NULL);
  GtkWidget *scroller = gtk_scrolled_window_new ();
  self->doc = g_object_ref (doc);
  self->stack = GTK_STACK (gtk_stack_new ());
  self->op = lig_inspector_op_new (doc);
  self->several = lig_inspector_several_new (doc);
  self->sequence = lig_inspector_sequence_new (doc);
  gtk_stack_set_vhomogeneous (self->stack, FALSE);
  gtk_stack_add_child (self->stack, self->op);
  gtk_stack_add_child (self->stack, self->several);
  gtk_stack_add_child (self->stack, self->sequence);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->stack));
  adw_bin_set_child (ADW_BIN (self), scroller);
  /* Its lines fill its width, but take no space from the score. */
  gtk_widget_set_hexpand (GTK_WIDGET (self), FALSE);
  gtk_widget_set_size_request (GTK_WIDGET (self), 312, -1);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (doc, signals[i], G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (doc, "wanted", G_CALLBACK (want), self, G_CONNECT_SWAPPED);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Inspector"), -1);
  update (self);
  return GTK_WIDGET (self);
}
