/* SPDX-License-Identifier: MIT */
#include "ui/try/token-card.h"

#include "ui/try/bars.h"
#include <ligature/json.h>

#include <glib/gi18n.h>
#include <inttypes.h>
#include <string.h>

char *
lig_token_to_visible (const char *text)
{
  GString *visible = g_string_new (NULL);
  for (const char *at = text; *at; at = g_utf8_next_char (at)) {
    gunichar one = g_utf8_get_char (at);
    if (one == '\n')
      g_string_append (visible, "↵");
    else if (one == '\t')
      g_string_append (visible, "⇥");
    else if (one == ' ')
      g_string_append (visible, at == text || !at[1] ? "␣" : " ");
    else if (g_unichar_iscntrl (one))
      g_string_append_printf (visible, "\\x%02x", one);
    else
      g_string_append_unichar (visible, one);
  }
  return g_string_free (visible, FALSE);
}

char *
lig_token_percent (double probability)
{
  if (probability > 0 && probability < 0.0005)
    return g_strdup (_ ("< 0.1 %"));
  return g_strdup_printf (probability > 0 && probability < 0.095 ? _ ("%.1f %%") : _ ("%.0f %%"),
                          100 * probability);
}

static double
get_probability (JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "probability");
  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
}

GtkWidget *
lig_token_card_new (void)
{
  GtkWidget *self = gtk_popover_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 9);
  GtkWidget *title = gtk_label_new (NULL);
  GtkGrid *bars = lig_bars_new ();
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_add_css_class (title, "dim-label");
  gtk_widget_set_size_request (GTK_WIDGET (bars), 210, -1);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (bars));
  gtk_popover_set_child (GTK_POPOVER (self), box);
  gtk_popover_set_autohide (GTK_POPOVER (self), FALSE);
  gtk_popover_set_position (GTK_POPOVER (self), GTK_POS_BOTTOM);
  gtk_widget_set_can_focus (self, FALSE);
  gtk_widget_set_can_target (self, FALSE);
  gtk_widget_add_css_class (self, "token-card");
  g_object_set_data (G_OBJECT (self), "title", title);
  g_object_set_data (G_OBJECT (self), "bars", bars);
  return self;
}

/* Adds a row, and its part of the sentence. */
static void
add_row (GtkGrid *bars, JsonObject *one, gboolean chosen, GString *sentence)
{
  double probability = get_probability (one);
  g_autofree char *text = lig_token_to_visible (lig_json_get_string (one, "text", ""));
  g_autofree char *percent = lig_token_percent (probability);
  const LigBarRow row = {.label = text, .share = probability, .figure = percent, .strong = chosen};
  lig_bars_add (bars, &row);
  g_string_append_printf (sentence, "%s“%s” %s", sentence->len > 0 ? ", " : "", text, percent);
}

char *
lig_token_card_fill (GtkWidget *card, JsonObject *line)
{
  GtkGrid *bars = g_object_get_data (G_OBJECT (card), "bars");
  GtkLabel *title = g_object_get_data (G_OBJECT (card), "title");
  JsonArray *alternatives = lig_json_get_array (line, "alternatives");
  guint count = alternatives ? json_array_get_length (alternatives) : 0;
  gint64 chosen = lig_json_get_int (line, "token", -1);
  gboolean listed = FALSE;
  g_autoptr (GString) sentence = g_string_new (NULL);
  g_autofree char *number = g_strdup_printf (_ ("Token %" PRId64 " and its alternatives"), chosen);
  gtk_label_set_label (title, number);
  lig_bars_clear (bars);
  for (guint i = 0; i < count; i++)
    listed |= lig_json_get_int (lig_json_get_element (alternatives, i), "token", -1) == chosen;
  /* The alternatives may include it. */
  if (!listed)
    add_row (bars, line, TRUE, sentence);
  for (guint i = 0; i < count; i++) {
    JsonObject *one = lig_json_get_element (alternatives, i);
    add_row (bars, one, lig_json_get_int (one, "token", -1) == chosen, sentence);
  }
  return g_string_free (g_steal_pointer (&sentence), FALSE);
}
