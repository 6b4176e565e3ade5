/* SPDX-License-Identifier: MIT */
/* The comparison of recipes on the Profile page. */
#include "ui/profile/recipe-section.h"

#include "ui/profile/recipe-table.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/picture-view.h"
#include <ligature/draw-recipes.h>

#include <glib/gi18n.h>

struct _LigRecipeSection {
  GtkBox parent_instance;
  LigDocument *document;
  LigComparing *comparing;
  GtkWidget *notice, *progress_box, *table_box;
  GtkImage *notice_icon;
  GtkLabel *notice_label, *progress_label, *note;
  GtkProgressBar *progress;
  GtkGrid *table;
  LigPictureView *map; /* created when first needed */
  GtkWidget *map_card;
};

G_DEFINE_FINAL_TYPE (LigRecipeSection, lig_recipe_section, GTK_TYPE_BOX)

/* --- The map -------------------------------------------------------------------------------- */

static void
draw_map (LigCanvas *canvas, const LigColours *colours, double width, double height, gpointer data)
{
  lig_draw_recipes (canvas, colours, data, width);
}

static double
map_height (gpointer data)
{
  return lig_draw_recipes_height (data);
}

/* Goes to the row of the op that a mark of the map belongs to. */
static void
go_to_op (LigRecipeSection *self, int mark)
{
  GPtrArray *errors = lig_comparing_get_errors (self->comparing);
  const LigOpErrors *op = errors ? lig_draw_recipes_get_op (errors, (guint) mark) : NULL;
  const LigRow *row = op ? lig_document_find_path (self->document, op->path) : NULL;
  if (!row)
    return;
  lig_document_select (self->document, row->op, LIG_SELECT_ONLY);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.page", "s", "sequence");
}

static void
add_map (LigRecipeSection *self)
{
  GtkWidget *view = lig_picture_view_new (_ ("Errors of recipes, op by op"), "errors");
  self->map = LIG_PICTURE_VIEW (view);
  self->map_card = lig_picture_view_wrap (
    self->map, _ ("Errors op by op"),
    _ ("Quantization error of each value; Return or a double click shows the op in the sequence"));
  g_signal_connect_object (view, "activated", G_CALLBACK (go_to_op), self, G_CONNECT_SWAPPED);
  gtk_box_append (GTK_BOX (self), self->map_card);
}

/* The list belongs to the results, which are replaced only before this is called again. */
static void
show_map (LigRecipeSection *self)
{
  GPtrArray *errors = lig_comparing_get_errors (self->comparing);
  gboolean some = errors && errors->len > 0;
  if (some && !self->map)
    add_map (self);
  if (!self->map)
    return;
  gtk_widget_set_visible (self->map_card, some);
  lig_picture_view_set_picture (self->map, some ? draw_map : NULL, map_height, 60, errors, NULL);
}

/* --- State ---------------------------------------------------------------------------------- */

/* Shows the error, or else that the results are outdated. */
static void
show_notice (LigRecipeSection *self)
{
  const char *error = lig_measurement_get_error (LIG_MEASUREMENT (self->comparing));
  gboolean stale = lig_measurement_is_stale (LIG_MEASUREMENT (self->comparing));
  g_autofree char *sentence = error ? lig_figure_sentence (error) : NULL;
  gtk_widget_set_visible (self->notice, error || stale);
  gtk_widget_remove_css_class (self->notice, error ? "warning" : "error");
  gtk_widget_add_css_class (self->notice, error ? "error" : "warning");
  gtk_image_set_from_icon_name (self->notice_icon,
                                error ? "dialog-error-symbolic" : "dialog-warning-symbolic");
  gtk_label_set_label (
    self->notice_label,
    error ? sentence : _ ("The sequence or the device changed after these recipes were compared."));
}

static char *
describe_progress (double done, gboolean errors, gboolean cancelled)
{
  if (cancelled)
    return g_strdup (_ ("Stopping the comparison…"));
  if (done < 0)
    return g_strdup (_ ("Preparing a plan for each recipe…"));
  return g_strdup_printf (errors ? _ ("Comparing values with the compute type, %.0f %%")
                                 : _ ("Measuring times, %.0f %%"),
                          100 * done);
}

