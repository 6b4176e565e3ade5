/* SPDX-License-Identifier: MIT */
#include "ui/savings/saving-row.h"

#include "ui/document/edit.h"
#include "ui/savings/amount.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

void
lig_saving_scale_find (LigSavingScale *self, GPtrArray *savings)
{
  *self = (LigSavingScale){0, 0};
  for (guint i = 0; savings && i < savings->len; i++) {
    const LigSaving *saving = savings->pdata[i];
    if (!isnan (saving->seconds))
      self->seconds = MAX (self->seconds, fabs (saving->seconds));
    self->memory = MAX (self->memory, fabs (saving->memory));
  }
}

/* --- Buttons ------------------------------------------------------------------------------- */

/* Returns what a saving changes, and to what. */
static char *
make_key (const LigSaving *saving)
{
  return g_strdup_printf ("%s %s", lig_saving_kind_name (saving->kind), saving->value);
}

/* Returns the saving with this key in the document's current list; null if it has none any
 * more. */
static const LigSaving *
find (LigDocument *document, const char *key)
{
  GPtrArray *savings = lig_document_get_savings (document);
  for (guint i = 0; savings && i < savings->len; i++) {
    g_autofree char *own = make_key (savings->pdata[i]);
    if (g_str_equal (own, key))
      return savings->pdata[i];
  }
  return NULL;
}

static void
try_it (GtkButton *button, LigDocument *document)
{
  const LigSaving *saving = find (document, gtk_widget_get_name (GTK_WIDGET (button)));
  if (!saving)
    return;
  lig_document_try_saving (document, saving);
  gtk_widget_activate_action (GTK_WIDGET (button), "win.score", NULL);
}

static void
apply (GtkButton *button, LigDocument *document)
{
  GError *error = NULL;
  g_autoptr (GtkWidget) kept = g_object_ref (GTK_WIDGET (button));
  const LigSaving *saving = find (document, gtk_widget_get_name (kept));
  if (saving && !lig_edit_apply_saving (document, saving, &error))
    lig_toast_error (kept, error);
}

static GtkWidget *
new_button (const char *label, const char *help, const LigSaving *saving)
{
  GtkWidget *button = gtk_button_new_with_label (label);
  g_autofree char *title = lig_document_label_saving (saving);
  g_autofree char *name = g_strdup_printf ("%s: %s", label, title);
  g_autofree char *key = make_key (saving);
  gtk_widget_set_name (button, key);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  lig_tooltip_set (button, help);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  return button;
}

GtkWidget *
lig_saving_buttons_new (LigDocument *document, const LigSaving *saving)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *trial = new_button (
    _ ("Try"), _ ("Show the plan with it on the score; Escape ends the preview"), saving);
  GtkWidget *button = new_button (_ ("Apply"), _ ("Make the change (Ctrl+Z undoes it)"), saving);
  g_signal_connect_object (trial, "clicked", G_CALLBACK (try_it), document, 0);
  g_signal_connect_object (button, "clicked", G_CALLBACK (apply), document, 0);
  gtk_box_append (GTK_BOX (box), trial);
  gtk_box_append (GTK_BOX (box), button);
  return box;
}

/* --- Rows ---------------------------------------------------------------------------------- */

static GtkWidget *
new_label (const char *text, const char *class, gboolean wraps)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), wraps);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars (GTK_LABEL (label), wraps ? 22 : -1);
  gtk_label_set_max_width_chars (GTK_LABEL (label), wraps ? 60 : -1);
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

static GtkWidget *
new_texts (const LigSaving *saving)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  g_autofree char *title = lig_document_label_saving (saving);
  g_autofree char *detail = saving->fits ? g_strdup (saving->detail)
                                         : g_strdup (_ ("the plan still does not fit the device"));
  g_autofree char *sentence = detail ? lig_figure_sentence (detail) : NULL;
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), new_label (title, "saving-title", TRUE));
  if (sentence)
    gtk_box_append (GTK_BOX (box), new_label (sentence, "saving-detail", TRUE));
  return box;
}

GtkWidget *
lig_saving_row_new (LigDocument *document,
                    const LigSaving *saving,
                    const LigSavingScale *scale,
                    GtkSizeGroup *const columns[3])
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  g_autofree char *time = lig_saving_time_text (saving), *memory = lig_saving_memory_text (saving);
  GtkWidget *const cells[] = {
    lig_saving_amount_new (time, scale->seconds > 0 ? saving->seconds / scale->seconds : NAN),
    lig_saving_amount_new (memory, scale->memory > 0 ? saving->memory / scale->memory : NAN),
    lig_saving_buttons_new (document, saving)};
  gtk_widget_add_css_class (row, "saving-row");
  gtk_box_append (GTK_BOX (row), new_texts (saving));
  for (guint i = 0; i < G_N_ELEMENTS (cells); i++) {
    gtk_size_group_add_widget (columns[i], cells[i]);
    gtk_box_append (GTK_BOX (row), cells[i]);
  }
  return row;
}
