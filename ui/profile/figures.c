/* SPDX-License-Identifier: MIT */
/* Tiles and a table of times. */
#include "ui/profile/figures.h"
#include "ui/profile/spread-bar.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/comparison.h>

#include <glib/gi18n.h>
#include <math.h>

enum { STEP = LIG_STEP_SPREAD };

static double
sum_predicted (LigPlan *plan, int pass)
{
  guint count;
  double seconds = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  for (guint i = 0; i < count; i++)
    if (pass < 0 || (int) steps[i].pass == pass)
      seconds += lig_plan_step_get_predicted (&steps[i]);
  return seconds;
}

/* Returns `12.3 k tokens/s, 41 % MFU`, null if the time is unknown. */
static char *
describe_use (LigPlan *plan, double seconds)
{
  LigUse use;
  lig_figures_use_in (plan, seconds, &use);
  return lig_figures_use_text (&use);
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

/* A secondary line that wraps if there is no room. */
static GtkWidget *
new_note (const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_widget_add_css_class (label, "caption");
  gtk_widget_add_css_class (label, "dim-label");
  gtk_widget_add_css_class (label, "numeric");
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  return label;
}

static char *
describe_spread (const LigSpread *spread)
{
  g_autofree char *quartiles = lig_spread_to_text (spread);
  return g_strdup_printf (ngettext ("%s · %u run", "%s · %u runs", spread->count), quartiles,
                          spread->count);
}

/* Returns the comparison of the predicted with the measured time, null if there is none. */
static char *
describe_prediction (const LigSpread *measured, double predicted)
{
  g_autofree char *forecast = lig_draw_time (predicted);
  if (measured)
    return predicted > 0 && measured->median > 0
             ? g_strdup_printf (_ ("≈ %s predicted · %.0f %%"), forecast,
                                100 * predicted / measured->median)
             : NULL;
  return g_strdup (isnan (predicted) ? _ ("neither measured nor predicted")
                   : predicted <= 0  ? _ ("nothing to do")
                                     : _ ("predicted, not measured"));
}

static char *
format_figure (const LigSpread *measured, double predicted)
{
  if (!measured && isnan (predicted))
    return g_strdup ("–");
  g_autofree char *time = lig_draw_time (measured ? measured->median : predicted);
  return measured || predicted <= 0 ? g_steal_pointer (&time) : g_strconcat ("≈ ", time, NULL);
}

static GtkWidget *
make_tile (
  const char *title, const char *figure, gboolean dim, const char *first, const char *second)
{
  GtkWidget *tile = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *value = new_label (figure, "title-2", 0);
  gtk_widget_add_css_class (tile, "card");
  gtk_widget_add_css_class (tile, "figure");
  gtk_widget_add_css_class (value, "numeric");
  if (dim)
    gtk_widget_add_css_class (value, "dim-label");
  gtk_widget_set_hexpand (tile, TRUE);
  gtk_box_append (GTK_BOX (tile), new_label (title, "heading", 0));
  gtk_box_append (GTK_BOX (tile), value);
  if (first)
    gtk_box_append (GTK_BOX (tile), new_note (first));
  if (second)
    gtk_box_append (GTK_BOX (tile), new_note (second));
  return tile;
}

GtkWidget *
lig_profile_tile_new (const char *title, const char *figure, const char *first, const char *second)
{
  return make_tile (title, figure, FALSE, first, second);
}

/* @measured: (nullable): null before measuring. @rate: (nullable) */
static GtkWidget *
new_tile (const char *title, const LigSpread *measured, double predicted, const char *rate)
{
  measured = measured && measured->median > 0 ? measured : NULL;
  g_autofree char *time = format_figure (measured, predicted);
  g_autofree char *spread = measured ? describe_spread (measured) : NULL;
  g_autofree char *note = describe_prediction (measured, predicted);
  GtkWidget *tile = make_tile (title, time, !measured, spread, note);
  if (rate)
    gtk_box_append (GTK_BOX (tile), new_note (rate));
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
                                       N_ ("Step with update")};
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (box))))
    gtk_box_remove (box, child);
  for (int i = 0; i < 4; i++) {
    double predicted = sum_predicted (plan, i < STEP ? i : -1);
    g_autofree char *rate =
      i == STEP ? describe_use (plan, profiled ? profiled->step : predicted) : NULL;
    gtk_box_append (
      box, new_tile (_ (titles[i]), profiled ? &profiled->spreads[i] : NULL, predicted, rate));
  }
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
  return policy == LIG_POLICY_NONE  ? _ ("None: every op unfused")
         : policy == LIG_POLICY_ALL ? _ ("All: every legal fusion")
                                    : _ ("Measured: the fastest here");
}

/* Returns the sentence below the table. */
static char *
describe_runs (const LigProfiled *best, gboolean differ)
{
  guint count = best->spreads[STEP].count;
  g_autofree char *runs =
    g_strdup_printf (ngettext ("Median of %u run", "Medians of %u interleaved runs", count), count);
  if (!differ)
    return g_strdup_printf (
      _ ("No difference beyond the noise. %s, with the interquartile range below"), runs);
  return g_strdup_printf (_ ("%s, with the interquartile range below"), runs);
}

GtkWidget *
lig_profile_cell_new (const char *text, const char *note, const char *class)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  for (int line = 0; line < 2; line++) {
    if (line == 1 && !note)
      break;
    GtkWidget *label = gtk_label_new (line == 0 ? text : note);
    gtk_label_set_xalign (GTK_LABEL (label), 1);
    gtk_widget_add_css_class (label, "numeric");
    if (line == 0 && class)
      gtk_widget_add_css_class (label, class);
    if (line == 1) {
      gtk_widget_add_css_class (label, "caption");
      gtk_widget_add_css_class (label, "dim-label");
    }
    gtk_box_append (GTK_BOX (box), label);
  }
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (box, TRUE);
  return box;
}