static void
show_progress (LigRecipeSection *self)
{
  gboolean active = lig_measurement_is_active (LIG_MEASUREMENT (self->comparing)), errors;
  gboolean cancelled = lig_measurement_is_cancelled (LIG_MEASUREMENT (self->comparing));
  double done = lig_comparing_get_progress (self->comparing, &errors);
  gtk_widget_set_visible (self->progress_box, active);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "recipes.cancel", active && !cancelled);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "recipes.run", !active);
  if (!active)
    return;
  g_autofree char *text = describe_progress (done, errors, cancelled);
  gtk_label_set_label (self->progress_label, text);
  if (cancelled || done < 0)
    gtk_progress_bar_pulse (self->progress);
  else
    gtk_progress_bar_set_fraction (self->progress, (errors ? 0.5 : 0) + 0.5 * MIN (done, 1));
}

static void
follow (LigRecipeSection *self)
{
  gboolean some = lig_comparing_get (self->comparing, 0) != NULL;
  gboolean stale = lig_measurement_is_stale (LIG_MEASUREMENT (self->comparing));
  show_notice (self);
  show_progress (self);
  gtk_widget_set_visible (self->table_box, some);
  gtk_widget_set_visible (GTK_WIDGET (self),
                          some || lig_measurement_is_active (LIG_MEASUREMENT (self->comparing)) ||
                            lig_measurement_get_error (LIG_MEASUREMENT (self->comparing)));
  lig_css_class_set (GTK_WIDGET (self->table), "outdated", stale);
  if (self->map)
    lig_css_class_set (GTK_WIDGET (self->map), "outdated", stale);
}

static void
show_results (LigRecipeSection *self)
{
  g_autofree char *note = lig_recipe_table_describe (self->comparing);
  lig_recipe_table_fill (self->table, self->comparing);
  gtk_label_set_label (self->note, note ? note : "");
  show_map (self);
  follow (self);
}

/* --- Actions -------------------------------------------------------------------------------- */

static void
run (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_widget_activate_action (widget, "win.compare-recipes", NULL);
}

static void
cancel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  lig_measurement_cancel (LIG_MEASUREMENT (LIG_RECIPE_SECTION (widget)->comparing));
}

static void
forget (GtkWidget *widget, const char *name, GVariant *parameter)
{
  lig_measurement_clear (LIG_MEASUREMENT (LIG_RECIPE_SECTION (widget)->comparing));
}

/* --- Construction --------------------------------------------------------------------------- */

static void
lig_recipe_section_dispose (GObject *object)
{
  LigRecipeSection *self = LIG_RECIPE_SECTION (object);
  if (self->map)
    lig_picture_view_set_picture (self->map, NULL, NULL, 60, NULL, NULL);
  self->map = NULL;
  g_clear_pointer (&self->map_card, gtk_widget_unparent);
  gtk_widget_dispose_template (GTK_WIDGET (self), LIG_TYPE_RECIPE_SECTION);
  g_clear_object (&self->comparing);
  G_OBJECT_CLASS (lig_recipe_section_parent_class)->dispose (object);
}

static void
lig_recipe_section_class_init (LigRecipeSectionClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = lig_recipe_section_dispose;
  gtk_widget_class_set_template_from_resource (
    widget_class, "/org/ligature/Ligature/ui/profile/recipe-section.ui");
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, notice);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, notice_icon);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, notice_label);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, progress_box);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, progress_label);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, progress);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, table_box);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, table);
  gtk_widget_class_bind_template_child (widget_class, LigRecipeSection, note);
  gtk_widget_class_install_action (widget_class, "recipes.run", NULL, run);
  gtk_widget_class_install_action (widget_class, "recipes.cancel", NULL, cancel);
  gtk_widget_class_install_action (widget_class, "recipes.forget", NULL, forget);
}

static void
lig_recipe_section_init (LigRecipeSection *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
lig_recipe_section_new (LigDocument *document)
{
  LigRecipeSection *self = g_object_new (LIG_TYPE_RECIPE_SECTION, NULL);
  self->document = document;
  self->comparing = g_object_ref (lig_comparing_of (document));
  g_signal_connect_object (self->comparing, "changed", G_CALLBACK (follow), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->comparing, "measured", G_CALLBACK (show_results), self,
                           G_CONNECT_SWAPPED);
  show_results (self);
  return GTK_WIDGET (self);
}
