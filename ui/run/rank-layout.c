/* SPDX-License-Identifier: MIT */
/* The choice among the layouts of as many ranks as are chosen. */
#include "ui/run/ranks.h"

#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

#define KEY "tensor-ranks"

typedef struct {
  LigDocument *doc;
  GtkWidget *row, *down;
  GtkStringList *names;
  int ranks; /* that the names are for */
} Row;

static GSettings *
get_settings (LigDocument *doc)
{
  return lig_session_get_settings (lig_document_get_session (doc));
}

/* Returns the number of ranks of a tensor group in the n-th layout, 0 after the last. */
static int
find_divisor (int ranks, guint n)
{
  for (int tensor = 1; tensor <= ranks; tensor++)
    if (ranks % tensor == 0 && n-- == 0)
      return tensor;
  return 0;
}

static void
fill (Row *self, int ranks)
{
  guint before = g_list_model_get_n_items (G_LIST_MODEL (self->names));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  int tensor;
  self->ranks = 0;
  for (guint i = 0; (tensor = find_divisor (ranks, i)) > 0; i++) {
    LigLayout layout;
    lig_layout_init (&layout, ranks / tensor);
    layout.sizes[LIG_GROUP_TENSOR] = tensor;
    g_ptr_array_add (names, lig_layout_to_string (&layout));
  }
  g_ptr_array_add (names, NULL);
  gtk_string_list_splice (self->names, 0, before, (const char *const *) names->pdata);
  self->ranks = ranks;
}

static void
update (Row *self)
{
  LigLayout layout = lig_ranks_choose_layout (self->doc);
  int ranks = lig_layout_size (&layout, LIG_GROUP_ALL);
  int chosen = lig_layout_size (&layout, LIG_GROUP_TENSOR), tensor;
  gtk_widget_set_visible (self->row, ranks > 1);
  if (ranks != self->ranks)
    fill (self, ranks);
  for (guint i = 0; (tensor = find_divisor (ranks, i)) > 0; i++)
    if (tensor == chosen)
      gtk_drop_down_set_selected (GTK_DROP_DOWN (self->down), i);
}

/* While the names are filled in, nothing is chosen. */
static void
chosen (Row *self)
{
  guint selected = gtk_drop_down_get_selected (GTK_DROP_DOWN (self->down));
  int tensor = self->ranks > 0 ? find_divisor (self->ranks, selected) : 0;
  if (tensor == 0 || tensor == g_settings_get_int (get_settings (self->doc), KEY))
    return;
  g_settings_set_int (get_settings (self->doc), KEY, tensor);
  g_signal_emit_by_name (self->doc, "settings");
}

static void
free_row (gpointer data)
{
  Row *self = data;
  g_signal_handlers_disconnect_by_data (self->doc, self);
  g_object_unref (self->doc);
  g_free (self);
}

static GtkWidget *
make_texts (const char *help)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *title = gtk_label_new (_ ("Layout of the ranks")), *text = gtk_label_new (help);
  gtk_widget_add_css_class (text, "dim-label");
  gtk_widget_add_css_class (text, "caption");
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_xalign (GTK_LABEL (text), 0);
  gtk_label_set_wrap (GTK_LABEL (text), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (text), 36);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), text);
  gtk_widget_set_hexpand (box, TRUE);
  return box;
}

GtkWidget *
lig_rank_layout_row_new (LigDocument *doc)
{
  const char *help =
    _ ("Ranks of a data group have other rows, those of a tensor group other parts of the weights");
  Row *self = g_new0 (Row, 1);
  self->doc = g_object_ref (doc);
  self->row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  self->names = gtk_string_list_new (NULL);
  self->down = gtk_drop_down_new (G_LIST_MODEL (self->names), NULL);
  gtk_widget_set_valign (self->down, GTK_ALIGN_CENTER);
  lig_tooltip_set (self->down, help);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->down), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Layout of the ranks"), -1);
  gtk_box_append (GTK_BOX (self->row), make_texts (help));
  gtk_box_append (GTK_BOX (self->row), self->down);
  g_object_set (self->row, "margin-start", 12, "margin-end", 12, NULL);
  update (self);
  g_signal_connect_swapped (self->down, "notify::selected", G_CALLBACK (chosen), self);
  g_signal_connect_swapped (doc, "settings", G_CALLBACK (update), self);
  g_object_set_data_full (G_OBJECT (self->row), "row", self, free_row);
  return self->row;
}
