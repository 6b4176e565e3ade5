/* SPDX-License-Identifier: MIT */
/* A popover that never takes the focus from its entry. */
#include "ui/sequence/op-completion.h"

#include <ligature/op.h>

#include <glib/gi18n.h>
#include <string.h>

#define MAX_OFFERS 8

struct _LigOpCompletion {
  GtkEntry *entry;
  GtkWidget *popover;
  GtkListBox *list;
  gboolean taking;
};

/* --- The word ------------------------------------------------------------------------------ */

/* Returns the start of the op's name that is being typed before the cursor, as a byte offset; -1 if
 * the cursor is not at an op's name. */
static int
find_word (const char *text, int cursor)
{
  int start = cursor;
  while (start > 0 && (g_ascii_isalnum (text[start - 1]) || text[start - 1] == '-'))
    start--;
  int before = start;
  while (before > 0 && g_ascii_isspace (text[before - 1]))
    before--;
  gboolean possible = before == 0 || strchr ("!{|", text[before - 1]) != NULL;
  return possible && start < cursor ? start : -1;
}

static char *
get_word (LigOpCompletion *self, int *start)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->entry));
  int position = gtk_editable_get_position (GTK_EDITABLE (self->entry));
  int cursor = (int) (g_utf8_offset_to_pointer (text, position) - text);
  *start = find_word (text, cursor);
  return *start < 0 ? NULL : g_strndup (text + *start, (gsize) (cursor - *start));
}

/* --- Offers -------------------------------------------------------------------------------- */

static void
offer (LigOpCompletion *self, const LigOpInfo *info)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *name = gtk_label_new (info->name);
  GtkWidget *title = gtk_label_new (_ (info->summary));
  gtk_widget_add_css_class (name, "monospace");
  gtk_widget_add_css_class (title, "dim-label");
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (title), 48);
  gtk_box_append (GTK_BOX (line), name);
  gtk_box_append (GTK_BOX (line), title);
  GtkWidget *row = gtk_list_box_row_new ();
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  gtk_widget_set_focusable (row, FALSE);
  g_object_set_data (G_OBJECT (row), "name", (gpointer) info->name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, info->name,
                                  -1);
  gtk_list_box_append (self->list, row);
}

static guint
fill (LigOpCompletion *self, const char *word)
{
  GtkListBoxRow *row;
  const LigOpInfo *info;
  guint count = 0;
  while ((row = gtk_list_box_get_row_at_index (self->list, 0)))
    gtk_list_box_remove (self->list, GTK_WIDGET (row));
  /* Names that begin with the word come before names that contain it. */
  for (int within = 0; within < 2; within++)
    for (guint i = 0; (info = lig_op_info_nth (i)) && count < MAX_OFFERS; i++) {
      gboolean begins = g_str_has_prefix (info->name, word);
      if (g_str_equal (info->name, word) ||
          (within ? begins || !strstr (info->name, word) : !begins))
        continue;
      offer (self, info);
      count++;
    }
  return count;
}

/* Returns the horizontal position of the word in the entry. */
static int
find_x (LigOpCompletion *self, int start)
{
  graphene_rect_t cursor;
  graphene_point_t point;
  GtkEditable *text = gtk_editable_get_delegate (GTK_EDITABLE (self->entry));
  const char *whole = gtk_editable_get_text (text);
  gsize at = (gsize) g_utf8_pointer_to_offset (whole, whole + start);
  gtk_text_compute_cursor_extents (GTK_TEXT (text), at, &cursor, NULL);
  if (!gtk_widget_compute_point (GTK_WIDGET (text), GTK_WIDGET (self->entry), &cursor.origin,
                                 &point))
    return 0;
  return CLAMP ((int) point.x, 0, gtk_widget_get_width (GTK_WIDGET (self->entry)));
}

