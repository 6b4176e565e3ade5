/* SPDX-License-Identifier: MIT */
/* Requests are named `ROUND.COPY`, so that lines of an earlier round are ignored. */
#include "ui/try/text-side.h"

#include "ui/try/copies.h"
#include "ui/try/prompt.h"
#include "ui/try/settings.h"
#include "ui/try/tokens.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"
#include <ligature/error.h>
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/shell.h>

#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>

struct _LigTryText {
  AdwBin parent_instance;
  GtkBox *prompt_place, *settings_place, *legend;
  GtkLabel *size, *copies_title;
  GtkStack *copies_stack;
  GtkScrolledWindow *copies_place;
  GtkButton *stop_button, *continue_button, *generate_button;
  GtkToggleButton *plain_button;
  LigTryPrompt *prompt;
  LigTryCopies *copies;
  LigTrySettings *settings;

  LigTrying *trying;
  gulong handler;
  guint round;
  char *prompt_text; /* of this round */
};

G_DEFINE_FINAL_TYPE (LigTryText, lig_try_text, ADW_TYPE_BIN)

static guint changed_signal;

static void
show_state (LigTryText *self)
{
  guint count = lig_try_copies_get_count (self->copies);
  gboolean writing = lig_try_copies_get_writing (self->copies) > 0, any = FALSE;
  for (guint i = 0; i < count; i++)
    any |= lig_try_copies_get_tokens (self->copies, i) > 0;
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "try.generate", self->trying && !writing);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "try.stop", self->trying && writing);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "try.continue",
                                 self->trying && !writing && any);
  gtk_widget_set_visible (GTK_WIDGET (self->stop_button), writing);
  gtk_widget_set_visible (GTK_WIDGET (self->continue_button), !writing && any);
  gtk_stack_set_visible_child_name (self->copies_stack, count > 0 ? "texts" : "none");
  gtk_widget_set_visible (GTK_WIDGET (self->legend), count > 0);
  g_autofree char *title =
    count == 0 ? g_strdup (_ ("Continuations"))
               : g_strdup_printf (ngettext ("%u continuation", "%u continuations", count), count);
  gtk_label_set_label (self->copies_title, title);
}

/* --- Lines --------------------------------------------------------------------------------- */

static void
take_line (LigTrying *trying, JsonObject *line, LigTryText *self)
{
  guint round, copy;
  const char *id = lig_json_get_string (line, "id", NULL);
  const char *error = lig_json_get_string (line, "error", NULL);
  if (!id || sscanf (id, "%u.%u", &round, &copy) != 2 || round != self->round)
    return;
  guint before = lig_try_copies_get_writing (self->copies);
  gboolean first = lig_try_copies_get_tokens (self->copies, copy) == 0;
  lig_try_copies_take (self->copies, copy, line);
  if (error && copy == 0)
    lig_toast_error (GTK_WIDGET (self), g_error_new_literal (LIG_ERROR, LIG_ERROR_VALUE, error));
  if (first || before != lig_try_copies_get_writing (self->copies))
    show_state (self);
}

/* Returns the prompt (transfer full). An empty one begins with a line break, because a model needs
 * a token to start from. */
static char *
get_prompt (LigTryText *self)
{
  char *text = lig_try_prompt_get_text (self->prompt);
  if (*text)
    return text;
  g_free (text);
  return g_strdup ("\n");
}

/* --- Actions ------------------------------------------------------------------------------- */

/* Requests a continuation of the prompt, or of what was written already. */
static void
request (LigTryText *self, guint copy, gboolean more)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *id = g_strdup_printf ("%u.%u", self->round, copy);
  const char *written = more ? lig_try_copies_get_text (self->copies, copy) : "";
  guint tokens = more ? lig_try_copies_get_tokens (self->copies, copy) : 0;
  g_autofree char *prompt = g_strconcat (self->prompt_text, written, NULL);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "id", id);
  lig_json_add_text (builder, "prompt", prompt);
  /* A continued text draws from another seed, or it would begin with the same draws. */
  lig_try_settings_add_request (self->settings, builder, copy + tokens);
  lig_trying_send (self->trying, builder);
}

static void
generate (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigTryText *self = LIG_TRY_TEXT (widget);
  guint count = lig_try_settings_get_copies (self->settings);
  g_free (self->prompt_text);
  self->prompt_text = get_prompt (self);
  self->round++;
  lig_try_copies_begin (self->copies, count);
  for (guint i = 0; i < count; i++)
    request (self, i, FALSE);
  show_state (self);
}

static void
continue_texts (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigTryText *self = LIG_TRY_TEXT (widget);
  self->round++;
  lig_try_copies_continue (self->copies);
  for (guint i = 0; i < lig_try_copies_get_count (self->copies); i++)
    request (self, i, TRUE);
  show_state (self);
}

