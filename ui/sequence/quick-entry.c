/* SPDX-License-Identifier: MIT */
/* The sequence as one line of text. */
#include "ui/sequence/quick-entry.h"

#include "ui/sequence/op-completion.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include <ligature/sequence.h>

#include <glib/gi18n.h>
#include <string.h>

/* Between the entry and its error, as in quick-entry.ui. */
#define SPACING 6

struct _LigQuickEntry {
  GtkWidget parent_instance;
  LigDocument *doc;
  GtkEntry *entry;
  GtkOverlay *frame;
  GtkWidget *more; /* the ellipsis of a truncated text */
  GtkWidget *error_box;
  GtkLabel *error;
  LigOpCompletion *completion;
  char *followed; /* the expression that was shown last */
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (LigQuickEntry, lig_quick_entry, GTK_TYPE_WIDGET)

enum { FINISHED, N_SIGNALS };
static guint signals[N_SIGNALS];

const char *
lig_quick_entry_get_error (LigQuickEntry *self)
{
  return gtk_widget_get_visible (self->error_box) ? gtk_label_get_text (self->error) : NULL;
}

static const char *
get_text (LigQuickEntry *self)
{
  return gtk_editable_get_text (GTK_EDITABLE (self->entry));
}

static gboolean
is_edited (LigQuickEntry *self)
{
  return g_strcmp0 (get_text (self), self->followed) != 0;
}

/* --- Checking ------------------------------------------------------------------------------ */

/* Underlines from `column 14: …`, as the library translates it, to the end of the word there. */
static void
underline (LigQuickEntry *self, const GError *error)
{
  PangoAttrList *attributes = pango_attr_list_new ();
  const char *text = get_text (self);
  guint column = 0;
  if (error && sscanf (error->message, _ ("column %u"), &column) != 1)
    column = 0;
  if (column > 0 && column <= (guint) g_utf8_strlen (text, -1)) {
    PangoAttribute *line = pango_attr_underline_new (PANGO_UNDERLINE_ERROR);
    const char *start = g_utf8_offset_to_pointer (text, (glong) column - 1);
    gsize length = strcspn (start, " !(){}[],=|");
    line->start_index = (guint) (start - text);
    line->end_index = line->start_index + (guint) MAX (length, 1);
    pango_attr_list_insert (attributes, line);
  }
  gtk_entry_set_attributes (self->entry, attributes);
  pango_attr_list_unref (attributes);
}

static void
show_error (LigQuickEntry *self, const GError *error)
{
  g_autofree char *text = error ? lig_figure_sentence (error->message) : NULL;
  underline (self, error);
  gtk_label_set_text (self->error, text ? text : "");
  gtk_widget_set_visible (self->error_box, text != NULL);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_STATE_INVALID,
                               text ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE,
                               -1);
  lig_css_class_set (GTK_WIDGET (self->entry), "error", text != NULL);
}

/* Returns: (nullable): the sequence of the text. Unedited text is as valid as the document. */
static LigSequence *
check (LigQuickEntry *self)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence =
    is_edited (self) ? lig_sequence_from_expression (get_text (self), &error) : NULL;
  show_error (self, error);
  return sequence;
}

/* Returns the height of the error below the entry, which the completion must not cover. */
static int
measure_error (LigQuickEntry *self)
{
  int height = 0;
  if (gtk_widget_get_visible (self->error_box))
    gtk_widget_measure (self->error_box, GTK_ORIENTATION_VERTICAL,
                        gtk_widget_get_width (GTK_WIDGET (self)), NULL, &height, NULL, NULL);
  return height > 0 ? height + SPACING : 0;
}

static void
change (LigQuickEntry *self)
{
  if (self->filling)
    return;
  g_autoptr (LigSequence) sequence = check (self);
  lig_op_completion_update (self->completion, measure_error (self));
}

/* --- Following the document ---------------------------------------------------------------- */

