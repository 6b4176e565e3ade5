/* SPDX-License-Identifier: MIT */
#include "ui/try/prompt.h"

#include <glib/gi18n.h>

struct _LigTryPrompt {
  AdwBin parent_instance;
  GtkTextView *view;
  GtkTextBuffer *text;
};

G_DEFINE_FINAL_TYPE (LigTryPrompt, lig_try_prompt, ADW_TYPE_BIN)

static guint changed_signal;

/* The longest file that is dropped on the field. */
#define LONGEST ((goffset) 1 << 20)

char *
lig_try_prompt_get_text (LigTryPrompt *self)
{
  GtkTextIter start, end;
  gtk_text_buffer_get_bounds (self->text, &start, &end);
  return gtk_text_buffer_get_text (self->text, &start, &end, FALSE);
}

void
lig_try_prompt_set_text (LigTryPrompt *self, const char *text)
{
  gtk_text_buffer_set_text (self->text, text, -1);
}

static void
text_changed (LigTryPrompt *self)
{
  g_signal_emit (self, changed_signal, 0);
}

static gboolean
key_pressed (
  GtkEventControllerKey *key, guint value, guint code, GdkModifierType state, LigTryPrompt *self)
{
  gboolean enter = value == GDK_KEY_Return || value == GDK_KEY_KP_Enter;
  if (!enter || state & GDK_SHIFT_MASK)
    return FALSE;
  gtk_widget_activate_action (GTK_WIDGET (self), "try.generate", NULL);
  return TRUE;
}

/* --- Dropped files ------------------------------------------------------------------------- */

static void
take_file (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (LigTryPrompt) self = data;
  g_autofree char *bytes = NULL;
  gsize length;
  if (!g_file_load_contents_finish (G_FILE (source), result, &bytes, &length, NULL, NULL) ||
      !self->text)
    return;
  g_autofree char *text = g_utf8_make_valid (bytes, (gssize) MIN (length, (gsize) LONGEST));
  lig_try_prompt_set_text (self, text);
}

static gboolean
dropped (GtkDropTarget *target, const GValue *value, double x, double y, LigTryPrompt *self)
{
  if (!G_VALUE_HOLDS (value, G_TYPE_FILE))
    return FALSE;
  g_file_load_contents_async (g_value_get_object (value), NULL, take_file, g_object_ref (self));
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_prompt_dispose (GObject *object)
{
  LigTryPrompt *self = LIG_TRY_PROMPT (object);
  if (self->text)
    g_signal_handlers_disconnect_by_data (self->text, self);
  self->text = NULL;
  adw_bin_set_child (ADW_BIN (self), NULL);
  G_OBJECT_CLASS (lig_try_prompt_parent_class)->dispose (object);
}

static void
lig_try_prompt_class_init (LigTryPromptClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_try_prompt_dispose;
  changed_signal = g_signal_new ("changed", LIG_TYPE_TRY_PROMPT, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
lig_try_prompt_init (LigTryPrompt *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkEventController *key = gtk_event_controller_key_new ();
  GtkDropTarget *drop = gtk_drop_target_new (G_TYPE_FILE, GDK_ACTION_COPY);
  self->view = GTK_TEXT_VIEW (gtk_text_view_new ());
  self->text = gtk_text_view_get_buffer (self->view);
  gtk_text_view_set_wrap_mode (self->view, GTK_WRAP_WORD_CHAR);
  gtk_text_view_set_accepts_tab (self->view, FALSE);
  gtk_text_view_set_top_margin (self->view, 6);
  gtk_text_view_set_bottom_margin (self->view, 6);
  gtk_text_view_set_left_margin (self->view, 9);
  gtk_text_view_set_right_margin (self->view, 9);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->view),
                               _ ("Return generates; Shift+Return begins a new line"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Prompt"), -1);
  gtk_event_controller_set_propagation_phase (key, GTK_PHASE_CAPTURE);
  g_signal_connect (key, "key-pressed", G_CALLBACK (key_pressed), self);
  g_signal_connect (drop, "drop", G_CALLBACK (dropped), self);
  g_signal_connect_swapped (self->text, "changed", G_CALLBACK (text_changed), self);
  gtk_widget_add_controller (GTK_WIDGET (self->view), key);
  gtk_widget_add_controller (scrolled, GTK_EVENT_CONTROLLER (drop));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), GTK_WIDGET (self->view));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (scrolled), 54);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 160);
  gtk_widget_add_css_class (scrolled, "try-prompt");
  adw_bin_set_child (ADW_BIN (self), scrolled);
}

GtkWidget *
lig_try_prompt_new (void)
{
  return g_object_new (LIG_TYPE_TRY_PROMPT, NULL);
}
