/* SPDX-License-Identifier: MIT */
/* Tiles and a table of times. */
#include "ui/profile/figures.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>

static double
sum_predicted (LigPlan *plan, int pass)
{
  guint count;
  double seconds = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    if (pass < 0 || (int) steps[i].pass == pass)
      seconds += lig_figure_predicted_step (&steps[i]);
  return seconds;
}

static double
sum_bytes (LigPlan *plan)
{
  guint count;
  double bytes = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    bytes += steps[i].read + steps[i].written;
  return bytes;
}

static GtkWidget *
new_label (const char *text, const char *class, float align)
{
  GtkWidget *label = gtk_label_new (text);
  if (class)
    gtk_widget_add_css_class (label, class);
  gtk_label_set_xalign (GTK_LABEL (label), align);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  return label;
}

/* --- Tiles ----------------------------------------------------------------------------------- */

static GtkWidget *
new_tile (const char *title, double measured, double predicted)
{
  GtkWidget *tile = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *forecast = lig_draw_time (predicted);
  g_autofree char *time = measured <= 0 && isnan (predicted)
                            ? g_strdup ("–")
                            : lig_draw_time (measured > 0 ? measured : predicted);
  g_autofree char *note = NULL;
  if (measured <= 0 && isnan (predicted))
    note = g_strdup (_ ("neither measured nor predicted"));
  else if (measured <= 0 && predicted <= 0)
    note = g_strdup (_ ("nothing to do"));
  else if (measured <= 0)
    note = g_strdup (_ ("predicted, not measured"));
  else if (predicted > 0)
    note = g_strdup_printf (_ ("predicted %s · %.0f %%"), forecast, 100 * predicted / measured);
  else
    note = g_strdup (_ ("measured"));
  GtkWidget *value = new_label (time, "title-2", 0), *lesser = new_label (note, "caption", 0);
  g_autofree char *whole = g_strdup_printf ("%s: %s, %s", title, time, note);
  gtk_widget_add_css_class (tile, "card");
  gtk_widget_add_css_class (tile, "figure");
  gtk_widget_add_css_class (value, "numeric");
  if (measured <= 0)
    gtk_widget_add_css_class (value, "dim-label");
  gtk_widget_add_css_class (lesser, "dim-label");
  gtk_widget_set_hexpand (tile, TRUE);
  gtk_widget_set_tooltip_text (tile, whole);
  gtk_box_append (GTK_BOX (tile), new_label (title, "heading", 0));
  gtk_box_append (GTK_BOX (tile), value);
  gtk_box_append (GTK_BOX (tile), lesser);
  return tile;
}

static void
clear (GtkWidget *box)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (box)))
    gtk_widget_unparent (child);
}

void
lig_profile_figures_fill (GtkBox *box, LigPlan *plan, const LigProfiled *profiled)
{
  static const char *const titles[] = {N_ ("Forward"), N_ ("Backward"), N_ ("Update"),
                                       N_ ("Whole step")};
  const double measured[] = {profiled ? profiled->forward : 0, profiled ? profiled->backward : 0,
                             profiled ? profiled->update : 0, profiled ? profiled->step : 0};
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (box))))
    gtk_box_remove (box, child);
  for (int i = 0; i < 4; i++)
    gtk_box_append (box,
                    new_tile (_ (titles[i]), measured[i], sum_predicted (plan, i < 3 ? i : -1)));
}

/* --- Policies -------------------------------------------------------------------------------- */

static void
choose (GtkCheckButton *button, gpointer data)
{
  LigProfiling *profiling = data;
  guint n = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "n"));
  if (gtk_check_button_get_active (button))
    lig_profiling_show (profiling, n);
}

static const char *
policy_title (LigPolicy policy)
{
  return policy == LIG_POLICY_NONE  ? _ ("None: every op alone")
         : policy == LIG_POLICY_ALL ? _ ("All: every legal fusion")
                                    : _ ("Measured: the fastest here");
}

static void
attach (GtkGrid *grid, int column, int row, const char *text, const char *class)
{
  GtkWidget *label = new_label (text, class, 1);
  gtk_widget_add_css_class (label, "numeric");
  gtk_widget_set_hexpand (label, TRUE);
  gtk_grid_attach (grid, label, column, row, 1, 1);
}

static void
attach_time (GtkGrid *grid, int column, int row, double seconds)
{
  g_autofree char *text = lig_draw_time (seconds);
  attach (grid, column, row, text, NULL);
}

static void
attach_row (GtkGrid *grid, LigProfiling *profiling, guint n, double best, GtkCheckButton **group)
{
  const LigProfiled *profiled = lig_profiling_get (profiling, n);
  int row = (int) n + 1;
  g_autofree char *ratio = g_strdup_printf ("%.3f", profiled->step / best);
  g_autofree char *bytes = lig_draw_bytes (sum_bytes (profiled->plan));
  GtkWidget *button =
    gtk_check_button_new_with_label (policy_title (lig_plan_get_policy (profiled->plan)));
  if (*group)
    gtk_check_button_set_group (GTK_CHECK_BUTTON (button), *group);
  *group = GTK_CHECK_BUTTON (button);
  gtk_check_button_set_active (*group, profiled == lig_profiling_get_shown (profiling));
  g_object_set_data (G_OBJECT (button), "n", GUINT_TO_POINTER (n));
  g_signal_connect_object (button, "toggled", G_CALLBACK (choose), profiling, 0);
  gtk_widget_set_tooltip_text (button, _ ("Show it in the pictures"));
  gtk_grid_attach (grid, button, 0, row, 1, 1);
  attach_time (grid, 1, row, profiled->step);
  attach (grid, 2, row, ratio, profiled->step <= best ? "best" : NULL);
  attach_time (grid, 3, row, profiled->forward);
  attach_time (grid, 4, row, profiled->backward);
  attach_time (grid, 5, row, profiled->update);
  attach (grid, 6, row, bytes, NULL);
}

void
lig_profile_figures_compare (GtkGrid *grid, LigProfiling *profiling)
{
  static const char *const titles[] = {N_ ("Whole step"), N_ ("To the best"), N_ ("Forward"),
                                       N_ ("Backward"),   N_ ("Update"),      N_ ("Moved")};
  GtkCheckButton *group = NULL;
  double best = G_MAXDOUBLE;
  clear (GTK_WIDGET (grid));
  gtk_grid_attach (grid, new_label (_ ("Policy"), "caption-heading", 0), 0, 0, 1, 1);
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    attach (grid, (int) i + 1, 0, _ (titles[i]), "caption-heading");
  for (guint i = 0; lig_profiling_get (profiling, i); i++)
    best = MIN (best, lig_profiling_get (profiling, i)->step);
  for (guint i = 0; lig_profiling_get (profiling, i); i++)
    attach_row (grid, profiling, i, MAX (best, 1e-12), &group);
}
