/* SPDX-License-Identifier: MIT */
#include "ui/savings/capacity-card.h"

#include "ui/widgets/chart-view.h"
#include "ui/widgets/figures.h"
#include <ligature/units.h>

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define LIG_TYPE_CAPACITY_CARD (lig_capacity_card_get_type ())
G_DECLARE_FINAL_TYPE (LigCapacityCard, lig_capacity_card, LIG, CAPACITY_CARD, AdwBin)

struct _LigCapacityCard {
  AdwBin parent_instance;
  LigDocument *document;
  LigCapacityAxis axis;
  GtkLabel *title, *text;
  LigChartView *chart;
};

G_DEFINE_FINAL_TYPE (LigCapacityCard, lig_capacity_card, ADW_TYPE_BIN)

static const LigCapacityPoint *
find_point (const LigCapacity *capacity, gint64 length)
{
  for (guint i = 0; i < capacity->points->len; i++) {
    const LigCapacityPoint *point = &g_array_index (capacity->points, LigCapacityPoint, i);
    if (point->length == length)
      return point;
  }
  return NULL;
}

static char *
describe_title (const LigCapacity *self)
{
  g_autofree char *largest = lig_figure_count (self->largest);
  if (self->largest == 0)
    return g_strdup (self->axis == LIG_CAPACITY_BATCH ? _ ("No batch fits")
                                                      : _ ("No context fits"));
  if (self->limit)
    return g_strdup_printf (
      self->axis == LIG_CAPACITY_BATCH ? _ ("Batch up to %s") : _ ("Context up to %s"), largest);
  return g_strdup_printf (self->axis == LIG_CAPACITY_BATCH ? _ ("Largest batch that fits: %s")
                                                           : _ ("Longest context that fits: %s"),
                          largest);
}

/* Returns `148 GB, ≈ 1.56 µs per token, 66 % MFU; now 9.09 GB, ≈ 1.75 µs`. */
static char *
describe (const LigCapacity *self)
{
  const LigCapacityPoint *largest = find_point (self, self->largest);
  const LigCapacityPoint *present = find_point (self, self->present);
  g_autoptr (GString) text = g_string_new (NULL);
  const LigCapacityPoint *const both[] = {largest, present == largest ? NULL : present};
  for (guint i = 0; i < G_N_ELEMENTS (both); i++) {
    if (!both[i])
      continue;
    g_autofree char *memory = lig_units_bytes (both[i]->memory);
    g_autofree char *each = lig_units_time (both[i]->per_row);
    if (text->len > 0)
      g_string_append (text, _ ("; now "));
    g_string_append (text, memory);
    if (!isnan (both[i]->per_row))
      g_string_append_printf (text, self->tokens ? _ (", ≈ %s per token") : _ (", ≈ %s per row"),
                              each);
    if (both[i]->mfu >= 0.005)
      g_string_append_printf (text, _ (", %.0f %% MFU"), 100 * both[i]->mfu);
  }
  if (self->limit) {
    g_autofree char *sentence = lig_figure_sentence (self->limit);
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", sentence);
  }
  return g_strdup (text->str);
}

static void
show_chart (LigCapacityCard *self, const LigCapacity *capacity)
{
  guint count = 0;
  g_autofree double *x = g_new (double, capacity->points->len + 1);
  g_autofree double *y = g_new (double, capacity->points->len + 1);
  for (guint i = 0; i < capacity->points->len; i++) {
    const LigCapacityPoint *point = &g_array_index (capacity->points, LigCapacityPoint, i);
    if (!point->fits || isnan (point->per_row))
      continue;
    x[count] = log2 ((double) point->length);
    y[count++] = point->per_row * 1e6;
  }
  lig_chart_view_clear (self->chart);
  lig_chart_view_set_labels (self->chart, NULL,
                             capacity->axis == LIG_CAPACITY_BATCH ? _ ("log2 of the batch")
                                                                  : _ ("log2 of the context"),
                             capacity->tokens ? _ ("µs per token") : _ ("µs per row"));
  lig_chart_view_set_log (self->chart, TRUE);
  if (count > 0)
    lig_chart_view_add_points (self->chart, _ ("predicted"), x, y, count);
  gtk_widget_set_visible (GTK_WIDGET (self->chart), count > 1);
}

static void
show (LigCapacityCard *self)
{
  const LigCapacity *capacity = lig_document_get_capacity (self->document, self->axis);
  gtk_widget_set_visible (GTK_WIDGET (self), capacity != NULL);
  if (!capacity)
    return;
  g_autofree char *title = describe_title (capacity), *text = describe (capacity);
  gtk_label_set_text (self->title, title);
  gtk_label_set_text (self->text, text);
  show_chart (self, capacity);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  g_clear_object (&LIG_CAPACITY_CARD (object)->document);
  G_OBJECT_CLASS (lig_capacity_card_parent_class)->dispose (object);
}

static void
lig_capacity_card_class_init (LigCapacityCardClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dispose;
}

static GtkLabel *
new_label (const char *class)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_widget_add_css_class (label, class);
  return GTK_LABEL (label);
}

static void
lig_capacity_card_init (LigCapacityCard *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  self->title = new_label ("saving-title");
  self->text = new_label ("saving-detail");
  self->chart = LIG_CHART_VIEW (lig_chart_view_new ());
  gtk_widget_set_size_request (GTK_WIDGET (self->chart), 240, 150);
  gtk_widget_add_css_class (box, "card");
  gtk_widget_add_css_class (box, "capacity");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->text));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->chart));
  adw_bin_set_child (ADW_BIN (self), box);
}

GtkWidget *
lig_capacity_card_new (LigDocument *document, LigCapacityAxis axis)
{
  LigCapacityCard *self = g_object_new (LIG_TYPE_CAPACITY_CARD, NULL);
  self->document = g_object_ref (document);
  self->axis = axis;
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  g_signal_connect_object (document, "savings", G_CALLBACK (show), self, G_CONNECT_SWAPPED);
  show (self);
  return GTK_WIDGET (self);
}