void
lig_profile_attach_spread (GtkGrid *grid, int column, int row, const LigSpread *spread)
{
  g_autofree char *text = lig_draw_time (spread->median);
  g_autofree char *quartiles = lig_spread_to_text (spread);
  gtk_grid_attach (grid, lig_profile_cell_new (text, spread->median > 0 ? quartiles : NULL, NULL),
                   column, row, 1, 1);
}

/* The scale that the bars of all plans share. */
typedef struct {
  const LigProfiled *best;
  double min, max;
  gboolean differ;
} Scale;

static Scale
find_scale (LigProfiling *profiling)
{
  const LigProfiled *profiled;
  Scale scale = {NULL, G_MAXDOUBLE, 0, FALSE};
  for (guint i = 0; (profiled = lig_profiling_get (profiling, i)); i++) {
    if (!scale.best || profiled->step < scale.best->step)
      scale.best = profiled;
    scale.min = MIN (scale.min, profiled->spreads[STEP].lower);
    scale.max = MAX (scale.max, profiled->spreads[STEP].upper);
  }
  for (guint i = 0; (profiled = lig_profiling_get (profiling, i)); i++)
    scale.differ |= lig_spread_compare (&profiled->spreads[STEP], &scale.best->spreads[STEP],
                                        NULL) == LIG_DIFFERENCE_MORE;
  return scale;
}

static GtkWidget *
new_choice (LigProfiling *profiling, guint n, GtkCheckButton **group)
{
  const LigProfiled *profiled = lig_profiling_get (profiling, n);
  GtkWidget *button =
    gtk_check_button_new_with_label (policy_title (lig_plan_get_policy (profiled->plan)));
  if (*group)
    gtk_check_button_set_group (GTK_CHECK_BUTTON (button), *group);
  *group = GTK_CHECK_BUTTON (button);
  gtk_check_button_set_active (*group, profiled == lig_profiling_get_shown (profiling));
  g_object_set_data (G_OBJECT (button), "n", GUINT_TO_POINTER (n));
  g_signal_connect_object (button, "toggled", G_CALLBACK (choose), profiling, 0);
  lig_tooltip_set (button, _ ("Show this plan in the charts"));
  return button;
}

/* Compares whole steps as `lig diff` does for profiles. */
static void
compare_with (const LigProfiled *before, const LigProfiled *after, LigPlanChange *total)
{
  const LigTimedPlan first = {before->plan, before->steps, before->passes, before->spreads};
  const LigTimedPlan second = {after->plan, after->steps, after->passes, after->spreads};
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare_timed (&first, &second);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, total);
}

static void
attach_row (
  GtkGrid *grid, LigProfiling *profiling, guint n, const Scale *scale, GtkCheckButton **group)
{
  LigPlanChange total;
  const LigProfiled *profiled = lig_profiling_get (profiling, n);
  const LigSpread *step = &profiled->spreads[STEP];
  int row = (int) n + 1;
  compare_with (scale->best, profiled, &total);
  g_autofree char *against = lig_difference_to_text (&total.difference);
  g_autofree char *bytes = lig_draw_bytes (total.after.bytes);
  g_autofree char *use = describe_use (profiled->plan, profiled->step);
  g_autofree char *whole = describe_spread (step);
  gboolean best = profiled == scale->best;
  gtk_grid_attach (grid, new_choice (profiling, n, group), 0, row, 1, 1);
  lig_profile_attach_spread (grid, 1, row, step);
  gtk_grid_attach (grid, lig_spread_bar_new (step, scale->min, scale->max, whole), 2, row, 1, 1);
  gtk_grid_attach (
    grid,
    lig_profile_cell_new (best ? _ ("least time") : against, NULL,
                          lig_plan_change_get_sign (&total) > 0 || !scale->differ ? NULL : "best"),
    3, row, 1, 1);
  for (int i = 0; i < STEP; i++)
    lig_profile_attach_spread (grid, 4 + i, row, &profiled->spreads[i]);
  gtk_grid_attach (grid, lig_profile_cell_new (bytes, NULL, NULL), 7, row, 1, 1);
  gtk_grid_attach (grid, lig_profile_cell_new (use ? use : "", NULL, NULL), 8, row, 1, 1);
}

void
lig_profile_figures_compare (GtkGrid *grid, LigProfiling *profiling)
{
  static const char *const titles[] = {N_ ("Step with update"),
                                       "",
                                       N_ ("Against the best"),
                                       N_ ("Forward"),
                                       N_ ("Backward"),
                                       N_ ("Update"),
                                       N_ ("Moved"),
                                       N_ ("Use")};
  GtkCheckButton *group = NULL;
  clear (GTK_WIDGET (grid));
  Scale scale = find_scale (profiling);
  gtk_grid_attach (grid, new_label (_ ("Policy"), "caption-heading", 0), 0, 0, 1, 1);
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    gtk_grid_attach (
      grid, lig_profile_cell_new (*titles[i] ? _ (titles[i]) : "", NULL, "caption-heading"),
      (int) i + 1, 0, 1, 1);
  guint n = 0;
  for (; lig_profiling_get (profiling, n); n++)
    attach_row (grid, profiling, n, &scale, &group);
  g_autofree char *runs = describe_runs (scale.best, scale.differ);
  GtkWidget *note = new_note (runs);
  gtk_grid_attach (grid, note, 0, (int) n + 1, 9, 1);
}
