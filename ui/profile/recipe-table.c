/* SPDX-License-Identifier: MIT */
/* The rows of the table of recipes. */
#include "ui/profile/recipe-table.h"

#include "ui/profile/figures.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/draw-recipes.h>

#include <glib/gi18n.h>

enum { NAME, FORWARD, BACKWARD, AGAINST, MEMORY, OUTPUT, GRADIENTS, N_COLUMNS };

static GtkWidget *
new_text (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

static void
attach_head (GtkGrid *grid)
{
  static const char *const titles[N_COLUMNS] = {
    N_ ("Recipe"), N_ ("Forward"),         N_ ("Backward"),          N_ ("Against none"),
    N_ ("Memory"), N_ ("Error of output"), N_ ("Error of gradients")};
  gtk_grid_attach (grid, new_text (_ (titles[NAME]), "caption-heading"), NAME, 0, 1, 1);
  for (int i = FORWARD; i < N_COLUMNS; i++)
    gtk_grid_attach (grid, lig_profile_cell_new (_ (titles[i]), NULL, "caption-heading"), i, 0, 1,
                     1);
}

static void
attach_name (GtkGrid *grid, const char *recipe, int row)
{
  GtkWidget *label = new_text (recipe, NULL);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_width_chars (GTK_LABEL (label), MIN ((int) g_utf8_strlen (recipe, -1), 20));
  gtk_label_set_max_width_chars (GTK_LABEL (label), 32);
  lig_tooltip_when_cut (GTK_LABEL (label));
  gtk_grid_attach (grid, label, NAME, row, 1, 1);
}

/* Puts one sentence in the place of the figures. */
static void
attach_sentence (GtkGrid *grid, const char *sentence, int row)
{
  GtkWidget *label = new_text (sentence, "dim-label");
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_width_chars (GTK_LABEL (label), 60);
  gtk_label_set_natural_wrap_mode (GTK_LABEL (label), GTK_NATURAL_WRAP_NONE);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_grid_attach (grid, label, FORWARD, row, N_COLUMNS - FORWARD, 1);
}

static void
attach_errors (GtkGrid *grid, const LigRecipeErrors *errors, int row)
{
  const double values[] = {errors->output, errors->gradient};
  for (int i = 0; i < 2; i++) {
    g_autofree char *text = lig_draw_error (values[i]);
    gtk_grid_attach (grid, lig_profile_cell_new (*text ? text : "–", NULL, NULL), OUTPUT + i, row,
                     1, 1);
  }
}

static void
attach_figures (GtkGrid *grid,
                const LigComparedRecipe *compared,
                const LigComparedRecipe *none,
                int row)
{
  LigDifference difference;
  LigDifferenceKind kind = lig_spread_compare (&compared->step, &none->step, &difference);
  g_autofree char *against = lig_difference_to_text (&difference);
  g_autofree char *bytes = lig_figure_bytes ((double) compared->bytes);
  lig_profile_attach_spread (grid, FORWARD, row, &compared->forward);
  lig_profile_attach_spread (grid, BACKWARD, row, &compared->backward);
  gtk_grid_attach (grid,
                   lig_profile_cell_new (compared == none ? "–" : against, NULL,
                                         kind == LIG_DIFFERENCE_LESS ? "best" : NULL),
                   AGAINST, row, 1, 1);
  gtk_grid_attach (grid, lig_profile_cell_new (bytes, NULL, NULL), MEMORY, row, 1, 1);
  if (compared->errors)
    attach_errors (grid, compared->errors, row);
  else
    for (int i = OUTPUT; i < N_COLUMNS; i++)
      gtk_grid_attach (grid, lig_profile_cell_new ("–", NULL, NULL), i, row, 1, 1);
}

static void
attach_row (GtkGrid *grid,
            const LigComparedRecipe *compared,
            const LigComparedRecipe *none,
            int row)
{
  attach_name (grid, compared->recipe, row);
  if (compared->rejection) {
    g_autofree char *sentence = lig_figure_sentence (compared->rejection);
    attach_sentence (grid, sentence, row);
  } else if (compared->remark)
    attach_sentence (grid, compared->remark, row);
  else
    attach_figures (grid, compared, none, row);
}

void
lig_recipe_table_fill (GtkGrid *grid, LigComparing *comparing)
{
  const LigComparedRecipe *none = lig_comparing_get (comparing, 0), *compared;
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (grid))))
    gtk_grid_remove (grid, child);
  if (!none)
    return;
  attach_head (grid);
  for (guint n = 0; (compared = lig_comparing_get (comparing, n)); n++)
    attach_row (grid, compared, none, (int) n + 1);
}

char *
lig_recipe_table_describe (LigComparing *comparing)
{
  const LigComparedRecipe *compared = lig_comparing_get (comparing, 0);
  guint count = compared ? compared->step.count : 0;
  g_autofree char *doubt = NULL;
  if (!compared)
    return NULL;
  for (guint i = 0; !doubt && (compared = lig_comparing_get (comparing, i)); i++)
    if (!compared->rejection)
      doubt = lig_conditions_to_text (&compared->conditions);
  g_autofree char *runs = g_strdup_printf (
    ngettext ("Median of %u run; whole steps are compared. Errors are relative to the compute "
              "type, on one random batch with initial weights.",
              "Medians of %u interleaved runs; whole steps are compared. Errors are relative to "
              "the compute type, on one random batch with initial weights.",
              count),
    count);
  g_autofree char *warning =
    doubt ? g_strdup_printf (_ ("These times are unreliable: %s."), doubt) : NULL;
  return g_strjoin (warning ? "\n" : "", runs, warning, NULL);
}
