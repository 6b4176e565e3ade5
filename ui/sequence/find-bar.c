/* SPDX-License-Identifier: MIT */
/* The row that is found becomes the cursor, which the score scrolls into view. */
#include "ui/sequence/find-bar.h"

#include "ui/widgets/css-class.h"
#include "ui/widgets/tooltip.h"
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <string.h>

struct _LigFindBar {
  GtkWidget parent_instance;
  LigDocument *document;
  GtkSearchBar *bar;
  GtkSearchEntry *entry;
  GtkLabel *count;
};

G_DEFINE_FINAL_TYPE (LigFindBar, lig_find_bar, GTK_TYPE_WIDGET)

static char *
fold (const char *text)
{
  g_autofree char *normal = g_utf8_normalize (text, -1, G_NORMALIZE_ALL);
  return g_utf8_casefold (normal ? normal : "", -1);
}

static gboolean
has_text (const char *text, const char *wanted)
{
  g_autofree char *folded = fold (text);
  return strstr (folded, wanted) != NULL;
}

static gboolean
matches (const LigRow *row, const char *wanted)
{
  return g_str_equal (row->path, wanted) || has_text (lig_op_get_name (row->op), wanted) ||
         has_text (_ (lig_op_get_info (row->op)->title), wanted);
}

static void
show_count (LigFindBar *self, guint found, gboolean asked)
{
  g_autofree char *text =
    found ? g_strdup_printf (ngettext ("%u row", "%u rows", found), found) : g_strdup (_ ("None"));
  gtk_label_set_text (self->count, asked ? text : "");
  lig_css_class_set (GTK_WIDGET (self->entry), "error", asked && !found);
}

/* Searches from the cursor, forward or backward, wrapping around; @step 0 keeps a cursor that
 * matches.
 */
static void
find (LigFindBar *self, int step)
{
  guint count, found = 0;
  const LigRow *rows = lig_document_get_rows (self->document, &count);
  g_autofree char *text = g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->entry)));
  g_autofree char *wanted = fold (g_strstrip (text));
  LigOp *cursor = lig_document_get_cursor (self->document), *first = NULL;
  guint at = 0, start;
  while (at < count && rows[at].op != cursor)
    at++;
  /* Without a cursor, before the first row. */
  guint by = step < 0 ? count - 1 : 1;
  start = at == count ? 0 : step == 0 ? at : at + by;
  for (guint i = 0; *wanted && i < count; i++) {
    const LigRow *row = &rows[(start + i * by) % count];
    if (!matches (row, wanted))
      continue;
    first = first ? first : row->op;
    found++;
  }
  show_count (self, found, *wanted != '\0');
  if (first)
    lig_document_select (self->document, first, LIG_SELECT_ONLY);
}

static void
find_typed (LigFindBar *self)
{
  find (self, 0);
}

static void
find_next (LigFindBar *self)
{
  find (self, 1);
}

static void
find_previous (LigFindBar *self)
{
  find (self, -1);
}

static void
stop (LigFindBar *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  gtk_search_bar_set_search_mode (self->bar, FALSE);
  g_signal_emit_by_name (self, "finished");
}

void
lig_find_bar_begin (LigFindBar *self)
{
  gtk_search_bar_set_search_mode (self->bar, TRUE);
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
  gtk_editable_select_region (GTK_EDITABLE (self->entry), 0, -1);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_find_bar_dispose (GObject *object)
{
  LigFindBar *self = LIG_FIND_BAR (object);
  if (self->bar)
    gtk_widget_unparent (GTK_WIDGET (g_steal_pointer (&self->bar)));
  g_clear_object (&self->document);
  G_OBJECT_CLASS (lig_find_bar_parent_class)->dispose (object);
}

static void
lig_find_bar_class_init (LigFindBarClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_find_bar_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  g_signal_new ("finished", LIG_TYPE_FIND_BAR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                0);
}

static GtkWidget *
new_button (LigFindBar *self, const char *icon, const char *text, GCallback callback)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);
  lig_tooltip_set (button, text);
  gtk_widget_add_css_class (button, "flat");
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  g_signal_connect_swapped (button, "clicked", callback, self);
  return button;
}

static void
lig_find_bar_init (LigFindBar *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->bar = GTK_SEARCH_BAR (gtk_search_bar_new ());
  self->entry = GTK_SEARCH_ENTRY (gtk_search_entry_new ());
  self->count = GTK_LABEL (gtk_label_new (NULL));
  g_object_set (self->entry, "placeholder-text", _ ("Name or path of an operation"), "hexpand",
                TRUE, "width-request", 240, NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Name or path of an operation"), -1);
  gtk_label_set_width_chars (self->count, 8);
  gtk_widget_add_css_class (GTK_WIDGET (self->count), "dim-label");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->entry));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->count));
  gtk_box_append (GTK_BOX (box), new_button (self, "go-up-symbolic", _ ("Previous row"),
                                             G_CALLBACK (find_previous)));
  gtk_box_append (GTK_BOX (box),
                  new_button (self, "go-down-symbolic", _ ("Next row"), G_CALLBACK (find_next)));
  gtk_search_bar_set_child (self->bar, box);
  gtk_widget_set_parent (GTK_WIDGET (self->bar), GTK_WIDGET (self));
  const struct {
    const char *signal;
    GCallback callback;
  } signals[] = {
    {"search-changed", G_CALLBACK (find_typed)}, {"activate", G_CALLBACK (find_next)},
    {"next-match", G_CALLBACK (find_next)},      {"previous-match", G_CALLBACK (find_previous)},
    {"stop-search", G_CALLBACK (stop)},
  };
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_swapped (self->entry, signals[i].signal, signals[i].callback, self);
}

GtkWidget *
lig_find_bar_new (LigDocument *document)
{
  LigFindBar *self = g_object_new (LIG_TYPE_FIND_BAR, NULL);
  self->document = g_object_ref (document);
  return GTK_WIDGET (self);
}