static void
fill (LigQuickEntry *self)
{
  self->filling = TRUE;
  gtk_editable_set_text (GTK_EDITABLE (self->entry), self->followed);
  gboolean focused =
    gtk_widget_get_state_flags (GTK_WIDGET (self->entry)) & GTK_STATE_FLAG_FOCUS_WITHIN;
  gtk_editable_set_position (GTK_EDITABLE (self->entry), focused ? -1 : 0);
  self->filling = FALSE;
  lig_op_completion_hide (self->completion);
  show_error (self, NULL);
}

static void
follow (LigQuickEntry *self)
{
  gboolean edited = self->followed && is_edited (self);
  g_free (self->followed);
  self->followed = lig_sequence_to_expression (lig_document_get_sequence (self->doc));
  if (!edited)
    fill (self);
  else
    check (self);
}

/* --- Into the document --------------------------------------------------------------------- */

static void
copy_constraints (LigOp *from, LigOp *to)
{
  lig_op_set_forbidden (to, lig_op_get_forbidden (from));
  lig_op_set_forced (to, lig_op_get_forced (from));
  lig_op_set_unknown (to, lig_op_get_unknown (from));
}

static gboolean
are_alike (LigSequence *a, guint i, LigSequence *b, guint k)
{
  return g_str_equal (lig_op_get_name (lig_sequence_get (a, (int) i, NULL)),
                      lig_op_get_name (lig_sequence_get (b, (int) k, NULL)));
}

/* An expression cannot force or forbid a fusion at an op: ops before and after the edited part keep
 * their constraints. */
static void
keep_constraints (LigSequence *old, LigSequence *new)
{
  guint before = lig_sequence_get_length (old), now = lig_sequence_get_length (new);
  guint start = 0, end = 0, shorter = MIN (before, now);
  while (start < shorter && are_alike (old, start, new, start))
    start++;
  while (end < shorter - start && are_alike (old, before - 1 - end, new, now - 1 - end))
    end++;
  /* Nor can it contain a fence before the first op of a block. */
  if (start > 0 && lig_op_get_fence (lig_sequence_get (old, 0, NULL)))
    lig_op_set_fence (lig_sequence_get (new, 0, NULL), TRUE);
  for (guint i = 0; i < now; i++) {
    guint k = i < start ? i : i + before - now;
    if (i < start || i >= now - end)
      copy_constraints (lig_sequence_get (old, (int) k, NULL),
                        lig_sequence_get (new, (int) i, NULL));
    LigSequence *body = lig_op_get_body (lig_sequence_get (new, (int) i, NULL));
    if (body && (i < start || i >= now - end))
      keep_constraints (lig_op_get_body (lig_sequence_get (old, (int) k, NULL)), body);
  }
}

static void
keep_settings (LigSequence *old, LigSequence *new)
{
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (old, &shape, &dtype);
  lig_sequence_set_input (new, &shape, dtype);
  lig_sequence_set_name (new, lig_sequence_get_name (old));
  lig_sequence_set_types (new, lig_sequence_get_compute (old), lig_sequence_get_parameters (old));
  lig_sequence_set_recipe (new, lig_sequence_get_recipe (old), NULL);
  lig_sequence_set_train (new, lig_sequence_get_train (old));
  lig_sequence_set_unknown (new, lig_sequence_get_unknown (old));
  lig_sequence_set_forbidden (new, lig_sequence_get_forbidden (old));
  keep_constraints (old, new);
}

static void
accept (LigQuickEntry *self)
{
  LigSequence *old = lig_document_get_sequence (self->doc);
  g_autoptr (LigSequence) new = check (self);
  if (lig_quick_entry_get_error (self))
    return;
  if (new) {
    keep_settings (old, new);
    g_free (self->followed);
    self->followed = g_strdup (get_text (self));
    lig_document_replace (self->doc, new, _ ("Edit as text"));
    /* No signal was emitted if the edit changed only the notation. */
    follow (self);
  }
  g_signal_emit (self, signals[FINISHED], 0);
}

static gboolean
press_key (LigQuickEntry *self, guint key)
{
  if (lig_op_completion_press_key (self->completion, key))
    return TRUE;
  if (key != GDK_KEY_Escape)
    return FALSE;
  if (is_edited (self))
    fill (self);
  else
    g_signal_emit (self, signals[FINISHED], 0);
  return TRUE;
}

