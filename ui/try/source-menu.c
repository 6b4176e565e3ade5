/* SPDX-License-Identifier: MIT */
#include "ui/try/source-menu.h"

#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigTrySourceMenu {
  AdwBin parent_instance;
  GtkMenuButton *button;
  GtkPopover *popover;
  GtkListBox *list;
  GtkWidget *empty;
};

G_DEFINE_FINAL_TYPE (LigTrySourceMenu, lig_try_source_menu, ADW_TYPE_BIN)

enum { CHOSEN, OPENED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* --- The list ------------------------------------------------------------------------------ */

static GtkWidget *
make_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, class);
  lig_tooltip_when_cut (GTK_LABEL (label));
  return label;
}

static GtkWidget *
make_row (const LigTrySource *source, gboolean used)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  gtk_widget_set_hexpand (box, TRUE);
  gtk_box_append (GTK_BOX (box), make_label (source->title, "heading"));
  gtk_box_append (GTK_BOX (box), make_label (source->subtitle, "dim-label"));
  gtk_box_append (GTK_BOX (line), box);
  if (used)
    gtk_box_append (GTK_BOX (line), gtk_image_new_from_icon_name ("object-select-symbolic"));
  gtk_widget_add_css_class (line, "try-source");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  source->title, -1);
  gtk_widget_set_sensitive (row, !source->missing);
  g_object_set_data (G_OBJECT (row), "source", (gpointer) source);
  return row;
}

void
lig_try_source_menu_fill (LigTrySourceMenu *self, GPtrArray *sources, const char *model)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->list))))
    gtk_list_box_remove (self->list, child);
  for (guint i = 0; sources && i < sources->len; i++) {
    const LigTrySource *source = sources->pdata[i];
    gtk_list_box_append (self->list, make_row (source, g_strcmp0 (source->model, model) == 0));
  }
  /* The rows refer to them. */
  g_object_set_data_full (G_OBJECT (self->list), "sources",
                          sources ? g_ptr_array_ref (sources) : NULL,
                          (GDestroyNotify) g_ptr_array_unref);
  gtk_widget_set_visible (self->empty, !sources || sources->len == 0);
}

static void
row_activated (GtkListBox *list, GtkListBoxRow *row, LigTrySourceMenu *self)
{
  gtk_popover_popdown (self->popover);
  g_signal_emit (self, signals[CHOSEN], 0, g_object_get_data (G_OBJECT (row), "source"));
}

/* --- Files --------------------------------------------------------------------------------- */

static void
file_chosen (GtkNativeDialog *dialog, int response, LigTrySourceMenu *self)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  if (response == GTK_RESPONSE_ACCEPT && path) {
    g_autoptr (LigTrySource) source = lig_try_source_new_file (path);
    g_signal_emit (self, signals[CHOSEN], 0, source);
  }
  g_object_unref (dialog);
}

static void
choose_file (GtkButton *button, LigTrySourceMenu *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
    _ ("Checkpoint"), GTK_WINDOW (root), GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Choose"), NULL);
  gtk_file_filter_set_name (filter, _ ("Checkpoints (.safetensors)"));
  gtk_file_filter_add_pattern (filter, "*.safetensors");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (dialog), filter);
  gtk_popover_popdown (self->popover);
  g_signal_connect_object (dialog, "response", G_CALLBACK (file_chosen), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
opened (LigTrySourceMenu *self)
{
  g_signal_emit (self, signals[OPENED], 0);
}

static void
lig_try_source_menu_class_init (LigTrySourceMenuClass *class)
{
  signals[CHOSEN] = g_signal_new ("chosen", LIG_TYPE_TRY_SOURCE_MENU, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  signals[OPENED] = g_signal_new ("opened", LIG_TYPE_TRY_SOURCE_MENU, G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

static GtkWidget *
make_content (LigTrySourceMenu *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkWidget *file = gtk_button_new_with_mnemonic (_ ("_File…"));
  self->empty = gtk_label_new (_ ("No run has a checkpoint yet."));
  gtk_widget_add_css_class (self->empty, "dim-label");
  gtk_widget_set_tooltip_text (file, _ ("A checkpoint that another store or machine wrote"));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->list));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 360);
  gtk_widget_set_size_request (box, 340, -1);
  gtk_box_append (GTK_BOX (box), scrolled);
  gtk_box_append (GTK_BOX (box), self->empty);
  gtk_box_append (GTK_BOX (box), file);
  g_signal_connect (file, "clicked", G_CALLBACK (choose_file), self);
  return box;
}

static void
lig_try_source_menu_init (LigTrySourceMenu *self)
{
  self->button = GTK_MENU_BUTTON (gtk_menu_button_new ());
  self->popover = GTK_POPOVER (gtk_popover_new ());
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Runs with a checkpoint"), -1);
  gtk_popover_set_child (self->popover, make_content (self));
  gtk_menu_button_set_popover (self->button, GTK_WIDGET (self->popover));
  gtk_menu_button_set_label (self->button, _ ("_Model"));
  gtk_menu_button_set_use_underline (self->button, TRUE);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->button), _ ("Another run or checkpoint"));
  gtk_widget_set_valign (GTK_WIDGET (self->button), GTK_ALIGN_CENTER);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->button));
  g_signal_connect (self->list, "row-activated", G_CALLBACK (row_activated), self);
  g_signal_connect_swapped (self->popover, "show", G_CALLBACK (opened), self);
}

GtkWidget *
lig_try_source_menu_new (void)
{
  return g_object_new (LIG_TYPE_TRY_SOURCE_MENU, NULL);
}