static void
stop (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigTryText *self = LIG_TRY_TEXT (widget);
  for (guint i = 0; i < lig_try_copies_get_count (self->copies); i++) {
    g_autoptr (JsonBuilder) builder = json_builder_new ();
    g_autofree char *id = g_strdup_printf ("%u.%u", self->round, i);
    if (!lig_try_copies_is_writing (self->copies, i))
      continue;
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "cancel", id);
    lig_trying_send (self->trying, builder);
  }
}

void
lig_try_text_set_trying (LigTryText *self, LigTrying *trying)
{
  if (self->trying)
    g_signal_handler_disconnect (self->trying, self->handler);
  g_clear_object (&self->trying);
  lig_try_copies_abandon (self->copies);
  self->round++;
  if (trying) {
    self->trying = g_object_ref (trying);
    self->handler = g_signal_connect (trying, "line", G_CALLBACK (take_line), self);
  }
  show_state (self);
}

void
lig_try_text_append_options (LigTryText *self, GString *to)
{
  g_autofree char *prompt = get_prompt (self);
  lig_shell_append_option (to, "prompt", prompt);
  lig_try_settings_append_options (self->settings, to);
}

static void
toggle_plain (GtkToggleButton *button, LigTryText *self)
{
  lig_try_copies_set_plain (self->copies, gtk_toggle_button_get_active (button));
}

static void
prompt_changed (LigTryText *self)
{
  g_autofree char *text = lig_try_prompt_get_text (self->prompt);
  gsize length = strlen (text);
  g_autofree char *number = lig_figure_count ((gint64) length);
  g_autofree char *size = g_strdup_printf (ngettext ("%s byte", "%s bytes", length), number);
  gtk_label_set_label (self->size, length > 0 ? size : "");
  g_signal_emit (self, changed_signal, 0);
}

static void
settings_changed (LigTryText *self)
{
  g_signal_emit (self, changed_signal, 0);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_text_dispose (GObject *object)
{
  LigTryText *self = LIG_TRY_TEXT (object);
  if (self->trying)
    g_signal_handler_disconnect (self->trying, self->handler);
  g_clear_object (&self->trying);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_TRY_TEXT);
  g_clear_pointer (&self->prompt_text, g_free);
  G_OBJECT_CLASS (lig_try_text_parent_class)->dispose (object);
}

static void
lig_try_text_class_init (LigTryTextClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_try_text_dispose;
  changed_signal = g_signal_new ("changed", LIG_TYPE_TRY_TEXT, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
  gtk_widget_class_install_action (widget_class, "try.generate", NULL, generate);
  gtk_widget_class_install_action (widget_class, "try.stop", NULL, stop);
  gtk_widget_class_install_action (widget_class, "try.continue", NULL, continue_texts);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/ligature/Ligature/ui/try/text-side.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, LigTryText, name)
  BIND (prompt_place);
  BIND (settings_place);
  BIND (legend);
  BIND (size);
  BIND (copies_title);
  BIND (copies_stack);
  BIND (copies_place);
  BIND (stop_button);
  BIND (continue_button);
  BIND (generate_button);
  BIND (plain_button);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, toggle_plain);
}

static void
lig_try_text_init (LigTryText *self)
{
  static const char *const steps[LIG_N_TOKEN_STEPS] = {N_ ("50 % or more"), N_ ("10 % or more"),
                                                       N_ ("less")};
  gtk_widget_init_template (GTK_WIDGET (self));
  self->prompt = LIG_TRY_PROMPT (lig_try_prompt_new ());
  self->copies = LIG_TRY_COPIES (lig_try_copies_new ());
  self->settings = LIG_TRY_SETTINGS (lig_try_settings_new ());
  gtk_box_append (self->prompt_place, GTK_WIDGET (self->prompt));
  gtk_box_append (self->settings_place, GTK_WIDGET (self->settings));
  gtk_scrolled_window_set_child (self->copies_place, GTK_WIDGET (self->copies));
  /* A text is often higher than the place; it scrolls to its tokens itself. */
  gtk_viewport_set_scroll_to_focus (
    GTK_VIEWPORT (gtk_scrolled_window_get_child (self->copies_place)), FALSE);
  for (guint i = 0; i < LIG_N_TOKEN_STEPS; i++)
    gtk_box_append (self->legend, lig_token_sample_new (i, _ (steps[i])));
  g_signal_connect_swapped (self->prompt, "changed", G_CALLBACK (prompt_changed), self);
  g_signal_connect_swapped (self->settings, "changed", G_CALLBACK (settings_changed), self);
  show_state (self);
}

GtkWidget *
lig_try_text_new (void)
{
  return g_object_new (LIG_TYPE_TRY_TEXT, NULL);
}