static void
leave (LigQuickEntry *self)
{
  lig_op_completion_hide (self->completion);
}

/* --- Texts that are cut --------------------------------------------------------------------- */

/* Returns whether the text extends past the end of the entry while the user is not typing in it. */
static gboolean
is_cut (LigQuickEntry *self)
{
  GtkWidget *text = GTK_WIDGET (gtk_editable_get_delegate (GTK_EDITABLE (self->entry)));
  graphene_rect_t strong;
  if (gtk_widget_has_focus (text) || gtk_widget_get_width (text) == 0)
    return FALSE;
  guint length = gtk_entry_get_text_length (self->entry);
  gtk_text_compute_cursor_extents (GTK_TEXT (text), length, &strong, NULL);
  return strong.origin.x > (float) gtk_widget_get_width (text);
}

/* The ellipsis covers the end of the entry if the text is truncated. */
static gboolean
place_more (GtkOverlay *frame, GtkWidget *more, GdkRectangle *place, LigQuickEntry *self)
{
  int width, height = gtk_widget_get_allocated_height (GTK_WIDGET (self->entry));
  gtk_widget_measure (more, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
  int end = gtk_widget_get_allocated_width (GTK_WIDGET (self->entry));
  gtk_widget_set_opacity (more, is_cut (self) ? 1 : 0);
  *place = (GdkRectangle){end - width, 0, width, height};
  return TRUE;
}

static void
place_again (LigQuickEntry *self)
{
  gtk_widget_queue_allocate (GTK_WIDGET (self->frame));
}

void
lig_quick_entry_focus (LigQuickEntry *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
  gtk_editable_select_region (GTK_EDITABLE (self->entry), 0, -1);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_quick_entry_dispose (GObject *object)
{
  LigQuickEntry *self = LIG_QUICK_ENTRY (object);
  g_clear_pointer (&self->completion, lig_op_completion_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_QUICK_ENTRY);
  g_clear_object (&self->doc);
  g_clear_pointer (&self->followed, g_free);
  G_OBJECT_CLASS (lig_quick_entry_parent_class)->dispose (object);
}

static void
lig_quick_entry_class_init (LigQuickEntryClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_quick_entry_dispose;
  signals[FINISHED] = g_signal_new ("finished", LIG_TYPE_QUICK_ENTRY, G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/sequence/quick-entry.ui");
  gtk_widget_class_bind_template_child (widget_class, LigQuickEntry, entry);
  gtk_widget_class_bind_template_child (widget_class, LigQuickEntry, frame);
  gtk_widget_class_bind_template_child (widget_class, LigQuickEntry, more);
  gtk_widget_class_bind_template_child (widget_class, LigQuickEntry, error_box);
  gtk_widget_class_bind_template_child (widget_class, LigQuickEntry, error);
  gtk_widget_class_bind_template_callback (widget_class, change);
  gtk_widget_class_bind_template_callback (widget_class, accept);
  gtk_widget_class_bind_template_callback (widget_class, press_key);
  gtk_widget_class_bind_template_callback (widget_class, leave);
  gtk_widget_class_set_css_name (widget_class, "quick-entry");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_quick_entry_init (LigQuickEntry *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->completion = lig_op_completion_new (self->entry);
  GtkWidget *text = GTK_WIDGET (gtk_editable_get_delegate (GTK_EDITABLE (self->entry)));
  g_signal_connect (self->frame, "get-child-position", G_CALLBACK (place_more), self);
  g_signal_connect_swapped (text, "notify::has-focus", G_CALLBACK (place_again), self);
  g_signal_connect_swapped (self->entry, "changed", G_CALLBACK (place_again), self);
}

GtkWidget *
lig_quick_entry_new (LigDocument *doc)
{
  LigQuickEntry *self = g_object_new (LIG_TYPE_QUICK_ENTRY, NULL);
  self->doc = g_object_ref (doc);
  g_signal_connect_object (doc, "changed", G_CALLBACK (follow), self, G_CONNECT_SWAPPED);
  follow (self);
  return GTK_WIDGET (self);
}
