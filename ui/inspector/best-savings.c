/* SPDX-License-Identifier: MIT */
#include "ui/inspector/best-savings.h"

#include "ui/document/savings.h"
#include "ui/inspector/parts.h"
#include "ui/savings/saving-row.h"
#include "ui/widgets/tooltip.h"

#include <adwaita.h>
#include <glib/gi18n.h>

enum { SHOWN = 3 };

#define LIG_TYPE_BEST_SAVINGS (lig_best_savings_get_type ())
G_DECLARE_FINAL_TYPE (LigBestSavings, lig_best_savings, LIG, BEST_SAVINGS, AdwBin)

struct _LigBestSavings {
  AdwBin parent_instance;
  LigDocument *document;
  GtkBox *rows;
};

G_DEFINE_FINAL_TYPE (LigBestSavings, lig_best_savings, ADW_TYPE_BIN)

static GtkWidget *
new_row (LigBestSavings *self, const LigSaving *saving)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *buttons = lig_saving_buttons_new (self->document, saving);
  g_autofree char *title = lig_document_label_saving (saving);
  g_autofree char *time = lig_saving_time_text (saving), *memory = lig_saving_memory_text (saving);
  g_autofree char *text = g_strdup_printf (_ ("%s, memory %s"), time, memory);
  GtkWidget *figures = lig_inspector_label (text, "numeric");
  gtk_widget_add_css_class (row, "line");
  gtk_widget_add_css_class (figures, "dim-label");
  gtk_widget_set_halign (buttons, GTK_ALIGN_END);
  gtk_box_append (GTK_BOX (row), lig_inspector_label (title, NULL));
  gtk_box_append (GTK_BOX (row), figures);
  gtk_box_append (GTK_BOX (row), buttons);
  return row;
}

/* Shows the best saving of each kind: recipes, for example, differ little from each other. */
static void
show (LigBestSavings *self)
{
  unsigned kinds = 0;
  guint shown = 0;
  GPtrArray *savings = lig_document_get_savings (self->document);
  for (GtkWidget *child; (child = gtk_widget_get_first_child (GTK_WIDGET (self->rows)));)
    gtk_box_remove (self->rows, child);
  for (guint i = 0; savings && i < savings->len && shown < SHOWN; i++) {
    const LigSaving *saving = savings->pdata[i];
    unsigned kind = 1u << saving->kind;
    if (kinds & kind)
      continue;
    gtk_box_append (self->rows, new_row (self, saving));
    kinds |= kind;
    shown++;
  }
  gtk_widget_set_visible (GTK_WIDGET (self), savings && savings->len > 0);
}

static void
dispose (GObject *object)
{
  g_clear_object (&LIG_BEST_SAVINGS (object)->document);
  G_OBJECT_CLASS (lig_best_savings_parent_class)->dispose (object);
}

static void
lig_best_savings_class_init (LigBestSavingsClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
}

static void
lig_best_savings_init (LigBestSavings *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *title = lig_inspector_label (_ ("Savings"), "heading");
  GtkWidget *all = gtk_button_new_with_label (_ ("Show all"));
  self->rows = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  gtk_widget_add_css_class (GTK_WIDGET (self->rows), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self->rows), "lines");
  gtk_widget_add_css_class (all, "flat");
  gtk_widget_set_hexpand (title, TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (all), "win.savings");
  lig_tooltip_set (all, _ ("All changes that would save time or memory, and what fits"));
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), all);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->rows));
  adw_bin_set_child (ADW_BIN (self), box);
}

GtkWidget *
lig_best_savings_new (LigDocument *document)
{
  LigBestSavings *self = g_object_new (LIG_TYPE_BEST_SAVINGS, NULL);
  self->document = g_object_ref (document);
  g_signal_connect_object (document, "savings", G_CALLBACK (show), self, G_CONNECT_SWAPPED);
  lig_document_want_savings (document, FALSE);
  show (self);
  return GTK_WIDGET (self);
}
