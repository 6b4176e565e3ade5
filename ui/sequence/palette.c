/* SPDX-License-Identifier: MIT */
/* The palette: a list of ops with a heading for each category; during a search, the best match
 * comes first and headings are hidden. */
#include "ui/sequence/palette.h"

#include "ui/document/edit.h"
#include "ui/sequence/palette-item.h"
#include "ui/widgets/connect-offer.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

struct _LigPalette {
  GtkWidget parent_instance;
  LigDocument *doc;
  GtkEditable *search;
  GtkListBox *list;
  GtkLabel *nothing;
  GtkWidget *scroller;
  GStrv words; /* searched for */
};

G_DEFINE_FINAL_TYPE (LigPalette, lig_palette, GTK_TYPE_WIDGET)

static LigPaletteItem *
get_item (LigPalette *self, int index)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (self->list, index);
  return row ? LIG_PALETTE_ITEM (row) : NULL;
}

static gboolean
is_searching (LigPalette *self)
{
  return self->words && *self->words;
}

/* --- The list ------------------------------------------------------------------------------ */

static guint
get_rank (LigPaletteItem *item)
{
  int rank = lig_palette_item_get_rank (item);
  return rank < 0 ? G_MAXUINT : (guint) rank;
}

/* Items that do not match come last, where they are hidden. */
static int
compare (GtkListBoxRow *a, GtkListBoxRow *b, gpointer data)
{
  LigPaletteItem *first = LIG_PALETTE_ITEM (a), *second = LIG_PALETTE_ITEM (b);
  if (get_rank (first) != get_rank (second))
    return get_rank (first) < get_rank (second) ? -1 : 1;
  return (int) lig_palette_item_get_place (first) - (int) lig_palette_item_get_place (second);
}

static gboolean
is_found (GtkListBoxRow *row, gpointer data)
{
  return lig_palette_item_get_rank (LIG_PALETTE_ITEM (row)) >= 0;
}

static void
update_header (GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
{
  const char *category = lig_palette_item_get_info (LIG_PALETTE_ITEM (row))->category;
  gboolean begins =
    !before ||
    !g_str_equal (category, lig_palette_item_get_info (LIG_PALETTE_ITEM (before))->category);
  if (is_searching (data) || !begins) {
    gtk_list_box_row_set_header (row, NULL);
    return;
  }
  GtkWidget *heading = g_object_new (GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_HEADING,
                                     "label", _ (category), "xalign", 0.0, NULL);
  gtk_widget_add_css_class (heading, "heading");
  gtk_list_box_row_set_header (row, heading);
}

/* Categories are in the order in which the registry first names them; an op that is registered
 * later joins its category. */
static void
add_items (LigPalette *self)
{
  const LigOpInfo *info;
  g_autoptr (GPtrArray) categories = g_ptr_array_new ();
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (!g_ptr_array_find_with_equal_func (categories, info->category, g_str_equal, NULL))
      g_ptr_array_add (categories, (gpointer) info->category);
  guint place = 0;
  for (guint k = 0; k < categories->len; k++)
    for (guint i = 0; (info = lig_op_info_nth (i)); i++)
      if (g_str_equal (info->category, categories->pdata[k]))
        gtk_list_box_append (self->list, lig_palette_item_new (info, place++));
}

/* --- Adding -------------------------------------------------------------------------------- */

static void
add_op (LigPalette *self, LigPaletteItem *item)
{
  GError *error = NULL;
  if (!lig_edit_add (self->doc, lig_palette_item_get_info (item)->name, &error))
    lig_toast_error (GTK_WIDGET (self), error);
  else
    lig_connect_offer (GTK_WIDGET (self), self->doc);
}

static void
activate_row (LigPalette *self, GtkListBoxRow *row)
{
  add_op (self, LIG_PALETTE_ITEM (row));
}

/* --- Search -------------------------------------------------------------------------------- */

static GStrv
split_words (const char *text)
{
  g_autofree char *folded = g_utf8_casefold (text, -1);
  g_auto (GStrv) parts = g_strsplit_set (folded, " \t", -1);
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  for (guint i = 0; parts[i]; i++)
    if (*parts[i])
      g_strv_builder_add (words, parts[i]);
  return g_strv_builder_end (words);
}

static void
search (LigPalette *self)
{
  const char *text = gtk_editable_get_text (self->search);
  LigPaletteItem *item;
  g_strfreev (self->words);
  self->words = split_words (text);
  for (int i = 0; (item = get_item (self, i)); i++)
    lig_palette_item_match (item, (const char *const *) self->words);
  g_autofree char *nothing = g_strdup_printf (_ ("No operation matches “%s”"), text);
  gtk_label_set_text (self->nothing, nothing);
  gtk_list_box_invalidate_sort (self->list);
  gtk_list_box_invalidate_filter (self->list);
  gtk_list_box_invalidate_headers (self->list);
  GtkAdjustment *adjustment =
    gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scroller));
  gtk_adjustment_set_value (adjustment, 0);
}