void
lig_op_completion_update (LigOpCompletion *self, int below)
{
  int start;
  g_autofree char *word = get_word (self, &start);
  if (self->taking || !word || fill (self, word) == 0) {
    lig_op_completion_hide (self);
    return;
  }
  GdkRectangle at = {find_x (self, start), 0, 1,
                     gtk_widget_get_height (GTK_WIDGET (self->entry)) + below};
  gtk_popover_set_pointing_to (GTK_POPOVER (self->popover), &at);
  gtk_popover_popup (GTK_POPOVER (self->popover));
}

void
lig_op_completion_hide (LigOpCompletion *self)
{
  gtk_popover_popdown (GTK_POPOVER (self->popover));
}

/* --- Taking one ---------------------------------------------------------------------------- */

static void
take (LigOpCompletion *self, GtkListBoxRow *row)
{
  int start;
  g_autofree char *word = get_word (self, &start);
  const char *name = g_object_get_data (G_OBJECT (row), "name");
  if (!word)
    return;
  GtkEditable *editable = GTK_EDITABLE (self->entry);
  const char *text = gtk_editable_get_text (editable);
  int from = (int) g_utf8_pointer_to_offset (text, text + start);
  int to = gtk_editable_get_position (editable);
  self->taking = TRUE;
  gtk_editable_delete_text (editable, from, to);
  gtk_editable_insert_text (editable, name, -1, &from);
  gtk_editable_set_position (editable, from);
  self->taking = FALSE;
  lig_op_completion_hide (self);
}

static void
choose (LigOpCompletion *self, int by)
{
  GtkListBoxRow *now = gtk_list_box_get_selected_row (self->list);
  int index = now ? gtk_list_box_row_get_index (now) + by : by > 0 ? 0 : -1;
  GtkListBoxRow *next = index >= 0 ? gtk_list_box_get_row_at_index (self->list, index) : NULL;
  gtk_list_box_select_row (self->list, next);
}

gboolean
lig_op_completion_press_key (LigOpCompletion *self, guint key)
{
  if (!gtk_widget_get_visible (self->popover))
    return FALSE;
  GtkListBoxRow *chosen = gtk_list_box_get_selected_row (self->list);
  gboolean enter = key == GDK_KEY_Return || key == GDK_KEY_KP_Enter;
  if (key == GDK_KEY_Down || key == GDK_KEY_KP_Down)
    choose (self, 1);
  else if (key == GDK_KEY_Up || key == GDK_KEY_KP_Up)
    choose (self, -1);
  else if (key == GDK_KEY_Tab || (enter && chosen))
    take (self, chosen ? chosen : gtk_list_box_get_row_at_index (self->list, 0));
  else if (key == GDK_KEY_Escape)
    lig_op_completion_hide (self);
  else
    return FALSE;
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

LigOpCompletion *
lig_op_completion_new (GtkEntry *entry)
{
  LigOpCompletion *self = g_new0 (LigOpCompletion, 1);
  GtkWidget *list = gtk_list_box_new ();
  self->entry = entry;
  self->list = GTK_LIST_BOX (list);
  self->popover = gtk_popover_new ();
  gtk_widget_set_parent (self->popover, GTK_WIDGET (entry));
  gtk_popover_set_autohide (GTK_POPOVER (self->popover), FALSE);
  gtk_popover_set_has_arrow (GTK_POPOVER (self->popover), FALSE);
  gtk_popover_set_position (GTK_POPOVER (self->popover), GTK_POS_BOTTOM);
  gtk_popover_set_child (GTK_POPOVER (self->popover), list);
  gtk_widget_set_halign (self->popover, GTK_ALIGN_START);
  gtk_widget_set_can_focus (self->popover, FALSE);
  gtk_widget_add_css_class (self->popover, "op-completion");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Matching operations"), -1);
  g_signal_connect_swapped (list, "row-activated", G_CALLBACK (take), self);
  return self;
}

void
lig_op_completion_free (LigOpCompletion *self)
{
  gtk_widget_unparent (self->popover);
  g_free (self);
}
