/* SPDX-License-Identifier: MIT */
/* An op in the palette. During a search, it also shows its summary, because that may contain the
 * match.
 */
#include "ui/sequence/palette-item.h"

#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigPaletteItem {
  GtkListBoxRow parent_instance;
  const LigOpInfo *info;
  guint place;
  int rank;
  char *title, *name, *rest; /* casefolded, for the search */
  GtkWidget *summary;
};

G_DEFINE_FINAL_TYPE (LigPaletteItem, lig_palette_item, GTK_TYPE_LIST_BOX_ROW)

const LigOpInfo *
lig_palette_item_get_info (LigPaletteItem *self)
{
  return self->info;
}

guint
lig_palette_item_get_place (LigPaletteItem *self)
{
  return self->place;
}

int
lig_palette_item_get_rank (LigPaletteItem *self)
{
  return self->rank;
}

/* --- Search -------------------------------------------------------------------------------- */

/* Returns the rank of a match: 0 equals the title or name, 1 starts them, 2 starts a word of the
 * title, 3 is inside them, 4 is elsewhere; -1: no match. */
static int
find_word (LigPaletteItem *self, const char *word)
{
  const char *at = strstr (self->title, word);
  if (g_str_equal (self->title, word) || g_str_equal (self->info->name, word))
    return 0;
  if (at == self->title || g_str_has_prefix (self->name, word))
    return 1;
  if (at)
    return at[-1] == ' ' ? 2 : 3;
  if (strstr (self->name, word))
    return 3;
  return strstr (self->rest, word) ? 4 : -1;
}

void
lig_palette_item_match (LigPaletteItem *self, const char *const *words)
{
  gtk_widget_set_visible (self->summary, words && *words);
  self->rank = 0;
  for (; words && *words && self->rank >= 0; words++) {
    int found = find_word (self, *words);
    self->rank = found < 0 ? -1 : self->rank + found;
  }
}

/* --- Dragging ------------------------------------------------------------------------------ */

static GdkContentProvider *
prepare_drag (GtkDragSource *source, double x, double y, LigPaletteItem *self)
{
  return gdk_content_provider_new_typed (G_TYPE_STRING, self->info->name);
}

static void
begin_drag (GtkDragSource *source, GdkDrag *drag, LigPaletteItem *self)
{
  GtkWidget *icon = gtk_drag_icon_get_for_drag (drag);
  GtkWidget *label = gtk_label_new (_ (self->info->title));
  gtk_widget_add_css_class (label, "drag-op");
  gtk_drag_icon_set_child (GTK_DRAG_ICON (icon), label);
  gdk_drag_set_hotspot (drag, -12, -6);
  gtk_widget_add_css_class (GTK_WIDGET (self), "dragged");
}

static void
end_drag (GtkDragSource *source, GdkDrag *drag, gboolean deleted, LigPaletteItem *self)
{
  gtk_widget_remove_css_class (GTK_WIDGET (self), "dragged");
}

static void
make_draggable (LigPaletteItem *self)
{
  GtkDragSource *source = gtk_drag_source_new ();
  gtk_drag_source_set_actions (source, GDK_ACTION_COPY);
  g_signal_connect (source, "prepare", G_CALLBACK (prepare_drag), self);
  g_signal_connect (source, "drag-begin", G_CALLBACK (begin_drag), self);
  g_signal_connect (source, "drag-end", G_CALLBACK (end_drag), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (source));
}

/* --- Construction -------------------------------------------------------------------------- */

static void
add (GtkWidget *widget, const char *action, GVariant *parameter)
{
  GtkWidget *list = gtk_widget_get_ancestor (widget, GTK_TYPE_LIST_BOX);
  if (list)
    g_signal_emit_by_name (list, "row-activated", widget);
}

static void
lig_palette_item_finalize (GObject *object)
{
  LigPaletteItem *self = LIG_PALETTE_ITEM (object);
  g_free (self->title);
  g_free (self->name);
  g_free (self->rest);
  G_OBJECT_CLASS (lig_palette_item_parent_class)->finalize (object);
}

/* The list is a single Tab stop with arrow keys inside it: otherwise every registered op would add
 * a Tab press before the score. An item that rejects the focus from its neighbour lets the focus
 * leave the list. */
static gboolean
focus_item (GtkWidget *widget, GtkDirectionType direction)
{
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root ? gtk_root_get_focus (root) : NULL;
  if ((direction == GTK_DIR_TAB_FORWARD || direction == GTK_DIR_TAB_BACKWARD) && focus &&
      gtk_widget_is_ancestor (focus, gtk_widget_get_parent (widget)))
    return FALSE;
  return GTK_WIDGET_CLASS (lig_palette_item_parent_class)->focus (widget, direction);
}

static void
lig_palette_item_class_init (LigPaletteItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_palette_item_finalize;
  GTK_WIDGET_CLASS (class)->focus = focus_item;
  gtk_widget_class_install_action (GTK_WIDGET_CLASS (class), "item.add", NULL, add);
}

static void
lig_palette_item_init (LigPaletteItem *self)
{
}

static GtkWidget *
make_text (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

static void
fill (LigPaletteItem *self)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *handle = gtk_image_new_from_icon_name ("list-drag-handle-symbolic");
  self->summary = make_text (_ (self->info->summary), "caption");
  gtk_widget_add_css_class (self->summary, "dim-label");
  gtk_widget_set_visible (self->summary, FALSE);
  gtk_box_append (GTK_BOX (texts), make_text (_ (self->info->title), NULL));
  gtk_box_append (GTK_BOX (texts), self->summary);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_widget_add_css_class (handle, "handle");
  gtk_box_append (GTK_BOX (line), texts);
  gtk_box_append (GTK_BOX (line), handle);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (self), line);
}

GtkWidget *
lig_palette_item_new (const LigOpInfo *info, guint place)
{
  LigPaletteItem *self = g_object_new (LIG_TYPE_PALETTE_ITEM, NULL);
  self->info = info;
  self->place = place;
  g_auto (GStrv) parts = g_strsplit (info->name, "-", -1);
  g_autofree char *joined = g_strjoinv ("", parts);
  g_autofree char *rest = g_strjoin (" ", info->title, info->name, _ (info->category),
                                     info->category, _ (info->summary), NULL);
  g_autofree char *names = g_strjoin (" ", info->name, joined, NULL);
  self->title = g_utf8_casefold (_ (info->title), -1);
  self->name = g_utf8_casefold (names, -1);
  self->rest = g_utf8_casefold (rest, -1);
  fill (self);
  g_autofree char *tip = g_strjoin ("\n", _ (info->summary), info->formula, NULL);
  lig_tooltip_set (GTK_WIDGET (self), tip);
  gtk_widget_add_css_class (GTK_WIDGET (self), "palette-item");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (info->title), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  _ (info->summary), -1);
  make_draggable (self);
  return GTK_WIDGET (self);
}