static LigPaletteItem *
get_first (LigPalette *self)
{
  LigPaletteItem *item = get_item (self, 0);
  return item && lig_palette_item_get_rank (item) >= 0 ? item : NULL;
}

static void
add_first (LigPalette *self)
{
  LigPaletteItem *first = get_first (self);
  if (!is_searching (self) || !first)
    return;
  add_op (self, first);
  gtk_editable_select_region (self->search, 0, -1);
}

static void
clear_search (LigPalette *self)
{
  gtk_editable_set_text (self->search, "");
  gtk_widget_activate_action (GTK_WIDGET (self), "win.score", NULL);
}

static gboolean
press_key (LigPalette *self, guint key, guint code, GdkModifierType state)
{
  LigPaletteItem *first = get_first (self);
  if ((key != GDK_KEY_Down && key != GDK_KEY_KP_Down) || !first)
    return FALSE;
  return gtk_widget_grab_focus (GTK_WIDGET (first));
}

static gboolean
leave_list (LigPalette *self, GtkDirectionType direction)
{
  if (direction != GTK_DIR_UP)
    return FALSE;
  lig_palette_focus_search (self);
  return TRUE;
}

void
lig_palette_focus_search (LigPalette *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->search));
  gtk_editable_select_region (self->search, 0, -1);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_palette_dispose (GObject *object)
{
  LigPalette *self = LIG_PALETTE (object);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_PALETTE);
  g_clear_object (&self->doc);
  g_clear_pointer (&self->words, g_strfreev);
  G_OBJECT_CLASS (lig_palette_parent_class)->dispose (object);
}

static void
lig_palette_class_init (LigPaletteClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_palette_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/sequence/palette.ui");
  gtk_widget_class_bind_template_child (widget_class, LigPalette, search);
  gtk_widget_class_bind_template_child (widget_class, LigPalette, list);
  gtk_widget_class_bind_template_child (widget_class, LigPalette, nothing);
  gtk_widget_class_bind_template_child (widget_class, LigPalette, scroller);
  gtk_widget_class_bind_template_callback (widget_class, search);
  gtk_widget_class_bind_template_callback (widget_class, add_first);
  gtk_widget_class_bind_template_callback (widget_class, clear_search);
  gtk_widget_class_bind_template_callback (widget_class, press_key);
  gtk_widget_class_bind_template_callback (widget_class, leave_list);
  gtk_widget_class_bind_template_callback (widget_class, activate_row);
  gtk_widget_class_set_css_name (widget_class, "palette");
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_palette_init (LigPalette *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_search_entry_set_key_capture_widget (GTK_SEARCH_ENTRY (self->search),
                                           GTK_WIDGET (self->list));
  gtk_list_box_set_sort_func (self->list, compare, NULL, NULL);
  gtk_list_box_set_filter_func (self->list, is_found, NULL, NULL);
  gtk_list_box_set_header_func (self->list, update_header, self, NULL);
  add_items (self);
}

GtkWidget *
lig_palette_new (LigDocument *doc)
{
  LigPalette *self = g_object_new (LIG_TYPE_PALETTE, NULL);
  self->doc = g_object_ref (doc);
  gtk_widget_set_hexpand (GTK_WIDGET (self), FALSE);
  return GTK_WIDGET (self);
}
